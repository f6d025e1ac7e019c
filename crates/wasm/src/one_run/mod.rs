//! Audits of one run: a simulated run in pictures, and files of the user.

mod files;
mod recorded;
mod simulated;

pub use crate::canary_files::RoleFile;
pub use recorded::{CanaryReport, audit_one_run, recorded};
pub use simulated::{one_run_null, one_run_simulated};

#[cfg(test)]
pub(crate) use {recorded::tests::example, simulated::tests::examples};

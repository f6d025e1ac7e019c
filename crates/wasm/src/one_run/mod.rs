//! Audits of one run: a simulated run in pictures, and files of the user.

mod files;
mod recorded;
mod simulated;

pub use recorded::audit_one_run;
pub use simulated::{one_run_null, one_run_simulated};

#[cfg(test)]
pub(crate) use {recorded::tests::example, simulated::tests::examples};

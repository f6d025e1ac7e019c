//! Audits of canary clients from files of cosines.

mod cosines;

pub use crate::canary_files::RoleFile;
pub use cosines::{audit_cosines, recorded_cosines};

#[cfg(test)]
pub(crate) use cosines::tests::example;

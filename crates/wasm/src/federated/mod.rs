//! Audits of canary clients from files of cosines or models.

mod recorded;

pub use crate::canary_files::RoleFile;
pub use recorded::{audit_federated, recorded_federated};

#[cfg(test)]
pub(crate) use recorded::tests::example;

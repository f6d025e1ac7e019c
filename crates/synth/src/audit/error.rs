//! Why there is no audit.

use dpscope_core::accounting::AccountingError;

use crate::attack::AttackError;
use crate::mechanism::MechanismError;
use crate::table::{SchemaError, TableError};

/// Why there is no audit.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// The mechanism.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    /// The columns.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// What is accounted for.
    #[error(transparent)]
    Accounting(#[from] AccountingError),
    /// The attack.
    #[error(transparent)]
    Attack(#[from] AttackError),
}

impl From<TableError> for AuditError {
    fn from(error: TableError) -> Self {
        AuditError::Mechanism(error.into())
    }
}

//! A row of a table that may have no value.

use super::{Accounted, Found};
use crate::accounting::AccountingError;

/// A row of a table: a value, or why there is none.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(untagged))]
pub enum Cell {
    /// The value.
    Value(Accounted),
    /// None.
    Missing {
        /// Why, for people.
        reason: String,
    },
}

/// Why an accountant gives no value, without advice that no setting takes.
#[must_use]
pub fn reason(error: &AccountingError) -> String {
    match error {
        AccountingError::Grid { most, .. } => {
            format!("the privacy loss would need a grid of more than {most} points")
        }
        _ => error.to_string(),
    }
}

impl From<Found> for Cell {
    fn from(found: Found) -> Self {
        match found {
            Ok(row) => Cell::Value(row),
            Err(error) => Cell::Missing { reason: reason(&error) },
        }
    }
}

impl Cell {
    /// The value, where there is one.
    #[must_use]
    pub fn value(&self) -> Option<&Accounted> {
        match self {
            Cell::Value(row) => Some(row),
            Cell::Missing { .. } => None,
        }
    }

    /// None, for this reason.
    #[must_use]
    pub fn missing(reason: &str) -> Self {
        Cell::Missing { reason: reason.to_owned() }
    }
}

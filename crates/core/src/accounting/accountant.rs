//! The interface of accountants.

use super::calibration::{Parameter, PrivacyTarget, SearchRange};
use super::{AccountingError, AccountingResult, Query, Training};

/// A method that answers queries about training runs whose batches are drawn in one way.
pub trait Accountant {
    /// Answers a query: ε at a δ, or δ at an ε.
    ///
    /// # Errors
    /// [`AccountingError`]: an argument outside its domain, a grid that would be too large, no
    /// value of this kind.
    fn account(&self, query: &Query) -> AccountingResult;

    /// The search range of [`calibrate`](super::calibrate); none for a parameter that does not
    /// change this accountant's ε.
    ///
    /// # Errors
    /// [`AccountingError`], if the search starts from the answer of another accountant.
    fn search_range(
        &self,
        parameter: Parameter,
        target: &PrivacyTarget,
        training: &Training,
    ) -> Result<Option<SearchRange>, AccountingError> {
        let _ = (target, training);
        Ok(match parameter {
            Parameter::Noise => {
                Some(SearchRange { low: 1e-4, high: 100.0, ..SearchRange::default() })
            }
            Parameter::Epochs => Some(SearchRange { high: 1e6, ..SearchRange::default() }),
            Parameter::Steps => None,
        })
    }
}

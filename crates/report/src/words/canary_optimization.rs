//! What optimised canaries gained.

use serde::Serialize;

use crate::number::counted;

/// A mean AUC, an estimate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AucEstimate {
    /// The mean.
    pub value: f64,
    /// Its standard error over splits.
    pub standard_error: f64,
}

/// The result of an optimisation: the AUC of an attacker with reference models before and after.
#[must_use]
pub fn optimised_canaries(metasteps: u64, before: AucEstimate, after: AucEstimate) -> String {
    let values = format!("AUC from {:.3} to {:.3}", before.value, after.value);
    let change = match differs(before, after) {
        Some(true) => {
            format!("an attacker with reference models detects the canaries better, {values}")
        }
        Some(false) => format!(
            "an attacker with reference models detects the canaries worse than before, {values}; use \
             more metasteps or another --step-size"
        ),
        None => format!("no difference beyond the errors of the comparison, {values}"),
    };
    format!("after {}: {change}", counted(metasteps, "metastep"))
}

/// Whether the second AUC is larger; none if they differ by at most two standard errors.
#[must_use]
pub fn differs(one: AucEstimate, other: AucEstimate) -> Option<bool> {
    let square = |one: AucEstimate| one.standard_error * one.standard_error;
    let error = (square(one) + square(other)).sqrt();
    let change = other.value - one.value;
    (change.abs() > 2.0 * error).then_some(change > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_within_two_errors_are_none() {
        let auc = |value, standard_error| AucEstimate { value, standard_error };
        assert_eq!(differs(auc(0.7, 0.03), auc(0.78, 0.04)), None);
        assert_eq!(differs(auc(0.7, 0.03), auc(0.81, 0.04)), Some(true));
        assert_eq!(differs(auc(0.7, 0.0), auc(0.69, 0.0)), Some(false));
        assert_eq!(differs(auc(0.7, 0.0), auc(0.7, 0.0)), None);
    }
}

//! Our estimate beside a printed one, and why they differ.

use dpscope_core::audit::bound::{EpsilonEstimate, max_uncorrected};
use dpscope_simulation::{Artefact, Evaluate};
use serde::Deserialize;

use crate::commands::reproduce::data;
use crate::failure::Failure;

/// Half a unit of the last printed digit.
pub(super) const HALF_A_UNIT: f64 = 0.005;

/// Our result for a published setting.
pub(super) struct OurResult {
    /// By the paper's rule: the largest value over all cuts, uncorrected.
    pub(super) estimate: f64,
    /// From the errors at the selected cut; none if the estimate is 0.
    pub(super) standard_error: Option<f64>,
    /// Ours minus the paper's.
    pub(super) difference: Option<f64>,
    /// By the simultaneous rule, with coverage.
    pub(super) bound: f64,
}

impl OurResult {
    pub(super) fn new(state: &Artefact, published: Option<f64>) -> Result<Self, Failure> {
        let estimate = estimate(state)?;
        Ok(Self {
            estimate: estimate.value(),
            standard_error: (estimate.value() > 0.0).then(|| standard_error(&estimate)),
            difference: published.map(|printed| estimate.value() - printed),
            bound: state.outcome()?.value(),
        })
    }

    /// Why the estimate differs from the printed one; none if they agree as printed.
    pub(super) fn reason(&self, has_other_number: bool) -> Option<&'static str> {
        // both runs vary, by at least one event
        let error = self.standard_error.unwrap_or(1.0);
        let chance = HALF_A_UNIT + 3.0 * std::f64::consts::SQRT_2 * error;
        match self.difference?.abs() {
            agrees if agrees <= HALF_A_UNIT => None,
            _ if has_other_number => Some("observations"),
            close if close <= chance => Some("chance"),
            _ => Some("unexplained"),
        }
    }
}

/// By the paper's rule.
pub(super) fn estimate(state: &Artefact) -> Result<EpsilonEstimate, Failure> {
    let trade_off = state.evidence.histograms.trade_off(&state.stage.bins)?;
    Ok(max_uncorrected(&trade_off, state.plan.delta, state.plan.significance)?)
}

/// Standard error of the log of the deciding rate: 1/√count, of at least one event.
fn standard_error(estimate: &EpsilonEstimate) -> f64 {
    let errors = estimate.evidence().errors;
    let fewest = errors.false_positives.min(errors.false_negatives).max(1);
    1.0 / (fewest as f64).sqrt()
}

/// The reasons why numbers differ.
#[derive(Deserialize)]
pub(super) struct Reasons {
    reason: Vec<Reason>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reason {
    id: String,
    mark: String,
    text: String,
}

impl Reasons {
    pub(super) fn read() -> Result<Self, Failure> {
        data::toml(include_str!("../../../../papers/shuffle_or_not/reasons.toml"))
    }

    pub(super) fn marks(&self, reasons: &[&str]) -> String {
        let mark = |id: &&str| self.reason.iter().find(|reason| reason.id == *id);
        reasons.iter().filter_map(mark).map(|reason| reason.mark.as_str()).collect()
    }

    /// A note for each reason that a row has.
    pub(super) fn notes(&self, used: &[&str]) -> Vec<(String, String)> {
        let seen = self.reason.iter().filter(|reason| used.contains(&reason.id.as_str()));
        seen.map(|reason| (format!("why: {}", reason.mark), reason.text.clone())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_get_the_reason_that_explains_them() {
        let reason = |difference: f64, has_other_number| {
            let (difference, standard_error) = (Some(difference), Some(0.1));
            let ours = OurResult { estimate: 1.0, standard_error, difference, bound: 0.5 };
            ours.reason(has_other_number)
        };
        assert_eq!(reason(0.004, false), None);
        assert_eq!(reason(-0.2, false), Some("chance"));
        assert_eq!(reason(-0.2, true), Some("observations"));
        assert_eq!(reason(0.004, true), None);
        assert_eq!(reason(-0.5, false), Some("unexplained"));
    }

    #[test]
    fn reasons_have_distinct_marks() {
        let reasons = Reasons::read().unwrap();
        let used = ["upper-end", "copied-claim", "observations", "chance", "unexplained"];
        assert_eq!((reasons.marks(&used).as_str(), reasons.notes(&used).len()), ("ucnv!", 5));
    }
}

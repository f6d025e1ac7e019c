//! The result of a reproduced figure or table.

use dpscope_core::accounting::Cell;
use dpscope_core::audit::bound::{EpsilonEstimate, max_uncorrected};
use dpscope_engine::Artefact;
use dpscope_engine::pair::PairRows;
use serde::Serialize;

use crate::failure::Failure;

#[derive(Serialize)]
pub(super) struct Reproduced {
    pub(super) schema: &'static str,
    pub(super) what: &'static str,
    pub(super) delta: f64,
    pub(super) significance: f64,
    pub(super) observations: u64,
    pub(super) published_observations: u64,
    pub(super) seed: String,
    pub(super) device: String,
    /// Of the estimates, computed by the paper's rule.
    pub(super) ceiling: f64,
    pub(super) rows: Vec<Row>,
}

#[derive(Serialize)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) noise_multiplier: f64,
    pub(super) steps: u32,
    pub(super) epochs: u32,
    /// Printed in the paper.
    pub(super) claimed_epsilon: Option<f64>,
    /// Our Poisson accounting.
    pub(super) poisson: Cell,
    /// Printed minus ours.
    pub(super) claimed_difference: Option<f64>,
    pub(super) published_estimate: Option<f64>,
    #[serde(flatten)]
    pub(super) ours: Ours,
    pub(super) gain_at_10x: f64,
    /// ε of the pair itself, which no number of observations exceeds.
    pub(super) pair: PairRows,
    pub(super) why_they_differ: Vec<Reason>,
    pub(super) elapsed_ms: f64,
}

/// Our results.
#[derive(Serialize)]
pub(super) struct Ours {
    /// By the paper's rule: the largest value over all cuts, uncorrected.
    pub(super) our_estimate: f64,
    /// From the errors at the selected cut; none if the estimate is 0.
    pub(super) standard_error: Option<f64>,
    /// Ours minus the paper's.
    pub(super) difference: Option<f64>,
    /// By the simultaneous rule, with coverage.
    pub(super) our_bound: f64,
}

impl Ours {
    pub(super) fn of(state: &Artefact, published: Option<f64>) -> Result<Self, Failure> {
        let estimate = estimate(state)?;
        Ok(Ours {
            our_estimate: estimate.value(),
            standard_error: (estimate.value() > 0.0).then(|| standard_error(&estimate)),
            difference: published.map(|printed| estimate.value() - printed),
            our_bound: state.outcome()?.value(),
        })
    }
}

/// By the paper's rule.
pub(super) fn estimate(state: &Artefact) -> Result<EpsilonEstimate, Failure> {
    let trade_off = state.histograms.trade_off(&state.layout.bins)?;
    Ok(max_uncorrected(&trade_off, state.plan.delta, state.plan.significance)?)
}

/// Why our number differs from the printed one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Reason {
    /// The printed ε is the upper end of an accountant's error interval.
    UpperEnd,
    /// The printed ε was copied from the model's own paper.
    CopiedClaim,
    /// Another number of observations, which changes the ceiling and the estimate.
    Observations,
    /// The paper's number of observations is unknown.
    UnknownNumber,
    /// Within three standard errors of two such runs.
    Chance,
    /// None of these.
    Unexplained,
}

/// Half a unit of the last printed digit.
pub(super) const HALF_A_UNIT: f64 = 0.005;

/// Why an estimate differs from the printed one; none if they agree as printed.
pub(super) fn reason(ours: &Ours, other_number: Option<Reason>) -> Option<Reason> {
    // both runs vary, by at least one event
    let error = ours.standard_error.unwrap_or(1.0);
    let chance = HALF_A_UNIT + 3.0 * std::f64::consts::SQRT_2 * error;
    match ours.difference?.abs() {
        agrees if agrees <= HALF_A_UNIT => None,
        _ if other_number.is_some() => other_number,
        close if close <= chance => Some(Reason::Chance),
        _ => Some(Reason::Unexplained),
    }
}

/// Standard error of the log of the deciding rate: 1/√count, of at least one event.
fn standard_error(estimate: &EpsilonEstimate) -> f64 {
    let errors = estimate.evidence().errors;
    let fewest = errors.false_positives.min(errors.false_negatives).max(1);
    1.0 / (fewest as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_get_the_reason_that_explains_them() {
        let reason = |difference: f64, other_number| {
            let (our_estimate, our_bound) = (1.0, 0.5);
            let (difference, standard_error) = (Some(difference), Some(0.1));
            reason(&Ours { our_estimate, standard_error, difference, our_bound }, other_number)
        };
        assert_eq!(reason(0.004, None), None);
        assert_eq!(reason(-0.2, None), Some(Reason::Chance));
        for other_number in [Reason::Observations, Reason::UnknownNumber] {
            assert_eq!(reason(-0.2, Some(other_number)), Some(other_number));
            assert_eq!(reason(0.004, Some(other_number)), None);
        }
        assert_eq!(reason(-0.5, None), Some(Reason::Unexplained));
    }
}

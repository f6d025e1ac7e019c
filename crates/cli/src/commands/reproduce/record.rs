//! Our result beside a published one, and why they differ.

use dpscope_core::audit::bound::{EpsilonEstimate, max_uncorrected};
use dpscope_report::record::{DifferenceReason, OurResult};
use dpscope_simulation::{Artefact, Evaluate};

use crate::failure::Failure;

/// Our result beside the published one.
pub(super) fn our_result(state: &Artefact, published: Option<f64>) -> Result<OurResult, Failure> {
    let estimate = estimate(state)?;
    Ok(OurResult {
        our_estimate: estimate.value(),
        standard_error: (estimate.value() > 0.0).then(|| standard_error(&estimate)),
        difference: published.map(|printed| estimate.value() - printed),
        our_bound: state.outcome()?.value(),
    })
}

/// By the paper's rule.
pub(super) fn estimate(state: &Artefact) -> Result<EpsilonEstimate, Failure> {
    let trade_off = state.evidence.histograms.trade_off(&state.stage.bins)?;
    Ok(max_uncorrected(&trade_off, state.plan.delta, state.plan.significance)?)
}

/// Half a unit of the last printed digit.
pub(super) const HALF_A_UNIT: f64 = 0.005;

/// Why an estimate differs from the printed one; none if they agree as printed.
pub(super) fn reason(
    ours: &OurResult,
    other_number: Option<DifferenceReason>,
) -> Option<DifferenceReason> {
    // both runs vary, by at least one event
    let error = ours.standard_error.unwrap_or(1.0);
    let chance = HALF_A_UNIT + 3.0 * std::f64::consts::SQRT_2 * error;
    match ours.difference?.abs() {
        agrees if agrees <= HALF_A_UNIT => None,
        _ if other_number.is_some() => other_number,
        close if close <= chance => Some(DifferenceReason::Chance),
        _ => Some(DifferenceReason::Unexplained),
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
            reason(&OurResult { our_estimate, standard_error, difference, our_bound }, other_number)
        };
        assert_eq!(reason(0.004, None), None);
        assert_eq!(reason(-0.2, None), Some(DifferenceReason::Chance));
        let other_number = Some(DifferenceReason::Observations);
        assert_eq!(reason(-0.2, other_number), other_number);
        assert_eq!(reason(0.004, other_number), None);
        assert_eq!(reason(-0.5, None), Some(DifferenceReason::Unexplained));
    }
}

//! A rule that is not a bound, for comparison.

use dpscope_core::audit::one_shot::NullTails;
use dpscope_core::interval::{IntervalError, jeffreys_upper};
use dpscope_core::math;

/// The lower limit of ε that was published with one-shot audits. It is **not a bound**: it exceeds the
/// truth in 74 % of runs in which nothing leaks.
///
/// At each canary, a Jeffreys limit of the false negative rate at the full significance, and the
/// largest ε of all: limits of many cuts do not hold together. It exists to be shown beside the bounds
/// of [`dpscope_core::audit::one_shot`], and as a mutant that tests must reject
/// (`tests/coverage/one_shot.rs::independent_canaries_cover_at_randomised_response`).
///
/// # Reference
/// G. Andrew et al. (2024), arXiv:2302.03098, ε_lo.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedRule {
    fnr_upper: Vec<f64>,
}

impl PublishedRule {
    /// For so many canaries.
    ///
    /// # Errors
    /// A significance outside its domain.
    pub fn new(canaries: u64, significance: f64) -> Result<Self, IntervalError> {
        let limit = |misses| jeffreys_upper(misses, canaries, significance);
        let fnr_upper = (0..canaries).map(limit).collect::<Result<_, _>>()?;
        Ok(Self { fnr_upper })
    }

    /// What is published as a lower limit of ε; at least 0.
    #[must_use]
    pub fn epsilon(&self, tails: &NullTails, delta: f64) -> f64 {
        let cuts = tails.ln_p().iter().rev().zip(&self.fnr_upper);
        let limits = cuts.map(|(&ln_p, &fnr)| {
            let forward = math::ln(1.0 - delta - fnr) - ln_p;
            forward.max(math::ln((1.0 - delta - math::exp(ln_p)) / fnr))
        });
        limits.filter(|limit| !limit.is_nan()).fold(0.0, f64::max)
    }
}

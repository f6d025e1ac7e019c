//! Observations needed to detect an ε.

use crate::audit::bound::{BoundError, ThresholdRule, ceiling};
use crate::audit::trade_off::Trials;
use crate::format::given;
use crate::math::{exp, ln, ln_1p};

/// Fewest observations of each world whose [`ceiling`] reaches `epsilon`.
///
/// R = ln t / ln(1 − u) with u = (1 − δ)/(1 + e^ε): necessary for a bound of `epsilon`, sufficient
/// only for an attack that makes no error.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `epsilon` | ε to detect, nats | > 0, at most 40 |
/// | `delta` | δ | [0, 1) |
/// | `tail` | one-sided tail of each rate's limit | (0, 1) |
///
/// # Errors
/// An argument outside its domain.
///
/// # Example
/// ```
/// let needed = dpscope_core::audit::planner::observations_for_ceiling(9.0, 1e-5, 0.025)?;
/// assert_eq!(needed, 29_894);
/// # Ok::<(), dpscope_core::audit::planner::PlannerError>(())
/// ```
pub fn observations_for_ceiling(epsilon: f64, delta: f64, tail: f64) -> Result<u64, PlannerError> {
    if !(epsilon > 0.0 && epsilon <= 40.0) {
        return Err(PlannerError::Epsilon { epsilon });
    }
    if !(0.0..1.0).contains(&delta) {
        return Err(BoundError::Delta { delta }.into());
    }
    if !(tail > 0.0 && tail < 1.0) {
        return Err(BoundError::Significance { significance: tail }.into());
    }
    let reaches = |r| ceiling(Trials { target: r, zero_out: r }, delta, tail).map(|c| c >= epsilon);
    // The closed form is off by rounding only: bracket it, then compare exact values.
    let u = (1.0 - delta) / (1.0 + exp(epsilon));
    let estimate = (ln(tail) / ln_1p(-u)).clamp(1.0, MOST_OBSERVATIONS as f64);
    let (mut short, mut enough) = (0, (estimate * (1.0 + 1e-9)) as u64 + 2);
    while !reaches(enough)? {
        if enough > MOST_OBSERVATIONS {
            return Err(PlannerError::TooMany { epsilon });
        }
        (short, enough) = (enough, enough * 2);
    }
    while enough - short > 1 {
        let middle = short + (enough - short) / 2;
        if reaches(middle)? { enough = middle } else { short = middle }
    }
    if enough > MOST_OBSERVATIONS { Err(PlannerError::TooMany { epsilon }) } else { Ok(enough) }
}

/// The plan of an audit: how its counts will be evaluated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlannedAudit {
    /// δ of the bound, in [0, 1).
    pub delta: f64,
    /// Chance that the bound is wrong, in (0, 1).
    pub significance: f64,
    /// How the threshold is chosen.
    pub threshold_rule: ThresholdRule,
    /// Thresholds of the simultaneous rule, which share the significance, ≥ 1.
    pub cuts: u32,
}

impl PlannedAudit {
    /// Default number of thresholds of the simultaneous rule.
    pub const DEFAULT_CUTS: u32 = 16;

    /// Default sizes of a table: 10⁴ to 10¹⁰ observations of both worlds.
    pub const SIZES: [u64; 7] =
        [10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000];

    /// Number of thresholds that share the significance: 1 except for the simultaneous rule.
    #[must_use]
    pub fn cuts(&self) -> u32 {
        if self.threshold_rule == ThresholdRule::Simultaneous { self.cuts } else { 1 }
    }

    /// One-sided tail of each rate's limit.
    #[must_use]
    pub fn tail_per_rate(&self) -> f64 {
        self.significance / (2.0 * f64::from(self.cuts()))
    }

    /// Evaluated observations per world, from the total of both worlds.
    #[must_use]
    pub fn evaluated_per_world(&self, observations: u64) -> u64 {
        (observations / 2 / self.parts()).max(1)
    }

    /// The [`ceiling`] for a total of observations of both worlds.
    ///
    /// # Errors
    /// An argument outside its domain.
    pub fn ceiling(&self, observations: u64) -> Result<f64, BoundError> {
        let per_world = self.evaluated_per_world(observations);
        let trials = Trials { target: per_world, zero_out: per_world };
        ceiling(trials, self.delta, self.tail_per_rate())
    }

    /// Smallest total of observations of both worlds whose ceiling reaches `epsilon`.
    ///
    /// # Guarantee
    /// Fewer do not reach it (`unit::planned_observations_are_the_fewest`).
    ///
    /// # Errors
    /// As [`observations_for_ceiling`].
    pub fn observations_for_ceiling(&self, epsilon: f64) -> Result<u64, PlannerError> {
        let per_world = observations_for_ceiling(epsilon, self.delta, self.tail_per_rate())?;
        Ok(per_world.saturating_mul(2 * self.parts()))
    }

    /// Reciprocal of the share of the data that is evaluated.
    fn parts(&self) -> u64 {
        if self.threshold_rule == ThresholdRule::Split { 2 } else { 1 }
    }
}

/// Maximum number of observations per world, 2⁵³.
const MOST_OBSERVATIONS: u64 = 1 << 53;

/// Errors of planning.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlannerError {
    /// ε outside (0, 40].
    #[error("epsilon is {}; it must lie in (0, 40]", given(*.epsilon))]
    Epsilon {
        /// The value.
        epsilon: f64,
    },
    /// More than 2⁵³ observations per world are needed.
    #[error("epsilon = {} needs more than 2^53 observations of each world", given(*.epsilon))]
    TooMany {
        /// The target.
        epsilon: f64,
    },
    /// Another argument outside its domain.
    #[error(transparent)]
    Bound(#[from] BoundError),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(r: u64, tail: f64) -> f64 {
        ceiling(Trials { target: r, zero_out: r }, 1e-5, tail).unwrap()
    }

    #[test]
    fn ceilings_equal_the_published_ones() {
        assert!((at(500_000, 0.025) - 11.82).abs() < 0.005);
        assert!((at(500_000, 0.025 / 64.0) - 11.06).abs() < 0.005);
    }

    #[test]
    fn planned_observations_are_the_fewest() {
        for threshold_rule in
            [ThresholdRule::Split, ThresholdRule::Simultaneous, ThresholdRule::MaxUncorrected]
        {
            let audit = PlannedAudit { delta: 1e-5, significance: 0.05, threshold_rule, cuts: 32 };
            let needed = audit.observations_for_ceiling(4.0).unwrap();
            let fewer = needed - 2 * audit.parts();
            assert!(audit.ceiling(needed).unwrap() >= 4.0, "{threshold_rule:?}");
            assert!(audit.ceiling(fewer).unwrap() < 4.0, "{threshold_rule:?}");
            let shared = if threshold_rule == ThresholdRule::Simultaneous { 32.0 } else { 1.0 };
            assert_eq!(audit.tail_per_rate(), 0.025 / shared);
        }
    }

    #[test]
    fn needed_observations_are_the_fewest() {
        for epsilon in [0.5, 3.0, 9.0, 14.0, 20.0, 33.0] {
            let r = observations_for_ceiling(epsilon, 1e-5, 0.025).unwrap();
            assert!(at(r, 0.025) >= epsilon && (r == 1 || at(r - 1, 0.025) < epsilon), "{epsilon}");
        }
        let too_many = observations_for_ceiling(40.0, 1e-5, 0.025);
        assert_eq!(too_many, Err(PlannerError::TooMany { epsilon: 40.0 }));
        for epsilon in [0.0, -1.0, 41.0, f64::NAN] {
            assert!(observations_for_ceiling(epsilon, 1e-5, 0.025).is_err());
        }
    }
}

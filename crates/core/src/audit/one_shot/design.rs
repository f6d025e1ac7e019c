//! How the number of canaries is drawn.

use super::LEVEL;
use super::{NullTails, OneShotError, check_canaries, check_delta, check_significance};
use crate::audit::one_run::OneRunFinding;
use crate::math;
use crate::special::arrival::{ln_poisson_pmf, probability_of_arrivals};
use crate::special::{BetaDistribution, Tail, UnitPoint};

/// How the plan draws the number of canaries; fixed before the training.
///
/// | design | canaries | adjacency | cost |
/// |---|---|---|---|
/// | `Poisson` | K ~ Poisson(k̄), drawn once | one added or removed | none |
/// | `Bernoulli` | each of m slots is filled with probability q; an empty slot takes part with a zero update | zero-out | about ln 1/(1 − q) |
/// | `Fixed` | k in every run | one added or removed | significance α becomes α e^−k k^k/k! ≈ α/√(2πk) |
///
/// A slot that is a real client when it is empty tests the adjacency "replace". `Fixed` presumes that
/// the training, with the number of clients as a constant, obeys the claim at every number of canaries.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "snake_case"))]
pub enum CanaryDesign {
    /// The number of canaries is a draw of a Poisson distribution.
    Poisson {
        /// Mean number of canaries, k̄.
        mean: f64,
    },
    /// Slots with a coin each.
    Bernoulli {
        /// Number of slots, m.
        slots: u64,
        /// q, the probability that a slot is filled.
        inclusion: f64,
    },
    /// A number without randomness.
    Fixed {
        /// Number of canaries, k.
        canaries: u64,
    },
}

/// What δ costs a bound: j₀ canaries, and part of the significance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeltaAllowance {
    canaries: u64,
    significance: f64,
}

impl DeltaAllowance {
    /// The smallest p-values that count for nothing: j₀.
    #[must_use]
    pub const fn canaries(&self) -> u64 {
        self.canaries
    }

    /// The significance that is left: α − k̄δ/(j₀ + 1).
    #[must_use]
    pub const fn significance(&self) -> f64 {
        self.significance
    }
}

impl CanaryDesign {
    /// The expected number of canaries: k̄, mq or k.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match *self {
            Self::Poisson { mean } => mean,
            Self::Bernoulli { slots, inclusion } => slots as f64 * inclusion,
            Self::Fixed { canaries } => canaries as f64,
        }
    }

    /// The share of the significance that the design leaves: e^−k k^k/k! for a fixed number, otherwise 1.
    ///
    /// A fixed number is a Poisson number given its value; an event of probability α has at most
    /// α/P\[K = k\] given K = k.
    #[must_use]
    pub fn significance_factor(&self) -> f64 {
        match *self {
            Self::Fixed { canaries } if canaries > 0 => {
                math::exp(ln_poisson_pmf(canaries as f64, canaries as f64))
            }
            _ => 1.0,
        }
    }

    /// What δ costs: j₀ is the least number with k̄δ/(j₀ + 1) ≤ α/5.
    ///
    /// Plan with k̄δ ≤ α/5, where j₀ is 0: above, bounds fall fast.
    ///
    /// # Errors
    /// [`OneShotError::Canaries`], [`OneShotError::Inclusion`], [`OneShotError::Delta`],
    /// [`OneShotError::Significance`].
    pub fn delta_allowance(
        &self,
        delta: f64,
        significance: f64,
    ) -> Result<DeltaAllowance, OneShotError> {
        self.check()?;
        check_delta(delta)?;
        check_significance(significance)?;
        let significance = significance * self.significance_factor();
        let (cost, share) = (self.mean() * delta, significance / 5.0);
        let mut canaries = (cost / share).ceil().max(1.0) - 1.0;
        // the quotient is rounded
        if canaries > 0.0 && cost / canaries <= share {
            canaries -= 1.0;
        }
        let left = significance - cost / (canaries + 1.0);
        Ok(DeltaAllowance { canaries: canaries as u64, significance: left })
    }

    /// A number of canaries that this design yields with probability below 10⁻⁵, half of it at each end.
    ///
    /// # Guarantee
    /// `unit::numbers_outside_a_design_are_detected`.
    #[must_use]
    pub fn number_finding(&self, canaries: u64) -> Option<OneRunFinding> {
        let probability = self.at_least(canaries).min(1.0 - self.at_least(canaries + 1));
        let expected = self.mean();
        let finding = OneRunFinding::NumberOutsideDesign { canaries, expected };
        (probability < 0.5 * LEVEL).then_some(finding)
    }

    /// Probability of this many canaries or more, P\[K ≥ k\].
    fn at_least(&self, canaries: u64) -> f64 {
        if canaries == 0 {
            return 1.0;
        }
        let k = canaries as f64;
        match *self {
            Self::Poisson { mean } => probability_of_arrivals(k, mean),
            Self::Bernoulli { slots, .. } if canaries > slots => 0.0,
            Self::Bernoulli { slots, inclusion } => {
                let beta = BetaDistribution::with_shapes(k, (slots - canaries) as f64 + 1.0);
                beta.tail(Tail::Lower, UnitPoint::from_value(inclusion))
            }
            Self::Fixed { canaries: fixed } => f64::from(u8::from(canaries <= fixed)),
        }
    }

    pub(super) fn check(&self) -> Result<(), OneShotError> {
        if let Self::Bernoulli { slots, inclusion } = *self {
            check_canaries(slots as f64)?;
            if !(inclusion > 0.0 && inclusion < 1.0) {
                return Err(OneShotError::Inclusion { probability: inclusion });
            }
        }
        check_canaries(self.mean())
    }

    pub(super) fn check_observations(&self, tails: &NullTails) -> Result<(), OneShotError> {
        let canaries = match *self {
            Self::Poisson { .. } => u64::MAX,
            Self::Bernoulli { slots, .. } => slots,
            Self::Fixed { canaries } => canaries,
        };
        tails.check_at_most(canaries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delta_costs_canaries_only_where_it_is_large() {
        let allowance = |mean: f64, delta: f64| {
            CanaryDesign::Poisson { mean }.delta_allowance(delta, 0.05).unwrap()
        };
        assert_eq!(allowance(1_000.0, 0.0).significance(), 0.05);
        assert_eq!(allowance(1_000.0, 1e-5).canaries(), 0);
        assert_eq!(allowance(100.0, 0.00056).canaries(), 5);
        for exact in [3.0, 7.0, 49.0, 1_001.0] {
            assert_eq!(allowance(exact, 0.01).canaries() + 1, exact as u64);
        }
        assert!(allowance(1e9, 0.99).significance() > 0.0399);
    }

    #[test]
    fn a_fixed_number_shrinks_the_significance() {
        let factor = CanaryDesign::Fixed { canaries: 1_000 }.significance_factor();
        assert!((factor * (1_000.0 * std::f64::consts::TAU).sqrt() - 1.0).abs() < 1e-4);
        assert_eq!(CanaryDesign::Poisson { mean: 9.0 }.significance_factor(), 1.0);
    }

    #[test]
    fn numbers_outside_a_design_are_detected() {
        let outside =
            |design: CanaryDesign, canaries: u64| design.number_finding(canaries).is_some();
        let poisson = |mean: f64| CanaryDesign::Poisson { mean };
        for (mean, canaries) in [(50.0, 22), (50.0, 84), (1.0, 0), (1e6, 995_700), (1e6, 1_004_300)]
        {
            assert!(!outside(poisson(mean), canaries), "{mean} {canaries}");
        }
        for (mean, canaries) in
            [(50.0, 21), (50.0, 85), (5_000.0, 52), (1.0, 52), (50.0, 1), (50.0, 0), (1.0, 10)]
        {
            assert!(outside(poisson(mean), canaries), "{mean} {canaries}");
        }
        let slots = CanaryDesign::Bernoulli { slots: 100, inclusion: 0.5 };
        assert_eq!(
            [50, 28, 72, 27, 73, 101].map(|canaries| outside(slots, canaries)),
            [false, false, false, true, true, true]
        );
        let fixed = CanaryDesign::Fixed { canaries: 50 };
        assert_eq!([49, 50, 51].map(|canaries| outside(fixed, canaries)), [true, false, true]);
        // the probability of a finding
        for design in [poisson(50.0), poisson(3.0), slots] {
            let found = (0..400).filter(|&canaries| outside(design, canaries));
            let probability = |canaries| design.at_least(canaries) - design.at_least(canaries + 1);
            let sum: f64 = found.map(probability).sum();
            assert!(sum < 1e-5 && sum > 1e-7, "{design:?}: {sum}");
        }
    }

    #[test]
    fn bad_designs_are_refused() {
        let refuses = |design: CanaryDesign| design.delta_allowance(0.0, 0.05).is_err();
        for mean in [0.0, 0.5, f64::NAN, 1e10] {
            assert!(refuses(CanaryDesign::Poisson { mean }), "{mean}");
        }
        assert!(refuses(CanaryDesign::Fixed { canaries: 0 }));
        for inclusion in [0.0, 1.0, f64::NAN] {
            assert!(refuses(CanaryDesign::Bernoulli { slots: 10, inclusion }), "{inclusion}");
        }
        // fewer than one canary is expected
        assert!(refuses(CanaryDesign::Bernoulli { slots: 10, inclusion: 0.01 }));
    }
}

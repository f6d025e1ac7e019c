//! Plans of noisy sums.

use dpscope_core::audit::one_shot::{CanaryDesign, OneShotQuestion};
use dpscope_core::random::{Purpose, Words};
use serde::{Deserialize, Serialize};

use super::{NUMBER, NoisySumEvidence, canary_number, stream};
use crate::{PlanError, decimal};

/// Everything that determines the runs of an audit of the Gaussian mechanism.
///
/// Each run draws a number of canaries K, unit directions c_i in R^d and noise, releases
/// a = Σ c_i + σ N(0, I), and observes the cosines between a and each c_i.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoisySumPlan {
    /// Dimension d of the directions.
    pub dimension: u64,
    /// σ, the standard deviation of the noise per coordinate over the norm of a canary.
    pub noise_multiplier: f64,
    /// How the number of canaries is drawn.
    pub design: CanaryDesign,
    /// How cosines are drawn.
    pub method: CosineMethod,
    /// Independent runs, each audited by itself.
    pub repeats: u64,
    /// δ of the bounds, in [0, 1).
    pub delta: f64,
    /// Chance that a bound is wrong, in (0, 1).
    pub significance: f64,
    /// Seed of every random word, below 2⁵³.
    #[serde(with = "decimal")]
    pub seed: u64,
}

/// How the cosines of a run are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CosineMethod {
    /// By their joint distribution ([`CosineDraws`](super::CosineDraws)).
    Distribution,
    /// From every coordinate of the directions and of the sum.
    FullDimension,
}

/// From so many dimensions on, the joint distribution describes unit directions.
const LEAST_DIMENSION: u64 = 1_000;

/// 3/N² is then at most 1 %.
const LEAST_SQUARE_NORM: f64 = 300.0;

impl NoisySumPlan {
    /// Checks every field.
    ///
    /// # Errors
    /// The first field outside its domain.
    pub fn check_fields(&self) -> Result<(), PlanError> {
        let &Self { dimension, noise_multiplier, design, method, repeats, seed, .. } = self;
        let is_full = method == CosineMethod::FullDimension;
        let (least, most) =
            if is_full { (2, 1_000_000_000) } else { (LEAST_DIMENSION, 1_000_000_000_000_000) };
        if !(least..=most).contains(&dimension) {
            return Err(PlanError::Dimension { dimension, least, most });
        }
        if !(0.0..=1e6).contains(&noise_multiplier) {
            return Err(PlanError::NoiseMultiplier { noise_multiplier });
        }
        design.delta_allowance(self.delta, self.significance)?;
        let mean = design.mean();
        if mean > 1e6 {
            return Err(PlanError::ManyCanaries { mean });
        }
        let square_norm = noise_multiplier * noise_multiplier * dimension as f64 + mean;
        if !is_full && square_norm < LEAST_SQUARE_NORM {
            return Err(PlanError::SmallSum { noise_multiplier });
        }
        if !(1..=100_000).contains(&repeats) {
            return Err(PlanError::Repeats { repeats });
        }
        if seed >= 1 << 53 {
            return Err(PlanError::Seed { seed });
        }
        Ok(())
    }

    /// The number of canaries of a run, a function of seed and run alone.
    #[must_use]
    pub fn canaries(&self, run: u64) -> u64 {
        let mut words = Words::new(self.seed, Purpose::NoisySum, stream(run, NUMBER));
        canary_number(self.design, &mut words)
    }

    /// What is asked of a run with so many canaries.
    #[must_use]
    pub const fn question(&self, inserted: u64) -> OneShotQuestion {
        let &Self { design, delta, significance, .. } = self;
        OneShotQuestion {
            design,
            inserted,
            delta,
            significance,
            null_significance: 0.0,
            server_rounds: 1,
        }
    }
}

impl dpscope_engine::Plan for NoisySumPlan {
    const SCHEMA: &'static str = "dpscope.noisy-sums/1";
    /// 10⁵ runs of 330 characters, and the 10⁶ cosines of one run, 23 characters each.
    const MAX_BYTES: usize = 64 << 20;
    const RESULTS_PER_UNIT: u64 = 1;
    type Stage = ();
    type Evidence = NoisySumEvidence;

    fn units(&self) -> u64 {
        self.repeats
    }

    fn named(ranges: &str) -> String {
        format!("runs {ranges}")
    }

    fn empty(&self, (): &()) -> NoisySumEvidence {
        NoisySumEvidence::default()
    }

    fn check(&self, (): &(), evidence: &NoisySumEvidence, units: u64) -> Result<(), &'static str> {
        if self.check_fields().is_err() {
            return Err("its plan is invalid");
        }
        evidence.check(self.repeats, units)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use dpscope_engine::Plan as _;

    pub(crate) fn plan() -> NoisySumPlan {
        NoisySumPlan {
            dimension: 100_000,
            noise_multiplier: 1.0,
            design: CanaryDesign::Poisson { mean: 50.0 },
            method: CosineMethod::Distribution,
            repeats: 12,
            delta: 1e-6,
            significance: 0.05,
            seed: 7,
        }
    }

    #[test]
    fn fields_outside_their_domain_are_refused() {
        assert!(plan().check_fields().is_ok());
        let full = NoisySumPlan { method: CosineMethod::FullDimension, ..plan() };
        assert!(
            NoisySumPlan { dimension: 2, noise_multiplier: 0.0, ..full }.check_fields().is_ok()
        );
        for refused in [
            NoisySumPlan { dimension: 999, ..plan() },
            NoisySumPlan { dimension: 2_000_000_000, ..full },
            NoisySumPlan { noise_multiplier: f64::NAN, ..plan() },
            NoisySumPlan { noise_multiplier: -1.0, ..plan() },
            NoisySumPlan { noise_multiplier: 0.01, ..plan() },
            NoisySumPlan { design: CanaryDesign::Fixed { canaries: 0 }, ..plan() },
            NoisySumPlan { design: CanaryDesign::Poisson { mean: 1e8 }, ..plan() },
            NoisySumPlan { delta: 1.0, ..plan() },
            NoisySumPlan { significance: 0.0, ..plan() },
            NoisySumPlan { repeats: 0, ..plan() },
            NoisySumPlan { repeats: 1_000_000, ..plan() },
            NoisySumPlan { seed: 1 << 53, ..plan() },
        ] {
            assert!(refused.check_fields().is_err(), "{refused:?}");
        }
    }

    #[test]
    fn differing_fields_are_named() {
        let other = NoisySumPlan { seed: 8, ..plan() };
        assert_eq!(plan().differences(&other), r#"seed: "7" here, "8" there"#);
    }
}

//! Scores of canaries from projections of the releases of a whole run.

use super::{CalibratedScores, ProjectionError};
use crate::mechanism::poisson_step;

/// How the score of a canary follows from its projections a₁ … a_T on the releases of all steps.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(tag = "method", rename_all = "snake_case"))]
pub enum ScoreMethod {
    /// The log-likelihood ratio with centre and noise of the projections themselves:
    /// [`CalibratedScores`].
    #[default]
    Calibrated,
    /// The log-likelihood ratio with the stated noise multiplier σ, Σ_t ln(1 + q(e^{(2a−1)/2σ²} − 1)).
    Stated {
        /// Standard deviation σ of the noise, in clip norms.
        noise_multiplier: f64,
    },
    /// The sum of the projections.
    Sum,
}

/// Scores of all canaries of a run, and what the projections say about it.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectedScores {
    /// Score of each canary; larger for included ones.
    pub scores: Vec<f64>,
    /// Steps of the run.
    pub steps: usize,
    /// Steps without noise, which calibrated scores leave out.
    pub skipped: usize,
    /// Estimate of the standard deviation of the noise, in clip norms; none without noise.
    pub noise: Option<f64>,
}

impl ScoreMethod {
    /// The scores of a whole run.
    ///
    /// | argument | meaning | shape, domain |
    /// |---|---|---|
    /// | `projections` | releases on the canaries' directions, in clip norms | (steps, canaries), step by step |
    /// | `canaries` | number m of canaries | 5 … 2²⁷ |
    /// | `sampling_rate` | probability q that a step uses a record | (0, 1] |
    ///
    /// # Errors
    /// Arguments outside their domain; no steps, an incomplete step; calibrated scores without noise in
    /// any step.
    pub fn scores(
        self,
        projections: &[f64],
        canaries: usize,
        sampling_rate: f64,
    ) -> Result<ProjectedScores, ProjectionError> {
        let mut calibrated = CalibratedScores::new(canaries, sampling_rate)?;
        for step in projections.chunks(canaries) {
            calibrated.observe(step)?;
        }
        let (steps, skipped) = (calibrated.steps(), calibrated.skipped());
        let summed = |score: &dyn Fn(f64) -> f64| {
            let mut sums = vec![0.0; canaries];
            for step in projections.chunks(canaries) {
                sums.iter_mut().zip(step).for_each(|(sum, &projection)| *sum += score(projection));
            }
            sums
        };
        let scores = match self {
            _ if steps == 0 => return Err(ProjectionError::NoSteps),
            Self::Calibrated if steps == skipped => return Err(ProjectionError::NoNoise { steps }),
            Self::Calibrated => calibrated.scores(),
            Self::Stated { noise_multiplier } => {
                if !(noise_multiplier > 0.0 && noise_multiplier.is_finite()) {
                    return Err(ProjectionError::NoiseMultiplier { noise_multiplier });
                }
                summed(&|projection| stated_ratio(projection, noise_multiplier, sampling_rate))
            }
            Self::Sum => summed(&|projection| projection),
        };
        Ok(ProjectedScores { scores, steps, skipped, noise: calibrated.noise() })
    }
}

/// ln(1 − q + q eˣ) with x = (2a − 1)/(2σ²), the log-likelihood ratio of one step with stated noise.
fn stated_ratio(projection: f64, noise_multiplier: f64, rate: f64) -> f64 {
    poisson_step(rate, (projection - 0.5) / noise_multiplier / noise_multiplier)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::one_run::CanaryScores;
    use crate::math;
    use crate::random::{Purpose, Words};

    #[test]
    fn outliers_do_not_hide_the_canaries() {
        let (canaries, steps, rate, noise) = (200, 300, 0.1, 0.3);
        let mut words = Words::new(2, Purpose::Test, 0);
        let coins: Vec<bool> = (0..canaries).map(|_| words.next_word() >> 31 == 1).collect();
        let mut step = |_| -> Vec<f64> {
            let mut projection = |coin: &bool| {
                let used = *coin && words.uniform() < rate;
                let outlier = if words.uniform() < 0.01 { 100.0 } else { 1.0 };
                f64::from(u8::from(used)) + outlier * noise * words.normal()
            };
            coins.iter().map(&mut projection).collect()
        };
        let rows: Vec<Vec<f64>> = (0..steps).map(&mut step).collect();
        let auc = |method: ScoreMethod| {
            let scores = method.scores(&rows.concat(), canaries, rate).unwrap().scores;
            CanaryScores::coins(&scores, &coins).unwrap().auc().unwrap()
        };
        let calibrated = auc(ScoreMethod::Calibrated);
        assert!(calibrated > 0.97, "{calibrated}");
        let unlimited = auc(ScoreMethod::Stated { noise_multiplier: noise });
        assert!(unlimited < 0.75, "without the floor: {unlimited}");
    }

    #[test]
    fn ratios_of_stated_noise_do_not_overflow() {
        // ln(1 + 0.1 (e² − 1))
        let expected = 0.494_028_708_f64;
        assert!((stated_ratio(1.0, 0.5, 0.1) - expected).abs() < 1e-7);
        // x = ±(10⁶ ∓ 1/2)·10⁴, and ln q or ln(1 − q)
        assert!((stated_ratio(1e6, 0.01, 0.1) / 1e10 - 1.0).abs() < 1e-6);
        assert!((stated_ratio(-1e6, 0.01, 0.1) - math::ln(0.9)).abs() < 1e-12);
        assert!((stated_ratio(-1e6, 0.01, 1.0) / -1e10 - 1.0).abs() < 1e-6);
    }

    #[test]
    fn runs_without_scores_are_refused() {
        let constant = [0.25; 5];
        let sum = ScoreMethod::Sum.scores(&constant, 5, 0.5).unwrap();
        assert_eq!((sum.scores[0], sum.steps, sum.skipped, sum.noise), (0.25, 1, 1, None));
        let calibrated = ScoreMethod::Calibrated.scores(&constant, 5, 0.5);
        assert_eq!(calibrated, Err(ProjectionError::NoNoise { steps: 1 }));
        let nothing = ScoreMethod::Sum.scores(&[], 5, 0.5);
        assert_eq!(nothing, Err(ProjectionError::NoSteps));
        let incomplete = ScoreMethod::Sum.scores(&[0.0; 7], 5, 0.5);
        assert_eq!(incomplete, Err(ProjectionError::Length { step: 1, found: 2, canaries: 5 }));
        let zero = ScoreMethod::Stated { noise_multiplier: 0.0 };
        let error = zero.scores(&constant, 5, 1.0).unwrap_err();
        assert_eq!(error, ProjectionError::NoiseMultiplier { noise_multiplier: 0.0 });
    }
}

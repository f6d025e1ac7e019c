//! ε of a training with correlated noise.

use super::participation::MatrixParticipation;
use super::sensitivity::MatrixSensitivity;
use super::strategy::MatrixStrategy;
use crate::accounting::deterministic::gdp_epsilon_above;
use crate::accounting::error::argument;
use crate::accounting::shuffle::sum::gdp_epsilon_below;
use crate::accounting::{
    Accountant, AccountingError, Given, Parameter, Poisson, PrivacyTarget, Query, Training,
    calibrate, noise_above,
};
use crate::gdp;

/// Digits of a calibrated noise multiplier, and how many units of the last one it may be raised.
const NOISE_DIGITS: i32 = 6;
const MOST_UNITS: f64 = 1e5;

/// A training that releases x + σC⁻¹z: x_t is the sum of the updates of step t, each of norm at most 1,
/// and z a matrix of independent standard normal numbers.
///
/// Updates may depend on earlier releases: the mechanism is as private as the release of Cx + σz for
/// fixed x, since C is lower triangular and the noise Gaussian (Denisov et al., arXiv 2202.08312,
/// theorem 2.1). Neighbours are a training and the same one in which the updates of one participant are 0
/// (zero-out). A user's σ is the noise multiplier: the standard deviation of z divided by the clipping
/// norm.
///
/// # Cyclic Poisson sampling
/// Let C have at most b bands, b groups take turns, and every participant of the group that has its turn
/// take part with probability q. Then ε is that of ⌈T/b⌉ steps of Poisson sampled Gaussian noise with
/// probability q and noise multiplier σ/κ, κ the largest norm of a column.
///
/// Proof. Let the participant be of group g, and divide the rows of y = Cx + σz into blocks: rows before
/// g, and rows g + jb … g + jb + b − 1 for j = 0, 1, …. At most b bands: of all steps of the participant,
/// block j contains column g + jb alone, and no other block contains any of it. Reveal all that is drawn
/// for the others, independently of the participant, and the releases row by row. Within block j the
/// updates of the others are functions of what was revealed, so their part of each row is known and can
/// be subtracted. The update u of the participant in step g + jb is a function of earlier blocks. What is
/// left of the block is s·c ⊗ u + σZ, s a coin of probability q, c the column: its projection on c ⊗ u is
/// sufficient, N(0, σ²) or, with probability q, N(‖c‖‖u‖, σ²), where ‖c‖‖u‖ ≤ κ. That pair is a function
/// with noise of the one with κ: multiply by ‖c‖‖u‖/κ and add independent noise. So each block, given
/// all earlier ones, is dominated by one step of Poisson sampling with noise multiplier σ/κ, in both
/// directions, and the composition of the dominating pairs dominates all blocks (Zhu, Dong and Wang
/// (2022), theorem 10). ∎ Rows before g do not depend on the participant. Attained if the others send 0
/// and the columns are complete.
///
/// # Guarantee
/// Upper values are not below those of draws of the whole mixture, of which bands that overlap show more
/// (`crates/core/src/accounting/matrix/tests.rs::cyclic_sampling_is_that_of_its_blocks`). Golden values of known rounds:
/// `crates/core/src/accounting/matrix/tests.rs::worst_and_last_participants_are_those_of_the_tree`.
///
/// # Reference
/// Choquette-Choo et al., arXiv 2306.08153, for cyclic Poisson sampling.
///
/// # Example
/// ```
/// use dpscope_core::accounting::matrix::{MatrixMechanism, MatrixParticipation, MatrixStrategy};
/// let tree = MatrixStrategy::tree(16);
/// let mechanism = MatrixMechanism::new(&tree, MatrixParticipation::Single)?;
/// let account = mechanism.account(2.0, 1e-5)?;
/// assert_eq!(format!("{:.4}", account.epsilon), "4.9833"); // μ = √5/2
/// # Ok::<(), dpscope_core::accounting::AccountingError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct MatrixMechanism<'a> {
    strategy: &'a MatrixStrategy,
    participation: MatrixParticipation,
    l2_sensitivity: MatrixSensitivity,
}

/// What a participant shows.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ParticipantEpsilon {
    /// μ of Gaussian differential privacy, rounded up.
    pub gdp_mu: f64,
    /// ε, nats, rounded up.
    pub epsilon: f64,
}

/// ε of a mechanism.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MatrixAccount {
    /// ε of the worst participant, nats, rounded up: that of the mechanism.
    pub epsilon: f64,
    /// Some participant has at least this ε, nats; none if that is not known.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub epsilon_lower: Option<f64>,
    /// μ of the worst participant, rounded up; none for sampled steps.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub gdp_mu: Option<f64>,
    /// The participant whose steps are the latest; none for sampled steps.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub last: Option<ParticipantEpsilon>,
}

impl<'a> MatrixMechanism<'a> {
    /// A strategy with a participation.
    ///
    /// # Errors
    /// See [`MatrixStrategy::l2_sensitivity`].
    pub fn new(
        strategy: &'a MatrixStrategy,
        participation: MatrixParticipation,
    ) -> Result<Self, AccountingError> {
        let l2_sensitivity = strategy.l2_sensitivity(&participation)?;
        Ok(Self { strategy, participation, l2_sensitivity })
    }

    /// The most that participants change C·x.
    #[must_use]
    pub const fn l2_sensitivity(&self) -> &MatrixSensitivity {
        &self.l2_sensitivity
    }

    /// ε of this mechanism at a δ.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `noise_multiplier` | σ | [1e-6, 1e6] |
    /// | `delta` | δ | (0, 1) |
    ///
    /// # Errors
    /// [`AccountingError::Argument`] outside the domain; with sampled steps those of [`Poisson`].
    pub fn account(
        &self,
        noise_multiplier: f64,
        delta: f64,
    ) -> Result<MatrixAccount, AccountingError> {
        check_noise(noise_multiplier)?;
        if let MatrixParticipation::CyclicPoisson { sampling_rate, .. } = self.participation {
            return self.account_sampled(noise_multiplier, delta, sampling_rate);
        }
        let MatrixSensitivity { worst, is_exact, last, relative_error } = self.l2_sensitivity;
        let above = |norm| shown_by(norm * (1.0 + relative_error) / noise_multiplier, delta);
        let ParticipantEpsilon { gdp_mu, epsilon } = above(worst)?;
        let below = worst * (1.0 - relative_error - 4.0 * f64::EPSILON) / noise_multiplier;
        Ok(MatrixAccount {
            epsilon,
            epsilon_lower: is_exact.then(|| gdp_epsilon_below(below.max(0.0), delta).0),
            gdp_mu: Some(gdp_mu),
            last: Some(above(last)?),
        })
    }

    /// What a participant in given steps shows, counted from 0.
    ///
    /// # Errors
    /// As [`Self::account`].
    pub fn account_steps(
        &self,
        steps: &[u32],
        noise_multiplier: f64,
        delta: f64,
    ) -> Result<ParticipantEpsilon, AccountingError> {
        check_noise(noise_multiplier)?;
        let (norm, _) = self.strategy.pattern_sensitivity(steps);
        let error =
            (steps.len() * self.strategy.column_length() + self.strategy.steps() + 16) as f64;
        shown_by(norm * (1.0 + error * f64::EPSILON) / noise_multiplier, delta)
    }

    fn account_sampled(
        &self,
        noise_multiplier: f64,
        delta: f64,
        sampling_rate: f64,
    ) -> Result<MatrixAccount, AccountingError> {
        let training = self.sampled_steps(noise_multiplier, sampling_rate);
        let upper = Poisson.account(&Query::upper(training, Given::Delta(delta)))?;
        // complete columns of the first group
        let spread = self.participation.spread(self.strategy.steps());
        let is_complete = |step: &usize| step + self.strategy.bands() <= self.strategy.steps();
        let complete = spread.from(0).filter(is_complete).count() as u64;
        let is_known = self.strategy.coefficients().is_some() && complete > 0;
        let lower = Training { epochs: complete, ..training };
        let lower = is_known.then(|| Poisson.account(&Query::lower(lower, Given::Delta(delta))));
        Ok(MatrixAccount {
            epsilon: upper.epsilon,
            epsilon_lower: lower.transpose()?.map(|lower| lower.epsilon),
            gdp_mu: None,
            last: None,
        })
    }

    /// The steps of one group, as Poisson sampled Gaussian noise.
    fn sampled_steps(&self, noise_multiplier: f64, sampling_rate: f64) -> Training {
        let spread = self.participation.spread(self.strategy.steps());
        Training {
            noise_multiplier: noise_multiplier / self.largest_norm(),
            steps_per_epoch: 1,
            epochs: spread.participations as u64,
            sampling_rate: Some(sampling_rate),
        }
    }

    /// The worst norm, rounded up.
    fn largest_norm(&self) -> f64 {
        self.l2_sensitivity.worst * (1.0 + self.l2_sensitivity.relative_error)
    }

    /// The least noise multiplier of few digits with which the training is (ε, δ)-DP.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `epsilon` | ε, nats | (0, 1e6] |
    /// | `delta` | δ | (0, 1) |
    ///
    /// # Guarantee
    /// ε of the result, rounded up, is at most the target, and that of 0.1 % less noise is above
    /// (`crates/core/src/accounting/matrix/tests.rs::calibrated_noise_reaches_the_target`).
    ///
    /// # Errors
    /// [`AccountingError::Argument`] outside the domain; [`AccountingError::Unreachable`] if the result is
    /// not in the domain of [`Self::account`]; with sampled steps those of [`calibrate`].
    pub fn noise_for(&self, epsilon: f64, delta: f64) -> Result<f64, AccountingError> {
        if !(epsilon > 0.0 && epsilon <= 1e6) {
            return Err(argument("epsilon", epsilon, "in (0, 1e6]"));
        }
        let low_high = (1e-6, 1e6);
        let unreachable = || AccountingError::Unreachable {
            name: "noise_multiplier",
            low: low_high.0,
            high: low_high.1,
            epsilon,
            delta,
        };
        let nearest = match self.participation {
            MatrixParticipation::CyclicPoisson { sampling_rate, .. } => {
                let target = PrivacyTarget { epsilon, delta, error: None };
                let training = self.sampled_steps(1.0, sampling_rate);
                let noise = calibrate(&Poisson, Parameter::Noise, &target, &training)?.value;
                noise * self.largest_norm()
            }
            _ => {
                let gdp_mu = gdp::gdp_mu_for(epsilon, delta)
                    .map_err(|_| argument("delta", delta, "strictly between 0 and 1"))?;
                self.largest_norm() / gdp_mu
            }
        };
        // rounding errors may exceed the target
        let mut more = 0.0;
        while more < MOST_UNITS {
            let noise_multiplier = noise_above(nearest, NOISE_DIGITS, more);
            if check_noise(noise_multiplier).is_err() {
                return Err(unreachable());
            }
            if self.account(noise_multiplier, delta)?.epsilon <= epsilon {
                return Ok(noise_multiplier);
            }
            more = 4.0 * more + 1.0;
        }
        Err(unreachable())
    }
}

/// ε of a norm over σ.
fn shown_by(gdp_mu: f64, delta: f64) -> Result<ParticipantEpsilon, AccountingError> {
    let gdp_mu = gdp_mu * (1.0 + 4.0 * f64::EPSILON);
    let epsilon = gdp_epsilon_above(gdp_mu, delta)?;
    if epsilon.is_finite() {
        Ok(ParticipantEpsilon { gdp_mu, epsilon })
    } else {
        Err(AccountingError::Infinite { delta })
    }
}

fn check_noise(noise_multiplier: f64) -> Result<(), AccountingError> {
    if (1e-6..=1e6).contains(&noise_multiplier) {
        Ok(())
    } else {
        Err(argument("noise_multiplier", noise_multiplier, "in [1e-6, 1e6]"))
    }
}

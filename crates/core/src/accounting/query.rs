//! Queries to an accountant.

use super::{AccountingError, Kind};
use crate::adjacency::Directions;
use crate::mechanism::BatchedGaussian;

/// A training run as accountants see it: T noisy sums of clipped gradients in each of E epochs.
///
/// | field | meaning | domain |
/// |---|---|---|
/// | `noise_multiplier` | σ, noise standard deviation divided by the clipping bound | see the accountant |
/// | `steps_per_epoch` | T | from 1 |
/// | `epochs` | E | from 1 |
/// | `sampling_rate` | q, the chance that a record is in a batch; 1/T if `None` | [1e-9, 1] |
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Training {
    /// Noise multiplier σ.
    pub noise_multiplier: f64,
    /// Steps per epoch, T.
    #[cfg_attr(feature = "serde", serde(rename = "steps"))]
    pub steps_per_epoch: u64,
    /// Number of epochs, E.
    pub epochs: u64,
    /// Sampling rate q if each step is drawn anew, k/T if a record is used k times per epoch; 1/T if `None`.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub sampling_rate: Option<f64>,
}

impl From<&BatchedGaussian> for Training {
    fn from(mechanism: &BatchedGaussian) -> Self {
        let sampler = mechanism.sampler.kind();
        let is_of_records = mechanism.dataset_size.is_some() && sampler.draws_each_step_anew();
        let has_own_rate = is_of_records || sampler.has_uses();
        Training {
            noise_multiplier: mechanism.noise_multiplier,
            steps_per_epoch: mechanism.steps_per_epoch.into(),
            epochs: mechanism.epochs.into(),
            sampling_rate: has_own_rate.then(|| mechanism.sampling_rate()),
        }
    }
}

impl Training {
    /// The sampling rate q; 1/T if none is stated.
    #[must_use]
    pub fn sampling_rate(&self) -> f64 {
        self.sampling_rate.unwrap_or(1.0 / self.steps_per_epoch as f64)
    }

    /// The run at half its noise: replacing a record may move a sum by twice the clip norm.
    #[must_use]
    pub(super) fn doubled(&self) -> Training {
        let noise_multiplier = 0.5 * self.noise_multiplier;
        Training { noise_multiplier, sampling_rate: Some(self.sampling_rate()), ..*self }
    }

    /// Steps of all epochs, T·E.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps_per_epoch.saturating_mul(self.epochs)
    }
}

/// The known one of ε and δ.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename_all = "lowercase"))]
pub enum Given {
    /// δ; the answer is ε.
    Delta(f64),
    /// ε, nats; the answer is δ.
    Epsilon(f64),
}

/// A query to an [`Accountant`](super::Accountant).
///
/// | field | meaning | domain |
/// |---|---|---|
/// | `training` | σ, T, E, q | see the accountant |
/// | `given` | δ or ε | δ in (0, 1), ε in [0, ∞) nats |
/// | `kind` | the side of the answer | upper, lower or estimate |
/// | `directions` | which world is P | – |
/// | `error` | e, see below; the smallest that the accountant's grids reach if `None` | [1e-9, 1] |
///
/// `error` has one meaning: the upper and the lower value of an answer are at most e·max(1, ε) nats
/// apart for ε, e·δ for δ. For [`Poisson`](super::Poisson) it is e nats for every ε; those of
/// truncated batches are each so near the exact value of its own pair;
/// closed forms are exact to about 1e-12 and do not use it. If an accountant cannot reach it,
/// `numeric_error` of the answer is larger, or the result is [`AccountingError::Grid`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Query {
    /// The training run.
    pub training: Training,
    /// δ or ε; the answer is the other one.
    pub given: Given,
    /// On which side of the exact value the answer must be.
    pub kind: Kind,
    /// Directions that the answer must cover.
    pub directions: Directions,
    /// Required distance between the upper and the lower value.
    pub error: Option<f64>,
}

impl Query {
    /// An upper bound in both directions, as exact as possible.
    #[must_use]
    pub const fn upper(training: Training, given: Given) -> Self {
        Query { training, given, kind: Kind::Upper, directions: Directions::Both, error: None }
    }

    /// A lower bound in both directions, as exact as possible.
    #[must_use]
    pub const fn lower(training: Training, given: Given) -> Self {
        Query { kind: Kind::Lower, ..Query::upper(training, given) }
    }

    /// The error of an accountant without values of this kind.
    pub(super) const fn refused(&self) -> AccountingError {
        AccountingError::NoValue { kind: self.kind, directions: self.directions }
    }
}

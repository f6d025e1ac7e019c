//! A description of a training run in which every field may be missing.

use super::{AssumedAccounting, DrawnNoise, NoiseTarget, TrainingError, TrainingSetup};
use crate::adjacency::Adjacency;
use crate::audit::claim::PrivacyClaim;
use crate::mechanism::SamplerKind;

/// A training run and its claim; a missing field is unknown: the options of a command, a form, a
/// file.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TrainingDescription {
    /// N.
    pub dataset_size: Option<u64>,
    /// B.
    pub batch_size: Option<u64>,
    /// E.
    pub epochs: Option<u64>,
    /// σ that the accountant uses.
    pub noise_multiplier: Option<f64>,
    /// How the loader draws batches.
    pub loader: Option<SamplerKind>,
    /// Records in its buffer.
    pub buffer_examples: Option<u64>,
    /// Whether the last, smaller batch is left out; `false` if missing.
    pub drop_last: Option<bool>,
    /// ε that is claimed.
    pub claim: Option<f64>,
    /// δ of the claim.
    pub delta: Option<f64>,
    /// Adjacency of the claim; add or remove if missing.
    pub claim_adjacency: Option<Adjacency>,
    /// The sampler that the accountant assumes.
    pub accountant: Option<SamplerKind>,
    /// q that the accountant used.
    pub accounted_sampling_rate: Option<f64>,
    /// Steps in all that the accountant used.
    pub accounted_steps: Option<u64>,
    /// Standard deviation of the noise in the code.
    pub noise_std: Option<f64>,
    /// Clipping bound, for that noise.
    pub clip_norm: Option<f64>,
    /// What that noise is added to; the sum if missing.
    pub noise_on: Option<NoiseTarget>,
}

impl TrainingDescription {
    /// The training, what was accounted, and the claim.
    ///
    /// # Errors
    /// [`TrainingError::Missing`], [`TrainingError::WithoutNoise`], [`TrainingError::Sampler`].
    ///
    /// # Example
    /// ```
    /// use dpscope_core::training_check::TrainingDescription;
    /// let partial = TrainingDescription { batch_size: Some(256), ..TrainingDescription::default() };
    /// let missing = partial.complete().unwrap_err();
    /// assert_eq!(missing.to_string(), "dataset_size is missing; add it");
    /// ```
    pub fn complete(
        &self,
    ) -> Result<(TrainingSetup, AssumedAccounting, PrivacyClaim), TrainingError> {
        fn needed<T>(value: Option<T>, name: &'static str) -> Result<T, TrainingError> {
            value.ok_or(TrainingError::Missing { name })
        }
        let drawn_noise = match self.noise_std {
            None => None,
            Some(standard_deviation) => Some(DrawnNoise {
                standard_deviation,
                clip_norm: needed(self.clip_norm, "clip_norm")?,
                added_to: self.noise_on.unwrap_or(NoiseTarget::Sum),
            }),
        };
        if drawn_noise.is_none() {
            if self.clip_norm.is_some() {
                return Err(TrainingError::WithoutNoise { name: "clip_norm" });
            }
            if self.noise_on.is_some() {
                return Err(TrainingError::WithoutNoise { name: "noise_on" });
            }
        }
        let setup = TrainingSetup {
            dataset_size: needed(self.dataset_size, "dataset_size")?,
            batch_size: needed(self.batch_size, "batch_size")?,
            epochs: needed(self.epochs, "epochs")?,
            noise_multiplier: needed(self.noise_multiplier, "noise_multiplier")?,
            drawn_noise,
            loader: needed(self.loader, "loader")?.with_buffer(self.buffer_examples)?,
            drop_last: self.drop_last.unwrap_or(false),
        };
        let accounting = AssumedAccounting {
            sampler: self.accountant,
            sampling_rate: self.accounted_sampling_rate,
            steps: self.accounted_steps,
        };
        let claim = PrivacyClaim {
            epsilon: needed(self.claim, "claim")?,
            delta: needed(self.delta, "delta")?,
            adjacency: self.claim_adjacency.unwrap_or(Adjacency::AddRemove),
        };
        Ok((setup, accounting, claim))
    }
}

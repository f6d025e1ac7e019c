//! Settings of a training with canaries, and its description as JSON.

use dpscope_core::adjacency::Adjacency;
use dpscope_core::foreign_text::{ForeignText, is_plain};
use dpscope_core::mechanism::{BatchSampler, BatchedGaussian};
use serde::{Deserialize, Serialize};

use crate::data::Examples;
use crate::description::DataDescription;
use crate::{ModelSpec, TrainError};

/// Maximum length of a description.
const MAX_BYTES: usize = 1 << 16;

const SCHEMA: &str = "dpscope.one-run-training/1";

/// What takes the place of a canary that is not included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CanarySlots {
    /// Nothing: the canary is absent. Only where the number of records in a batch is random.
    Absent,
    /// Its slot stays and contributes a gradient of zero.
    ZeroGradient,
}

impl CanarySlots {
    /// The slots that fit a sampler.
    #[must_use]
    pub const fn of(sampler: BatchSampler) -> Self {
        match sampler {
            // the slot of a canary may be another record's in a full batch
            _ if sampler.kind().truncates() => CanarySlots::ZeroGradient,
            _ if sampler.kind().has_random_batch_size() => CanarySlots::Absent,
            _ => CanarySlots::ZeroGradient,
        }
    }

    /// The relation under which the audit bounds ε.
    #[must_use]
    pub const fn adjacency(self) -> Adjacency {
        match self {
            CanarySlots::Absent => Adjacency::AddRemove,
            CanarySlots::ZeroGradient => Adjacency::ZeroOut,
        }
    }
}

/// A training without privacy that precedes DP-SGD, as for a public model that is fine-tuned.
///
/// Its records follow the base records in the data set, so that no record is in both. Coins have no
/// influence on it. Plain SGD with the batch size and momentum of the training, without clipping or
/// noise.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PreTraining {
    /// Number of records, at least the batch size.
    pub records: u32,
    /// Passes over them, 1 to 10³.
    pub epochs: u32,
    /// Learning rate, in [0, 10⁶].
    pub learning_rate: f64,
}

/// Hyperparameters of a training with canaries that are not part of the mechanism.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OneRunSettings {
    /// Clipping norm C, in [10⁻⁶, 10⁶].
    pub clip_norm: f64,
    /// Learning rate η, in [0, 10⁶].
    pub learning_rate: f64,
    /// Momentum μ of the velocity v ← μv + (noisy sum)/B, θ ← θ − ηv, B the mean batch size; in [0, 1).
    pub momentum: f64,
    /// What takes the place of a canary that is not included.
    pub slots: CanarySlots,
    /// Whether canaries get a white-box score, which costs two gradients of each canary per step.
    pub is_white_box: bool,
    /// Number of base records whose mean clipped gradient estimates that of all; the white-box
    /// attacker subtracts it. 0 disables the correction.
    pub debias_records: u32,
    /// A training without privacy before this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pre_training: Option<PreTraining>,
}

impl OneRunSettings {
    pub(super) fn check(&self, mechanism: &BatchedGaussian) -> Result<(), TrainError> {
        let check = |name, value, is_inside, domain| {
            if is_inside { Ok(()) } else { Err(TrainError::Domain { name, value, domain }) }
        };
        let OneRunSettings { clip_norm, learning_rate, momentum, .. } = *self;
        check("clip_norm", clip_norm, (1e-6..=1e6).contains(&clip_norm), "in [1e-6, 1e6]")?;
        let is_rate = |rate| (0.0..=1e6).contains(&rate);
        check("learning_rate", learning_rate, is_rate(learning_rate), "in [0, 1e6]")?;
        check("momentum", momentum, (0.0..1.0).contains(&momentum), "in [0, 1)")?;
        if let Some(PreTraining { records, epochs, learning_rate }) = self.pre_training {
            let least = mechanism.batch_size.unwrap_or(1);
            let domain = "at least the batch size";
            check("pre_training.records", records.into(), records >= least, domain)?;
            let is_inside = (1..=1000).contains(&epochs);
            check("pre_training.epochs", epochs.into(), is_inside, "in [1, 1000]")?;
            let is_inside = is_rate(learning_rate);
            check("pre_training.learning_rate", learning_rate, is_inside, "in [0, 1e6]")?;
        }
        if self.slots == CanarySlots::Absent
            && CanarySlots::of(mechanism.sampler) != CanarySlots::Absent
        {
            return Err(TrainError::AbsentSlots { sampler: mechanism.sampler.kind() });
        }
        Ok(())
    }
}

/// Canaries that equal a record of the data: their coins have little or no effect, so that the bound
/// is valid but weaker.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepeatedRecords {
    /// Canaries that equal a base record.
    pub base: u32,
    /// Canaries that equal a record of the pre-training.
    pub pre_training: u32,
}

/// Model, data, canaries and settings of a training, as saved in a checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OneRunDescription {
    schema: String,
    /// The model.
    pub model: ModelSpec,
    /// The data set; `records` is the number of base records, those of a pre-training excluded.
    pub data: DataDescription,
    /// The canaries.
    pub canaries: DataDescription,
    /// The settings.
    pub settings: OneRunSettings,
    /// Canaries that equal a record of the data.
    pub repeated: RepeatedRecords,
}

impl OneRunDescription {
    pub(super) fn new(
        model: &ModelSpec,
        base: (&Examples, u32),
        canaries: &Examples,
        settings: OneRunSettings,
        repeated: RepeatedRecords,
    ) -> Self {
        let described = |examples: &Examples, records| DataDescription {
            name: examples.name().to_owned(),
            digest: examples.digest().to_owned(),
            records,
            held_out: examples.held_out().map_or(0, Examples::len),
        };
        OneRunDescription {
            schema: SCHEMA.to_owned(),
            model: model.clone(),
            data: described(base.0, base.1),
            canaries: described(canaries, canaries.len() as u32),
            settings,
            repeated,
        }
    }

    pub(super) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Whether its names are safe to print.
    pub(super) fn is_printable(&self) -> bool {
        let names = [&self.data.name, &self.canaries.name];
        names.into_iter().all(|name| name.chars().all(is_plain))
    }

    /// Parses the output of [`OneRunTraining::description`](super::OneRunTraining::description).
    ///
    /// # Errors
    /// Invalid JSON, missing or unknown fields, another schema.
    pub fn from_json(text: &str) -> Result<Self, TrainError> {
        let invalid = |reason: String| TrainError::Description { reason };
        if text.len() > MAX_BYTES {
            return Err(invalid(format!("it has more than {MAX_BYTES} bytes")));
        }
        let description: OneRunDescription = serde_json::from_str(text)
            .map_err(|error| invalid(ForeignText::of(error).to_string()))?;
        if description.schema != SCHEMA {
            return Err(invalid(format!("the schema is not {SCHEMA}")));
        }
        Ok(description)
    }
}

//! Everything that determines a training except mechanism and seed, as JSON.

use dpscope_core::foreign_text::ForeignText;
use serde::{Deserialize, Serialize};

use crate::canary::Canary;
use crate::data::Examples;
use crate::{ModelSpec, TrainError};

const SCHEMA: &str = "dpscope.training/1";

/// Model, data and settings of a training, as saved in a checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingDescription {
    schema: String,
    /// The model.
    pub model: ModelSpec,
    /// The data set.
    pub data: DataDescription,
    /// The settings.
    pub settings: TrainingSettings,
}

/// A data set, identified by name and content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataDescription {
    /// Name of the synthetic data set or of the file.
    pub name: String,
    /// SHA-256, see [`Examples::digest`].
    pub digest: String,
    /// Number of training records.
    pub records: u32,
    /// Number of held-out records.
    pub held_out: usize,
}

/// Hyperparameters of a training that are not part of the mechanism.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingSettings {
    /// Clipping norm C, above 0.
    pub clip_norm: f64,
    /// Learning rate η ≥ 0: a step adds −η/B times the noisy sum of gradients to the parameters,
    /// with the mean batch size B.
    pub learning_rate: f64,
    /// The canary gradient.
    pub canary: Canary,
    /// Number of records whose mean clipped gradient estimates the contribution of all other
    /// records; a white-box attacker subtracts that estimate from each output. 0 disables the
    /// correction.
    pub debias_records: u32,
}

impl TrainingDescription {
    pub(crate) fn new(
        model: &ModelSpec,
        examples: &Examples,
        records: u32,
        settings: TrainingSettings,
    ) -> Self {
        let data = DataDescription {
            name: examples.name().to_owned(),
            digest: examples.digest().to_owned(),
            records,
            held_out: examples.held_out().map_or(0, Examples::len),
        };
        TrainingDescription { schema: SCHEMA.to_owned(), model: model.clone(), data, settings }
    }

    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Parses the output of [`Training::description`](crate::Training::description).
    ///
    /// # Errors
    /// Invalid JSON, missing or unknown fields, another schema.
    pub fn from_json(text: &str) -> Result<Self, TrainError> {
        let invalid = |reason: String| TrainError::Description { reason };
        let description: TrainingDescription = serde_json::from_str(text)
            .map_err(|error| invalid(ForeignText::of(error).to_string()))?;
        if description.schema != SCHEMA {
            return Err(invalid(format!("the schema is not {SCHEMA}")));
        }
        Ok(description)
    }
}

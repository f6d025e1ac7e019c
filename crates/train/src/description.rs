//! Everything that determines a training except mechanism and seed, as JSON.

use dpscope_core::mechanism::BatchedGaussian;
use serde::{Deserialize, Serialize};

use crate::data::Examples;
use crate::{ModelSpec, TrainError, Training, TrainingSettings};

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

    /// Parses the output of [`Training::description`].
    ///
    /// # Errors
    /// Invalid JSON, missing or unknown fields, another schema.
    pub fn from_json(text: &str) -> Result<Self, TrainError> {
        let invalid = |reason: String| TrainError::Description { reason };
        let description: TrainingDescription =
            serde_json::from_str(text).map_err(|error| invalid(error.to_string()))?;
        if description.schema != SCHEMA {
            return Err(invalid(format!("the schema is not {SCHEMA}")));
        }
        Ok(description)
    }

    /// Restores the training from the same data, under any name.
    ///
    /// # Errors
    /// Data with different content, and the errors of [`Training::new`].
    pub fn training(
        &self,
        examples: Examples,
        mechanism: BatchedGaussian,
        seed: u64,
    ) -> Result<Training, TrainError> {
        let provided = examples.name().to_owned();
        let training = Training::new(
            &self.model,
            examples.with_name(&self.data.name),
            mechanism,
            self.settings,
            seed,
        )?;
        if training.to_description().data != self.data {
            let expected = self.data.name.clone();
            return Err(TrainError::DataMismatch { provided, expected });
        }
        Ok(training)
    }
}

#[cfg(test)]
mod tests {
    use dpscope_core::mechanism::{BatchSampler, ThreatModel};

    use super::*;
    use crate::data::SyntheticData;
    use crate::{Canary, CanaryDirection};

    #[test]
    fn a_training_is_restored_from_its_description_and_data() {
        let mechanism = BatchedGaussian {
            noise_multiplier: 1.0,
            steps_per_epoch: 5,
            epochs: 1,
            sampler: BatchSampler::Shuffle,
            threat_model: ThreatModel::TargetCanary,
            batch_size: Some(8),
        };
        let canary = Canary { direction: CanaryDirection::Dirac, is_fresh: true };
        let settings = TrainingSettings {
            clip_norm: 0.1,
            learning_rate: 1.0 / 3.0,
            canary,
            debias_records: 2,
        };
        let examples = || SyntheticData::P100Like.generate(40, 9).unwrap();
        let first = Training::new(&ModelSpec::mlp(), examples(), mechanism, settings, 3).unwrap();
        let described = TrainingDescription::from_json(first.description()).unwrap();
        let again = described.training(examples().with_name("mine"), mechanism, 3).unwrap();
        assert_eq!(again.description(), first.description());
        for other in [(41, 9), (40, 8)] {
            let other = SyntheticData::P100Like.generate(other.0, other.1).unwrap();
            let refused = described.training(other, mechanism, 3);
            assert!(matches!(refused, Err(TrainError::DataMismatch { .. })));
        }
        for bad in ["", "{}", "[]", &first.description().replace("training/1", "training/9")] {
            let refused = TrainingDescription::from_json(bad);
            assert!(matches!(refused, Err(TrainError::Description { .. })), "{bad}");
        }
    }
}

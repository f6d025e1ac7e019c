//! What determines a training beside mechanism and seed, as JSON.

use dpscope_core::mechanism::BatchedGaussian;
use serde::{Deserialize, Serialize};

use crate::data::Examples;
use crate::{ModelSpec, TrainError, Training, TrainingSettings};

const SCHEMA: &str = "dpscope.training/1";

/// Model, data and settings, as a checkpoint keeps them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingDescription {
    schema: String,
    /// The layers.
    pub model: ModelSpec,
    /// Which data.
    pub data: DataDescription,
    /// How it is trained.
    pub settings: TrainingSettings,
}

/// Data by name and content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataDescription {
    /// The stand-in's name, or that of the file.
    pub name: String,
    /// SHA-256, as of [`Examples::digest`].
    pub digest: String,
    /// Records that are trained on.
    pub records: u32,
    /// Records that no model sees.
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

    /// Reads what [`Training::description`] wrote.
    ///
    /// # Errors
    /// A text that is not that.
    pub fn from_json(text: &str) -> Result<Self, TrainError> {
        let described = |reason: String| TrainError::Description { reason };
        let found: TrainingDescription =
            serde_json::from_str(text).map_err(|error| described(error.to_string()))?;
        if found.schema != SCHEMA {
            return Err(described(format!("its schema is not {SCHEMA}")));
        }
        Ok(found)
    }

    /// The training again, with the data it had, under whatever name.
    ///
    /// # Errors
    /// Other data, and those of [`Training::new`].
    pub fn training(
        &self,
        examples: Examples,
        mechanism: BatchedGaussian,
        seed: u64,
    ) -> Result<Training, TrainError> {
        let given = examples.name().to_owned();
        let training = Training::new(
            &self.model,
            examples.with_name(&self.data.name),
            mechanism,
            self.settings,
            seed,
        )?;
        if training.described().data != self.data {
            let described = self.data.name.clone();
            return Err(TrainError::DataMismatch { given, described });
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
    fn a_training_is_made_again_from_its_description_and_its_data() {
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

//! The definition of a training: network, data, mechanism and settings.

use dpscope_core::mechanism::{
    BatchSampler, BatchedGaussian, OutputOptions, OutputReference, OutputScorer, ThreatModel,
    Truncation,
};
use dpscope_core::random::{Purpose, Words};
use dpscope_shaders::train::{Batches, Order};

use crate::TrainError;
use crate::canary::SHARED_STREAM;
use crate::data::{Examples, Packed};
use crate::description::{TrainingDescription, TrainingSettings};
use crate::model::{LayerSpec, ModelSpec, Network};

/// A network, a data set, a mechanism and settings, checked to be compatible.
#[derive(Debug)]
pub struct Training {
    spec: ModelSpec,
    pub(crate) network: Network,
    pub(crate) examples: Examples,
    pub(crate) mechanism: BatchedGaussian,
    pub(crate) settings: TrainingSettings,
    pub(crate) seed: u64,
    pub(crate) batches: Batches,
    pub(crate) batch_size: u32,
    /// Initial parameters θ, the same for every run.
    pub(crate) initial: Vec<f32>,
    /// A parameter whose gradient is zero for every record.
    pub(crate) zero_gradient_parameter: Option<usize>,
    pub(crate) scorer: OutputScorer,
    description: String,
}

impl Training {
    /// Whether the mechanism's outputs depend on a trained model. In the worst case (the only
    /// threat model of batch-then-shuffle) the attacker chooses every gradient, and no model is
    /// trained.
    #[must_use]
    pub fn is_needed(mechanism: &BatchedGaussian) -> bool {
        mechanism.threat_model != ThreatModel::WorstCase
    }

    /// Checks that the parts are compatible.
    ///
    /// The target is record 0 of the data; records beyond those of an epoch are not used.
    ///
    /// # Errors
    /// Data whose shape differs from the model's input or that has more classes than the model has
    /// outputs; too few records; a number outside its domain; an undefined combination of sampler
    /// and threat model; the worst case, which trains no model; a sampler of another
    /// data set.
    pub fn new(
        spec: &ModelSpec,
        examples: Examples,
        mechanism: BatchedGaussian,
        settings: TrainingSettings,
        seed: u64,
    ) -> Result<Self, TrainError> {
        let network = Network::new(spec)?;
        let scorer = scorer(&mechanism)?;
        let batch_size = mechanism.batch_size.ok_or(TrainError::MissingBatchSize)?;
        if !Self::is_needed(&mechanism) {
            let (threat_model, sampler) = (mechanism.threat_model, mechanism.sampler.kind());
            return Err(TrainError::NothingToTrain { threat_model, sampler });
        }
        check_sampler(&mechanism)?;
        check_compatible(&network, spec, &examples)?;
        check_settings(&settings)?;
        let steps = mechanism.steps_per_epoch;
        let needed = mechanism.records_per_epoch().unwrap_or(0);
        if needed > examples.len() as u64 || needed > u64::from(Order::MAX_COUNT) {
            let (data, records) = (examples.name().to_owned(), examples.len());
            return Err(TrainError::TooFewRecords { data, records, steps, batch_size, needed });
        }
        let initial = initial(&network, seed);
        let batches = Batches::of(&mechanism);
        let zero_gradient_parameter =
            zero_gradient_parameter(spec, &examples, batches.records() as usize);
        let description =
            TrainingDescription::new(spec, &examples, batches.records(), settings).to_json();
        Ok(Training {
            spec: spec.clone(),
            network,
            examples,
            mechanism,
            settings,
            seed,
            batches,
            batch_size,
            initial,
            zero_gradient_parameter,
            scorer,
            description,
        })
    }

    /// Everything that determines the runs except mechanism and seed, as JSON.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Number of outputs per run, E·T.
    #[must_use]
    pub fn outputs_per_run(&self) -> usize {
        self.scorer.outputs_per_run() as usize
    }

    /// The network.
    #[must_use]
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The data set.
    #[must_use]
    pub fn examples(&self) -> &Examples {
        &self.examples
    }

    /// The mechanism, including sampler and threat model.
    #[must_use]
    pub fn mechanism(&self) -> &BatchedGaussian {
        &self.mechanism
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> &TrainingSettings {
        &self.settings
    }

    /// This training with another learning rate.
    ///
    /// # Errors
    /// A learning rate outside its domain.
    pub fn with_learning_rate(mut self, learning_rate: f64) -> Result<Self, TrainError> {
        self.settings.learning_rate = learning_rate;
        check_settings(&self.settings)?;
        self.description = self.to_description().to_json();
        Ok(self)
    }

    pub(crate) fn to_description(&self) -> TrainingDescription {
        TrainingDescription::new(&self.spec, &self.examples, self.batches.records(), self.settings)
    }
}

impl TrainingDescription {
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

fn scorer(mechanism: &BatchedGaussian) -> Result<OutputScorer, TrainError> {
    let options = OutputOptions { reference: OutputReference::Sum, target_slot: 0 };
    Ok(OutputScorer::new(mechanism, options)?)
}

pub(crate) fn check_compatible(
    network: &Network,
    spec: &ModelSpec,
    examples: &Examples,
) -> Result<(), TrainError> {
    let data = || examples.name().to_owned();
    if spec.input != examples.shape() {
        let (examples, model) = (examples.shape(), spec.input);
        return Err(TrainError::ShapeMismatch { data: data(), examples, model });
    }
    let (classes, model) = (examples.classes(), network.classes());
    if classes > model {
        return Err(TrainError::TooFewOutputs { data: data(), classes, model });
    }
    Ok(())
}

/// Refuses truncated batches of other than the records of an epoch, and fewer records than batches.
pub(crate) fn check_sampler(mechanism: &BatchedGaussian) -> Result<(), TrainError> {
    let records = mechanism.records_per_epoch().unwrap_or(0);
    let batch_size = mechanism.batch_size.unwrap_or(1);
    let is_large = u64::from(mechanism.steps_per_epoch) * u64::from(batch_size) > 1 << 28;
    match mechanism.sampler {
        BatchSampler::RandomAllocation { uses_per_epoch: value } if value > batch_size => {
            Err(TrainError::UsesPerEpoch { value, batch_size })
        }
        BatchSampler::RandomAllocation { uses_per_epoch } if uses_per_epoch > 1 && is_large => {
            let domain = "at most 2^28 divided by the steps of an epoch";
            Err(TrainError::Domain { name: "batch_size", value: batch_size.into(), domain })
        }
        BatchSampler::TruncatedPoisson(Truncation { dataset_size: value, .. })
            if value != records =>
        {
            Err(TrainError::DatasetSize { value, records })
        }
        _ => Ok(()),
    }
}

fn check_settings(settings: &TrainingSettings) -> Result<(), TrainError> {
    let TrainingSettings { clip_norm, learning_rate, .. } = *settings;
    if !(1e-6..=1e6).contains(&clip_norm) {
        let domain = "in [1e-6, 1e6]";
        return Err(TrainError::Domain { name: "clip_norm", value: clip_norm, domain });
    }
    if !(0.0..=1e6).contains(&learning_rate) {
        let domain = "in [0, 1e6]";
        return Err(TrainError::Domain { name: "learning_rate", value: learning_rate, domain });
    }
    Ok(())
}

/// Initial parameters, the same for all runs: a white-box attacker knows them.
pub(crate) fn initial(network: &Network, seed: u64) -> Vec<f32> {
    let mut words = Words::new(seed, Purpose::TrainInitial, SHARED_STREAM);
    network.initial(|| words.uniform())
}

/// The weight between the first feature that is 0 in every record and the first unit. Requires a
/// linear first layer.
fn zero_gradient_parameter(spec: &ModelSpec, examples: &Examples, records: usize) -> Option<usize> {
    if !matches!(spec.layers.first(), Some(LayerSpec::Linear { .. })) {
        return None;
    }
    let Packed::Bits { row_bytes, bytes } = examples.packed() else { return None };
    let mut nonzero = vec![0; row_bytes];
    for row in bytes.chunks_exact(row_bytes).take(records) {
        nonzero.iter_mut().zip(row).for_each(|(bits, byte)| *bits |= byte);
    }
    (0..examples.shape().len()).find(|feature| nonzero[feature / 8] >> (feature % 8) & 1 == 0)
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
            dataset_size: None,
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

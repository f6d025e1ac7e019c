//! What is trained, on what, and how.

use dpscope_core::mechanism::{
    BatchedGaussian, OutputOptions, OutputReference, OutputScorer, ThreatModel,
};
use dpscope_shaders::random::{Purpose, Words};
use dpscope_shaders::train::{Batches, Order};
use serde::{Deserialize, Serialize};

use crate::canary::{Canary, SHARED_STREAM};
use crate::data::{Examples, Packed};
use crate::model::{LayerSpec, ModelSpec, Network};
use crate::{TrainError, TrainingDescription};

/// How a network is trained, beside the mechanism.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingSettings {
    /// C, above 0.
    pub clip_norm: f64,
    /// η: parameters move by −η/B times the noisy sum; from 0.
    pub learning_rate: f64,
    /// The canary's gradient.
    pub canary: Canary,
    /// Records whose mean clipped gradient stands for that of the others, whose part in an output a
    /// white-box attacker takes away; 0 where the outputs stay as they are.
    pub debias_records: u32,
}

/// A network, data, mechanism and settings that fit each other.
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
    /// θ before the first step, of every run.
    pub(crate) initial: Vec<f32>,
    /// A parameter that no record moves.
    pub(crate) zero_gradient_parameter: Option<usize>,
    pub(crate) scorer: OutputScorer,
    description: String,
}

impl Training {
    /// Whether any gradient is left to a model: not in the worst case, which is the only threat model of
    /// batch-then-shuffle.
    #[must_use]
    pub fn is_needed(mechanism: &BatchedGaussian) -> bool {
        mechanism.threat_model != ThreatModel::WorstCase
    }

    /// Checks that all fits.
    ///
    /// The target is record 0 of the data; the records beyond T·B are not used.
    ///
    /// # Errors
    /// Data of another shape than the model takes, or of more classes than it tells apart; too few
    /// records; a number outside its domain; an undefined pair of sampler and threat model; the worst
    /// case, in which nothing is trained.
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
        check_fit(&network, spec, &examples)?;
        check(&settings)?;
        let steps = mechanism.steps_per_epoch;
        let needed = u64::from(steps) * u64::from(batch_size);
        if needed > examples.len() as u64 || needed > u64::from(Order::MOST) {
            let (data, records) = (examples.name().to_owned(), examples.len());
            return Err(TrainError::TooFewRecords { data, records, steps, batch_size, needed });
        }
        let initial = initial(&network, seed);
        let batches = Batches::new(mechanism.sampler, batch_size, steps);
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

    /// All that determines the runs beside mechanism and seed, as JSON.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Outputs of a run, E·T.
    #[must_use]
    pub fn outputs_per_run(&self) -> usize {
        self.scorer.outputs_per_run() as usize
    }

    /// The data.
    #[must_use]
    pub fn examples(&self) -> &Examples {
        &self.examples
    }

    /// Mechanism and attacker.
    #[must_use]
    pub fn mechanism(&self) -> &BatchedGaussian {
        &self.mechanism
    }

    /// How it is trained.
    #[must_use]
    pub fn settings(&self) -> &TrainingSettings {
        &self.settings
    }

    /// The same training at another learning rate.
    ///
    /// # Errors
    /// A learning rate outside its domain.
    pub fn with_learning_rate(mut self, learning_rate: f64) -> Result<Self, TrainError> {
        self.settings.learning_rate = learning_rate;
        check(&self.settings)?;
        self.description = self.described().to_json();
        Ok(self)
    }

    pub(crate) fn described(&self) -> TrainingDescription {
        TrainingDescription::new(&self.spec, &self.examples, self.batches.records(), self.settings)
    }
}

fn scorer(mechanism: &BatchedGaussian) -> Result<OutputScorer, TrainError> {
    let options = OutputOptions { reference: OutputReference::Sum, target_slot: 0 };
    Ok(OutputScorer::new(mechanism, options)?)
}

fn check_fit(network: &Network, spec: &ModelSpec, examples: &Examples) -> Result<(), TrainError> {
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

fn check(settings: &TrainingSettings) -> Result<(), TrainError> {
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

/// Parameters from uniform words, the same for all runs: a white-box attacker knows them.
fn initial(network: &Network, seed: u64) -> Vec<f32> {
    let mut words = Words::new(seed, Purpose::TrainInitial, SHARED_STREAM);
    network.initial(|| words.uniform())
}

/// The weight from the first feature that is 0 in every record to the first unit, where the first
/// layer is linear.
fn zero_gradient_parameter(spec: &ModelSpec, examples: &Examples, records: usize) -> Option<usize> {
    if !matches!(spec.layers.first(), Some(LayerSpec::Linear { .. })) {
        return None;
    }
    let Packed::Bits { row_bytes, bytes } = examples.packed() else { return None };
    let mut seen = vec![0; row_bytes];
    for row in bytes.chunks_exact(row_bytes).take(records) {
        seen.iter_mut().zip(row).for_each(|(seen, byte)| *seen |= byte);
    }
    (0..examples.shape().len()).find(|feature| seen[feature / 8] >> (feature % 8) & 1 == 0)
}

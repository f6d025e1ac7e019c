use dpscope_core::mechanism::{MechanismError, SamplerKind, ThreatModel};
use dpscope_core::shown::given;
use dpscope_engine::EngineError;

use crate::model::{ModelError, Shape};

/// A training that cannot be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrainError {
    /// The model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The mechanism.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    /// The device.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The model takes examples of another shape.
    #[error(
        "the model takes examples of {model} and {data} has {examples}; give a model whose input is \
         that, or other data"
    )]
    ShapeMismatch {
        /// The data's name.
        data: String,
        /// Of the data.
        examples: Shape,
        /// Of the model.
        model: Shape,
    },
    /// The model tells too few classes apart.
    #[error(
        "the model has {model} outputs and {data} has {classes} classes; give one output a class"
    )]
    TooFewOutputs {
        /// The data's name.
        data: String,
        /// Of the data.
        classes: usize,
        /// Of the model.
        model: usize,
    },
    /// A number outside its domain.
    #[error("{name} is {}; it must be {domain}", given(*.value))]
    Domain {
        /// Which.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it must be.
        domain: &'static str,
    },
    /// Too few records.
    #[error(
        "{steps} batches of {batch_size} records are {needed} records, and {data} has {records}; train \
         on fewer records, {records} say, or give more"
    )]
    TooFewRecords {
        /// The data's name.
        data: String,
        /// Its records.
        records: usize,
        /// T.
        steps: u32,
        /// B.
        batch_size: u32,
        /// T·B.
        needed: u64,
    },
    /// Nothing is held out.
    #[error(
        "{data} has no record left to compare learning rates on; train on fewer records, or give \
         --learning-rate"
    )]
    NoHeldOutRecords {
        /// The data's name.
        data: String,
    },
    /// More than kernels can number.
    #[error(
        "a model has {words} {what} on a GPU, beyond {most}; train on the CPU (--device cpu), or a \
         smaller model"
    )]
    TooLargeForGpu {
        /// Of what.
        what: &'static str,
        /// How many there are.
        words: u64,
        /// How many there may be.
        most: u64,
    },
    /// A batch size is needed.
    #[error("batch_size is missing; give the records of a batch")]
    MissingBatchSize,
    /// The worst case replaces every gradient.
    #[error(
        "threat model {threat_model} (sampler {sampler}) replaces every gradient, so that nothing is \
         trained; it is simulated"
    )]
    NothingToTrain {
        /// Who attacks.
        threat_model: ThreatModel,
        /// How batches are drawn.
        sampler: SamplerKind,
    },
    /// No learning rate gave a model that classifies any held-out example correctly.
    #[error(
        "no learning rate from {} to {} gave a model that classifies a held-out example \
         correctly; give --learning-rate",
        given(*.lowest), given(*.highest)
    )]
    NoUsefulLearningRate {
        /// The lowest that was tried.
        lowest: f64,
        /// The highest.
        highest: f64,
    },
    /// A description that cannot be read.
    #[error("the training's description cannot be read: {reason}")]
    Description {
        /// What is wrong.
        reason: String,
    },
    /// The data are not those of a description.
    #[error(
        "{given} gives other records than {described}, which the models were trained on; give that data, \
         labels and classes again"
    )]
    DataMismatch {
        /// The name of the data that were given.
        given: String,
        /// That of the data described.
        described: String,
    },
}

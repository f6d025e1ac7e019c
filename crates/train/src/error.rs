use dpscope_core::format::given;
use dpscope_core::mechanism::{MechanismError, SamplerKind, ThreatModel};
use dpscope_engine::EngineError;

use crate::model::{ModelError, Shape};

/// Reasons why a training cannot run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrainError {
    /// Invalid model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Invalid mechanism.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    /// Error of the engine or the device.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The model's input shape differs from the shape of the data.
    #[error(
        "the model expects examples of shape {model}, but {data} has shape {examples}; change the model's \
         input or the data"
    )]
    ShapeMismatch {
        /// Name of the data.
        data: String,
        /// Shape of an example.
        examples: Shape,
        /// Shape that the model expects.
        model: Shape,
    },
    /// The model has fewer outputs than the data has classes.
    #[error(
        "the model has {model} outputs, but {data} has {classes} classes; use one output per class"
    )]
    TooFewOutputs {
        /// Name of the data.
        data: String,
        /// Number of classes.
        classes: usize,
        /// Number of outputs of the model.
        model: usize,
    },
    /// A number outside its domain.
    #[error("{name} is {}; it must be {domain}", given(*.value))]
    Domain {
        /// Name of the number.
        name: &'static str,
        /// Its value.
        value: f64,
        /// Domain of the number.
        domain: &'static str,
    },
    /// The data have fewer records than the batches need.
    #[error(
        "{steps} batches of {batch_size} records need {needed} records, but {data} has {records}; use \
         smaller or fewer batches, or more data"
    )]
    TooFewRecords {
        /// Name of the data.
        data: String,
        /// Number of records.
        records: usize,
        /// Batches per epoch, T.
        steps: u32,
        /// Batch size, B.
        batch_size: u32,
        /// Number of records that an epoch needs.
        needed: u64,
    },
    /// The data have fewer records than the clients need.
    #[error(
        "{clients} clients with {records_per_client} records each need {}, but {data} has {records}; use \
         fewer clients or records per client, or more data",
        u64::from(*.clients) * u64::from(*.records_per_client)
    )]
    TooFewClientRecords {
        /// Name of the data.
        data: String,
        /// Number of records.
        records: usize,
        /// Number of clients.
        clients: u32,
        /// Records of a client.
        records_per_client: u32,
    },
    /// The updates of a federated training do not fit in memory.
    #[error(
        "{rounds} updates of {parameters} parameters take more than 1 GiB; use fewer rounds, a smaller \
         model, or an attacker who sees the final model alone"
    )]
    TooManyUpdates {
        /// Number of server rounds.
        rounds: u32,
        /// Number of parameters.
        parameters: usize,
    },
    /// An attack on updates in a training that scores the final model alone.
    #[error("the attack {attack} needs the updates, which this training does not score")]
    NoUpdates {
        /// Name of the attack.
        attack: &'static str,
    },
    /// An argument of a one-shot audit outside its domain.
    #[error(transparent)]
    OneShot(#[from] dpscope_core::audit::one_shot::OneShotError),
    /// No records are held out.
    #[error(
        "{data} has no held-out records to compare learning rates on; train on fewer records, or set the \
         learning rate"
    )]
    NoHeldOutRecords {
        /// Name of the data.
        data: String,
    },
    /// The model or the data exceed the address range of the GPU kernels.
    #[error(
        "training on a GPU needs {words} {what}, more than {max}; train on the CPU, or use a smaller \
         model"
    )]
    TooLargeForGpu {
        /// What is counted.
        what: &'static str,
        /// How many are needed.
        words: u64,
        /// How many are possible.
        max: u64,
    },
    /// The mechanism has no batch size.
    #[error("batch_size is missing; set the number of records per batch")]
    MissingBatchSize,
    /// More uses of a record per epoch than records in a batch.
    #[error(
        "uses_per_epoch = {value} exceeds batch_size = {batch_size}, so that an epoch has fewer records \
         than batches; use larger batches or fewer uses"
    )]
    UsesPerEpoch {
        /// Uses, k.
        value: u32,
        /// Batch size, B.
        batch_size: u32,
    },
    /// Truncated batches of another number of records than are trained on.
    #[error(
        "dataset_size = {value} of sampler truncated-poisson differs from the {records} records per \
         epoch; set it to {records}"
    )]
    DatasetSize {
        /// Its value.
        value: u64,
        /// Number of records per epoch.
        records: u64,
    },
    /// The threat model replaces every gradient.
    #[error(
        "threat model {threat_model} (sampler {sampler}) replaces every gradient, so there is nothing to \
         train; simulate the mechanism instead"
    )]
    NothingToTrain {
        /// The threat model.
        threat_model: ThreatModel,
        /// The sampler.
        sampler: SamplerKind,
    },
    /// No learning rate produced a model that classifies any held-out example correctly.
    #[error(
        "no learning rate from {} to {} produced a model that classifies a held-out example correctly; \
         set the learning rate",
        given(*.lowest), given(*.highest)
    )]
    NoUsefulLearningRate {
        /// Lowest learning rate tested.
        lowest: f64,
        /// Highest learning rate tested.
        highest: f64,
    },
    /// A one-run audit whose attacker controls more than the canaries.
    #[error(
        "threat model {threat_model} needs an attacker who replaces gradients; an audit with many \
         canaries in one run uses target-canary"
    )]
    OneRunThreatModel {
        /// The threat model.
        threat_model: ThreatModel,
    },
    /// Too few or too many canaries.
    #[error(
        "there are {canaries} canaries; an audit needs at least {least} and fewer than {slots}, \
         the number of records per epoch; change their number, or the batches"
    )]
    CanaryCount {
        /// Number of canaries.
        canaries: usize,
        /// Fewest.
        least: usize,
        /// Number of records per epoch.
        slots: u64,
    },
    /// The data have fewer records than the batches and the pre-training need beside the canaries.
    #[error(
        "{records} base records besides {canaries} canaries, and {pre_training} records for \
         pre-training, are needed, but {data} has {found}; use smaller or fewer batches, or \
         more data"
    )]
    TooFewBaseRecords {
        /// Name of the data.
        data: String,
        /// Number of its records.
        found: usize,
        /// Base records: those of an epoch but m.
        records: u64,
        /// Records of the pre-training.
        pre_training: u64,
        /// Number of canaries.
        canaries: usize,
    },
    /// The data have fewer records than the batches, the canaries and the pre-training need.
    #[error(
        "{data} has {found} records, but the batches and the canaries need {needed}; use smaller or \
         fewer batches, fewer canaries, or more data"
    )]
    TooFewCanaryRecords {
        /// Name of the data.
        data: String,
        /// Number of its records.
        found: usize,
        /// Number that is needed.
        needed: usize,
    },
    /// Wrong labels of data with one class.
    #[error("{data} has one class, so that no canary can have a wrong label; use random canaries")]
    OneClass {
        /// Name of the data.
        data: String,
    },
    /// Two canaries are equal: the included ones of them would be inserted twice.
    #[error(
        "canaries {first} and {second} of {canaries} are equal (counted from 0), so that one record \
         could be inserted twice; remove one of them"
    )]
    RepeatedCanary {
        /// Name of the canaries.
        canaries: String,
        /// The first of them.
        first: u32,
        /// The second.
        second: u32,
    },
    /// Canaries cannot be absent under a sampler with a fixed number of records.
    #[error(
        "sampler {sampler} fixes the number of records, so that a canary cannot be absent; replace \
         its gradient with zero, or use Poisson sampling"
    )]
    AbsentSlots {
        /// The sampler.
        sampler: SamplerKind,
    },
    /// A plan ranks white-box scores, but the training computes none.
    #[error("the plan ranks white-box scores, but the training computes none; enable them")]
    NoWhiteBox,
    /// More scores than an artefact holds.
    #[error(
        "{scores} scores (canaries times models) exceed {max}; use fewer canaries, repeats or \
         reference models"
    )]
    TooManyScores {
        /// Canaries times models.
        scores: u64,
        /// The limit.
        max: u64,
    },
    /// Invalid description of a training.
    #[error("the description of the training is invalid: {reason}")]
    Description {
        /// Reason.
        reason: String,
    },
    /// The data differ from those of a description.
    #[error(
        "{provided} contains other records than {expected}, on which the models were trained; pass the \
         original data, labels and classes"
    )]
    DataMismatch {
        /// Name of the data that were passed.
        provided: String,
        /// Name of the data in the description.
        expected: String,
    },
}

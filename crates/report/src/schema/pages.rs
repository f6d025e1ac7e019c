//! Types of plain objects that pages pass, and of columns. No Rust value of these types exists: an
//! object is read field by field, so that a failure names its field, and columns are typed arrays.

#![allow(dead_code, reason = "only their schemas are used")]

use dpscope_core::adjacency::Adjacency;
use dpscope_core::mechanism::{SamplerKind, ThreatModel};
use dpscope_core::training_check::NoiseTarget;
use schemars::{JsonSchema, SchemaGenerator};

use crate::record::{CheckReport, Report, page};
use crate::words::{AuditConclusion, Conclusion};

fn define<T: JsonSchema>(generator: &mut SchemaGenerator) {
    generator.subschema_for::<T>();
}

/// Defines what pages get.
pub(super) fn outputs(generator: &mut SchemaGenerator) {
    define::<Report>(generator);
    define::<CheckReport>(generator);
    define::<page::Pair>(generator);
    define::<page::PairEstimate>(generator);
    define::<page::PlanTable>(generator);
    define::<page::Calibrated>(generator);
    define::<page::AuditProgress>(generator);
    define::<page::SimulationResult>(generator);
    define::<page::FileFacts>(generator);
    define::<Conclusion>(generator);
    define::<AuditConclusion>(generator);
    define::<ScoresResult>(generator);
    define::<Epoch>(generator);
    define::<Scores>(generator);
    define::<AuditCurve>(generator);
    define::<ObservationRange>(generator);
}

/// Defines what pages pass.
pub(super) fn inputs(generator: &mut SchemaGenerator) {
    define::<Failure>(generator);
    define::<Setting>(generator);
    define::<At>(generator);
    define::<Row>(generator);
    define::<Counts>(generator);
    define::<PlanQuestion>(generator);
    define::<Given>(generator);
    define::<Wanted>(generator);
    define::<CurveKind>(generator);
    define::<Training>(generator);
    define::<EpochSize>(generator);
    define::<Mechanism>(generator);
    define::<ScoresOptions>(generator);
    define::<AuditPlan>(generator);
}

/// What is thrown.
#[derive(JsonSchema)]
struct Failure {
    kind: FailureKind,
    /// The input to change, where one is.
    field: Option<String>,
    /// For people: what is wrong and what to change.
    message: String,
}

#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum FailureKind {
    Input,
    Limit,
    Stopped,
    Device,
    File,
    Internal,
}

/// Which of epsilon and delta is given.
#[derive(JsonSchema)]
#[serde(rename_all = "lowercase", untagged)]
enum At {
    Delta { delta: f64 },
    Epsilon { epsilon: f64 },
}

/// A row of the comparison of accountants.
#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Row {
    Poisson,
    BallsInBins,
    Deterministic,
    ShuffleMaxSlice,
    ShuffleSum,
    ShuffleBest,
    PersistentShuffle,
}

/// Error counts at one threshold that was fixed without them.
#[derive(JsonSchema)]
struct Counts {
    false_positives: u64,
    zero_out_trials: u64,
    false_negatives: u64,
    target_trials: u64,
}

#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum ThresholdRuleName {
    MaxUncorrected,
    Split,
    Simultaneous,
}

/// A planned audit.
#[derive(JsonSchema)]
struct PlanQuestion {
    /// To be reached, nats; without it only the table is made.
    epsilon: Option<f64>,
    delta: f64,
    significance: f64,
    threshold_rule: ThresholdRuleName,
    /// One size, even; without it a table of sizes.
    observations: Option<u64>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Wanted {
    Noise,
    Steps,
    Epochs,
}

/// A training run: noise multiplier, steps per epoch, passes over the data.
#[derive(JsonSchema)]
struct Setting {
    noise_multiplier: f64,
    steps: u64,
    epochs: u64,
}

/// What is known of a training; steps are per epoch.
#[derive(JsonSchema)]
struct Given {
    noise_multiplier: Option<f64>,
    steps: Option<u64>,
    epochs: Option<u64>,
    sampling_rate: Option<f64>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum CurveKind {
    Claim,
    Poisson,
    Deterministic,
    MaxSlice,
}

/// A training run and its claim; omitted fields are unknown.
#[derive(JsonSchema)]
struct Training {
    dataset_size: u64,
    batch_size: u64,
    epochs: u64,
    noise_multiplier: f64,
    claim: f64,
    delta: f64,
    loader: SamplerKind,
    buffer_examples: Option<u64>,
    drop_last: Option<bool>,
    claim_adjacency: Option<Adjacency>,
    accountant: Option<SamplerKind>,
    accounted_sampling_rate: Option<f64>,
    accounted_steps: Option<u64>,
    noise_std: Option<f64>,
    clip_norm: Option<f64>,
    noise_on: Option<NoiseTarget>,
}

/// Records of a picture.
#[derive(JsonSchema)]
struct EpochSize {
    /// A multiple of the batch size.
    records: u64,
    batch_size: u64,
    buffer_examples: Option<u64>,
    noise_multiplier: f64,
}

/// A simulated mechanism.
#[derive(JsonSchema)]
struct Mechanism {
    noise_multiplier: f64,
    /// Batches per epoch.
    steps: u64,
    /// Passes over the data.
    epochs: u64,
    sampler: SamplerKind,
    /// Where left out, the strongest attacker of the sampler.
    threat_model: Option<ThreatModel>,
    /// Records per batch, for the samplers that need it.
    batch_size: Option<u64>,
    /// Records in the buffer, for the samplers that have one.
    buffer_examples: Option<u64>,
}

/// A simulation to audit; what is left out is as on the command line.
#[derive(JsonSchema)]
struct AuditPlan {
    #[serde(flatten)]
    mechanism: Mechanism,
    /// Of both worlds together; even.
    observations: u64,
    delta: f64,
    /// Chance that the bound is wrong.
    significance: f64,
    /// Where left out, simultaneous.
    threshold_rule: Option<ThresholdRuleName>,
    /// Most cuts of the simultaneous rule; where left out, 16.
    cuts: Option<u64>,
    /// Decimal digits; where left out or empty, fresh entropy.
    seed: Option<String>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum HigherMeans {
    Target,
    ZeroOut,
}

/// How recorded scores are audited; what is left out is as on the command line.
#[derive(JsonSchema)]
struct ScoresOptions {
    delta: f64,
    /// Chance that the bound is wrong.
    significance: f64,
    /// Where left out, simultaneous.
    threshold_rule: Option<ThresholdRuleName>,
    /// Which world has the higher scores; where left out, the target's.
    higher_means: Option<HigherMeans>,
    /// Decimal digits; where left out or empty, fresh entropy.
    seed: Option<String>,
    /// Count runs without a finite score against the attack, instead of refusing the file.
    count_non_finite: Option<bool>,
}

/// The result of recorded scores, with its curve.
#[derive(JsonSchema)]
struct ScoresResult {
    #[serde(flatten)]
    result: page::ScoresResult,
    curve: AuditCurve,
}

/// Observations `first..end` of each world.
#[derive(JsonSchema)]
struct ObservationRange {
    first: u64,
    end: u64,
}

/// One epoch as it is drawn; record 0 is the target.
#[derive(JsonSchema)]
struct Epoch {
    /// Batch of each record; empty for Poisson sampling.
    #[schemars(extend("tsType" = "Uint32Array"))]
    batch_of: Vec<u32>,
    /// Members of batch b: `batches[offsets[b] .. offsets[b + 1]]`.
    #[schemars(extend("tsType" = "Uint32Array"))]
    batches: Vec<u32>,
    #[schemars(extend("tsType" = "Uint32Array"))]
    offsets: Vec<u32>,
    #[schemars(extend("tsType" = "Uint32Array"))]
    target_batches: Vec<u32>,
    /// Noisy sums where the target is in the data; batches without it have mean 0.
    #[schemars(extend("tsType" = "Float64Array"))]
    outputs_target: Vec<f64>,
    /// The same where it is not.
    #[schemars(extend("tsType" = "Float64Array"))]
    outputs_zero_out: Vec<f64>,
    /// Nats.
    score_target: f64,
    /// Nats.
    score_zero_out: f64,
}

/// Scores of simulated observations, nats: those of an audit with the same seed.
#[derive(JsonSchema)]
struct Scores {
    #[schemars(extend("tsType" = "Float64Array"))]
    target: Vec<f64>,
    #[schemars(extend("tsType" = "Float64Array"))]
    zero_out: Vec<f64>,
}

/// Rates of the attack, by rising fpr.
#[derive(JsonSchema)]
struct CurveColumns {
    #[schemars(extend("tsType" = "Float64Array"))]
    fpr: Vec<f64>,
    #[schemars(extend("tsType" = "Float64Array"))]
    fnr: Vec<f64>,
}

/// Staircases between which the whole curve lies.
#[derive(JsonSchema)]
struct CurveBand {
    most: CurveColumns,
    least: CurveColumns,
}

/// A curve, with its confidence band where there is a bound.
#[derive(JsonSchema)]
struct AuditCurve {
    #[serde(flatten)]
    curve: CurveColumns,
    #[serde(skip_serializing_if = "Option::is_none")]
    band: Option<CurveBand>,
}

//! TypeScript types of pages.
//!
//! Types without a Rust record stand here: serde knows no typed arrays, so columns are set field by
//! field, and failures and ranges belong to crates that this one does not know.

#![allow(dead_code, reason = "only their schemas are used")]

use dpscope_core::accounting::{Calibrated, Calibration, Given, Training};
use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::Counts;
use dpscope_core::training_check::TrainingDescription;
use schemars::{JsonSchema, SchemaGenerator};

use crate::answer::Answer;
use crate::record::{
    CheckReport, GeneratorReport, MatrixReport, OneRunReport, OneShotReport, PateGanReport, Report,
    input, page,
};
use crate::words::{AuditConclusion, Conclusion};

fn define<T: JsonSchema>(generator: &mut SchemaGenerator) {
    generator.subschema_for::<T>();
}

/// Defines what pages get.
pub(super) fn outputs(generator: &mut SchemaGenerator) {
    define::<Report>(generator);
    define::<Answer>(generator);
    define::<CheckReport>(generator);
    define::<CheckedTraining>(generator);
    define::<page::Pair>(generator);
    define::<page::PairEstimate>(generator);
    define::<page::PlanTable>(generator);
    define::<page::GuessBound>(generator);
    define::<Asked>(generator);
    define::<RankedRun>(generator);
    define::<RankedNull>(generator);
    define::<page::SimulatedSum>(generator);
    define::<page::RunsAboveTruth>(generator);
    define::<page::OneShotSize>(generator);
    define::<page::VotesAnswer>(generator);
    define::<MatrixReport>(generator);
    define::<page::PateGanFacts>(generator);
    define::<page::PateGanSoFar>(generator);
    define::<PateGanAnswer>(generator);
    define::<GeneratorAnswer>(generator);
    define::<Calibrated>(generator);
    define::<page::AuditProgress>(generator);
    define::<page::SimulationResult>(generator);
    define::<page::ExpectedScoreBin>(generator);
    define::<page::WatchedTraining>(generator);
    define::<page::TrainingOverview>(generator);
    define::<TrainingAnswer>(generator);
    define::<page::CanaryTrainingsSoFar>(generator);
    define::<page::CanariesAfter>(generator);
    define::<CanaryTrainingAnswer>(generator);
    define::<FederatedTrainingAnswer>(generator);
    define::<page::FederatedTrainingsSoFar>(generator);
    define::<page::FederatedAfter>(generator);
    define::<page::FederatedOverview>(generator);
    define::<page::CanaryStep>(generator);
    define::<page::StatementTexts>(generator);
    define::<Conclusion>(generator);
    define::<AuditConclusion>(generator);
    define::<Epoch>(generator);
    define::<Scores>(generator);
    define::<AuditCurve>(generator);
    define::<ObservationRange>(generator);
}

/// Defines what pages pass.
pub(super) fn inputs(generator: &mut SchemaGenerator) {
    define::<Failure>(generator);
    define::<Training>(generator);
    define::<Given>(generator);
    define::<Calibration>(generator);
    define::<Counts>(generator);
    define::<TrainingDescription>(generator);
    define::<input::CurveKind>(generator);
    define::<input::PlanQuestion>(generator);
    define::<input::GuessCounts>(generator);
    define::<input::RunSimulation>(generator);
    define::<input::NoisySumSimulation>(generator);
    define::<input::OneShotQuestion>(generator);
    define::<input::VotesQuestion>(generator);
    define::<input::MatrixQuestion>(generator);
    define::<Adjacency>(generator);
    define::<input::PateGanQuestion>(generator);
    define::<input::GeneratorOptions>(generator);
    define::<input::EpochSize>(generator);
    define::<input::Axis>(generator);
    define::<input::BoundSetting>(generator);
    define::<input::SubsetOptions>(generator);
    define::<input::AuditPlan>(generator);
}

/// A failure, thrown by `dpscope-wasm`.
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

/// The check of a training while it is described: the report without its answer.
#[derive(JsonSchema)]
struct CheckedTraining {
    #[serde(flatten)]
    report: CheckReport,
}

/// The answer of the program to a question about files.
#[derive(JsonSchema)]
struct Asked {
    report: AskedReport,
    /// What the program prints.
    text: String,
    /// The drawing of the report, a self-contained SVG.
    #[serde(skip_serializing_if = "Option::is_none")]
    picture: Option<String>,
    /// The report as a page of its own, self-contained HTML.
    page: String,
    /// Notes and warnings.
    notes: Vec<String>,
    /// The new content of `plan/audited.txt`, where the audit of a committed plan changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    audited: Option<String>,
}

/// The audit of trained models.
#[derive(JsonSchema)]
struct TrainingAnswer {
    /// What the program prints.
    text: String,
    report: Report,
}

/// The audit of trainings with many canaries.
#[derive(JsonSchema)]
struct CanaryTrainingAnswer {
    /// What the program prints.
    text: String,
    report: OneRunReport,
}

/// The audit of a federated training with canary clients.
#[derive(JsonSchema)]
struct FederatedTrainingAnswer {
    /// What the program prints.
    text: String,
    report: OneShotReport,
}

/// The audit of PATE-GAN.
#[derive(JsonSchema)]
struct PateGanAnswer {
    /// What the program prints.
    text: String,
    report: PateGanReport,
    picture: page::PateGanPicture,
}

/// The audit of runs of a generator.
#[derive(JsonSchema)]
struct GeneratorAnswer {
    /// What the program prints.
    text: String,
    report: GeneratorReport,
    /// Scores of the evaluated runs.
    scores: Vec<page::ScoreBin>,
}

/// A report of two worlds, of canaries with coins, or of canaries whose null scores are known.
#[derive(JsonSchema)]
#[serde(untagged)]
enum AskedReport {
    TwoWorlds(Box<Report>),
    Coins(Box<OneRunReport>),
    NullScores(Box<OneShotReport>),
}

/// A simulated run, with its ranking.
#[derive(JsonSchema)]
struct RankedRun {
    #[serde(flatten)]
    run: page::SimulatedRun,
    /// Whether each guess is correct, most confident first: the largest score, the smallest, the second
    /// largest and so on.
    #[schemars(extend("tsType" = "Uint8Array"))]
    ranking: Vec<u8>,
}

/// Runs in which nothing leaks, with the ranking of the last one.
#[derive(JsonSchema)]
struct RankedNull {
    #[serde(flatten)]
    runs: page::NullRuns,
    /// Whether each guess is correct, most confident first.
    #[schemars(extend("tsType" = "Uint8Array"))]
    ranking: Vec<u8>,
}

/// Observations `first..end` of each world; of `dpscope-engine`.
#[derive(JsonSchema)]
struct ObservationRange {
    first: u64,
    end: u64,
}

/// One epoch as it is drawn; record 0 is the target.
#[derive(JsonSchema)]
struct Epoch {
    /// Number of records.
    records: u32,
    /// Members of batch b: `batches[offsets[b] .. offsets[b + 1]]`.
    #[schemars(extend("tsType" = "Uint32Array"))]
    batches: Vec<u32>,
    #[schemars(extend("tsType" = "Uint32Array"))]
    offsets: Vec<u32>,
    /// Records that were drawn into a truncated batch and not kept, likewise.
    #[schemars(extend("tsType" = "Uint32Array"))]
    dropped: Vec<u32>,
    #[schemars(extend("tsType" = "Uint32Array"))]
    dropped_offsets: Vec<u32>,
    #[schemars(extend("tsType" = "Uint32Array"))]
    target_batches: Vec<u32>,
    /// Noisy sums where the target is in the data; batches without it have mean 0.
    #[schemars(extend("tsType" = "Float64Array"))]
    outputs_target: Vec<f64>,
    /// Noisy sums where the target is not in the data.
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

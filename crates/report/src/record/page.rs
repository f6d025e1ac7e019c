//! What pages get beside the documents of the program.

use dpscope_core::accounting::pate::VotesEpsilon;
use dpscope_core::accounting::{Accounted, Cell};
use serde::Serialize;

use super::{OneShotEstimate, ResultRecord};
use crate::words::OneShotRule;

/// The exact pair, drawn.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pair {
    /// Rigorous; the closed form where nothing was drawn.
    pub lower: Accounted,
    /// Without coverage.
    pub estimate: Cell,
    /// Draws for the lower limit.
    pub observations: u64,
    /// Decimal digits.
    pub seed: String,
}

/// The exact pair from draws of one epoch.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PairEstimate {
    /// Without coverage.
    pub estimate: Cell,
    /// Draws of one epoch.
    pub observations: u64,
    /// Decimal digits.
    pub seed: String,
}

/// What the guesses of one training run show.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GuessBound {
    /// Lower bound, nats.
    pub epsilon: f64,
    /// The looser bound of Steinke, Nasr and Jagielski, for comparison.
    pub steinke_epsilon: f64,
    /// The bound if all guesses were correct.
    pub ceiling: f64,
}

/// A bound from the first guesses of a ranking.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankedBound {
    /// Number of guesses.
    pub guesses: u64,
    /// Number of correct guesses.
    pub correct: u64,
    /// Nats.
    pub epsilon: f64,
    /// The value if all guesses were correct.
    pub ceiling: f64,
}

/// A number of guesses that a walk tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BoundaryStep {
    /// Number of guesses.
    pub guesses: u64,
    /// Number of correct guesses.
    pub correct: u64,
    /// Fewest correct ones that show ε > 0; none if even all of them do not.
    pub fewest: Option<u64>,
}

/// A simulated training run with canaries, audited by several rules.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SimulatedRun {
    /// ε of the simulated training at δ, nats.
    pub truth: f64,
    /// The bound of the number of guesses that was fixed.
    pub fixed: RankedBound,
    /// The bound of a walk, which looks at several numbers at a joint level.
    pub walk: RankedBound,
    /// The largest value of the path, which is no bound.
    pub largest: RankedBound,
    /// By number of guesses, as if each had been fixed.
    pub path: Vec<RankedBound>,
    /// Numbers of guesses of the walk, with its boundary at ε = 0.
    pub boundary: Vec<BoundaryStep>,
}

/// How often rules report ε > 0 where nothing leaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NullRuns {
    /// Simulated runs.
    pub runs: u64,
    /// A number of guesses that was fixed.
    pub fixed: u64,
    /// The walk.
    pub walk: u64,
    /// The largest value over numbers of guesses, without correction.
    pub largest: u64,
}

/// A simulated noisy sum of canary directions, audited by several rules.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SimulatedSum {
    /// ε of the sums at δ, nats.
    pub truth: f64,
    /// μ of the sums.
    pub gdp_mu: f64,
    /// Noise multiplier of one sum with this μ, the reciprocal of μ.
    pub noise_multiplier: f64,
    /// Canaries of this run.
    pub canaries: u64,
    /// Bounds, the rule that holds for any training first, then the rule that is not a bound.
    pub rules: Vec<RuleValue>,
    /// The estimate by the mean score; none of fewer than two canaries.
    pub estimate: Option<OneShotEstimate>,
    /// The smallest p-values that count for nothing, because of δ.
    pub canaries_lost_to_delta: u64,
    /// The cosines, by rising value.
    pub bins: Vec<CosineBin>,
}

/// What a rule shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RuleValue {
    /// The rule.
    pub rule: OneShotRule,
    /// Its name.
    pub name: &'static str,
    /// Nats; of a bound on μ, that of the Gaussian curve.
    pub epsilon: f64,
    /// A bound on μ; none of rules for ε.
    pub gdp_mu: Option<f64>,
    /// What it assumes.
    pub assumption: &'static str,
}

/// Cosines in an interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CosineBin {
    /// Its lower end.
    pub from: f64,
    /// Its upper end.
    pub to: f64,
    /// Canaries with a cosine in it.
    pub canaries: u64,
    /// Their mean number if no canary were in the sum, by the exact distribution.
    pub expected: f64,
}

/// What the canaries of a Gaussian leak are expected to show.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OneShotSize {
    /// μ of the leak.
    pub gdp_mu: f64,
    /// The bound for any training algorithm is at least this with probability ½, or more.
    pub median_epsilon: f64,
    /// 90 % of runs without any leak have an estimate by the mean score in this interval.
    pub null_range: [f64; 2],
    /// The most canaries at which δ costs nothing.
    pub most_canaries: f64,
}

/// ε of noisy votes of teachers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VotesAnswer {
    /// ε of the votes, whatever their counts.
    #[serde(flatten)]
    pub value: VotesEpsilon,
    /// ε of a single vote, with δ = 0.
    pub vote_epsilon: f64,
    /// The probability that a unanimous vote is released as it is; ½ is a coin.
    pub unanimous: f64,
}

/// What the runs of an unfinished audit of PATE-GAN show: an estimate.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PateGanSoFar {
    /// Runs of each world that the attack used; 0 where there are too few for it.
    pub runs: u64,
    /// ε of the attack on them.
    pub epsilon: f64,
    /// Rows in each cell.
    pub cells: Vec<DomainCell>,
}

/// What a page draws of an audit of PATE-GAN beside its report.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PateGanPicture {
    /// Rows in each cell, and last those outside of the domain.
    pub cells: Vec<DomainCell>,
    /// Scores of the evaluated runs.
    pub scores: Vec<ScoreBin>,
}

/// Released rows in a cell of the domain, of all runs of a world together.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DomainCell {
    /// The row; empty for rows outside of the domain.
    pub row: Vec<f64>,
    /// Whether it is the target.
    pub is_target: bool,
    /// With the target and without.
    pub rows: [u64; 2],
}

/// Evaluated runs with a score in an interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScoreBin {
    /// Its lower end.
    pub from: f64,
    /// Its upper end.
    pub to: f64,
    /// With the target and without.
    pub runs: [u64; 2],
}

/// Trained runs with a score in an interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExpectedScoreBin {
    /// Its lower end.
    pub from: f64,
    /// Its upper end.
    pub to: f64,
    /// With the target and without.
    pub runs: [u64; 2],
    /// The numbers that the simulated mechanism leads to expect.
    pub expected: [f64; 2],
}

/// One run of a training, step by step.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WatchedTraining {
    /// What the attacker sees of each step, in clip norms; null after a run that diverged.
    pub outputs: Vec<Option<f32>>,
    /// Steps, from 0, whose batch contains the canary, or nothing in its place.
    pub canary_steps: Vec<usize>,
    /// What the model has learnt.
    pub learned: Vec<LearnedAfter>,
    /// Score in nats; none of a run that diverged.
    pub score: Option<f64>,
}

/// What a model has learnt after some steps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LearnedAfter {
    /// Steps so far.
    pub steps: usize,
    /// Mean cross-entropy of held-out records, nats; none after it diverged.
    pub loss: Option<f64>,
    /// Share of them that is classified correctly.
    pub accuracy: f64,
}

/// What a training of a page is made of.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrainingOverview {
    /// Name of the data set.
    pub data: String,
    /// Records that are trained on.
    pub records: u64,
    /// Records that are held out.
    pub held_out: u64,
    /// Features of a record.
    pub features: u64,
    /// Classes.
    pub classes: u64,
    /// Parameters of the model.
    pub parameters: u64,
    /// Learning rate of the sum of a batch over its size.
    pub learning_rate: f64,
    /// What was dropped from a file, and how labels were read.
    pub notes: Vec<String>,
}

/// What the models of an audit with many canaries show so far.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CanaryTrainingsSoFar {
    /// Trained models, reference models with them.
    pub models: u64,
    /// Audited models among them.
    pub repeats: u64,
    /// Audited models that diverged.
    pub failed: u64,
    /// ε from guesses of their canaries, an estimate until all models are trained; none without models.
    pub epsilon: Option<f64>,
    /// Privacy parameter δ.
    pub delta: f64,
    /// The number of guesses that decides; 0 without models.
    pub guesses: u64,
    /// The correct ones.
    pub correct: u64,
    /// Share of the pairs of an included and another canary in which the included one has the larger
    /// score.
    pub auc: Option<f64>,
    /// Histograms of the scores.
    pub bins: Vec<CanaryScoreBin>,
}

/// Canaries with a score in an interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CanaryScoreBin {
    /// Its lower end.
    pub from: f64,
    /// Its upper end.
    pub to: f64,
    /// Canaries that were trained on, and others.
    pub canaries: [u64; 2],
}

/// The canaries of one training after some steps.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CanariesAfter {
    /// Steps so far.
    pub steps: usize,
    /// Mean cross-entropy of held-out records, nats; none without such records.
    pub loss: Option<f64>,
    /// Share of them that is classified correctly; none without such records.
    pub accuracy: Option<f64>,
    /// Share of the pairs of an included and another canary in which the included one has the larger
    /// score.
    pub auc: Option<f64>,
    /// Histograms of the scores, with the same intervals after all steps.
    pub bins: Vec<CanaryScoreBin>,
}

/// Canaries after a step of their optimisation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CanaryStep {
    /// Steps so far.
    pub metasteps: u32,
    /// By how much the loss of a canary that was left out exceeds that of an included one, per canary,
    /// before this step; none of a step that was skipped, because a training diverged.
    pub objective: Option<f64>,
    /// AUC of a canary by its losses, a mean over canaries that was estimated after this step; none where
    /// it was not.
    pub auc: Option<f64>,
    /// Whether it was the last.
    pub is_finished: bool,
}

/// What federated trainings show so far.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FederatedTrainingsSoFar {
    /// Trainings that are done, those without canaries with them.
    pub models: u64,
    /// Audited trainings among them.
    pub repeats: u64,
    /// Audited trainings that diverged.
    pub failed: u64,
    /// Their canaries.
    pub canaries: u64,
    /// ε from these canaries, an estimate until all trainings are done; none without canaries.
    pub epsilon: Option<f64>,
    /// Privacy parameter δ.
    pub delta: f64,
    /// Histogram of the normal scores.
    pub bins: Vec<NormalScoreBin>,
    /// Mean accuracy on held-out records with canaries; none without such records.
    pub accuracy: Option<f64>,
    /// Mean accuracy on held-out records of trainings without canaries; none without such records.
    pub accuracy_without_canaries: Option<f64>,
}

/// Canaries with a normal score in an interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NormalScoreBin {
    /// Its lower end.
    pub from: f64,
    /// Its upper end.
    pub to: f64,
    /// Number of canaries.
    pub canaries: u64,
    /// The number that is expected of canaries that are not in.
    pub expected: f64,
}

/// One federated training after some rounds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FederatedAfter {
    /// Server rounds so far.
    pub rounds: u32,
    /// Share of held-out records that is classified correctly; none without such records.
    pub accuracy: Option<f64>,
    /// Mean normal score of the canaries in the change of the model; none without canaries.
    pub mean_score: Option<f64>,
    /// Histogram of these scores.
    pub bins: Vec<NormalScoreBin>,
}

/// What a federated training of a page is made of.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FederatedOverview {
    /// Data and model, with the learning rate of participants.
    #[serde(flatten)]
    pub training: TrainingOverview,
    /// Clients, canaries excluded.
    pub clients: u32,
    /// Clients of a round, canaries excluded, on average.
    pub cohort: f64,
    /// ε that is proven for an attacker who sees every update; none where nothing is.
    pub accounted: Option<f64>,
}

/// What is known of the faults of PATE-GAN.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PateGanFacts {
    /// By where they were found.
    pub groups: Vec<FaultGroup>,
    /// The faithful mechanism, then implementations that were audited.
    pub implementations: Vec<ImplementationFacts>,
}

/// Faults of one origin.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FaultGroup {
    /// A short name.
    pub name: &'static str,
    /// What it is.
    pub says: &'static str,
    /// The faults.
    pub faults: Vec<FaultFacts>,
}

/// What is known of a fault.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FaultFacts {
    /// Name, as "U2".
    pub name: &'static str,
    /// The switch that it turns, as "O3".
    pub switch: &'static str,
    /// The detector that reports it, as "M5".
    pub detector: &'static str,
    /// What it is.
    pub says: &'static str,
    /// Whether it needs an ε at which training ends.
    pub needs_epsilon: bool,
}

/// An implementation of PATE-GAN that was audited.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImplementationFacts {
    /// Its name.
    pub name: &'static str,
    /// Its switches, with commas between them.
    pub faults: String,
    /// ε that the published audit printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<f64>,
}

/// How often rules exceed the truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunsAboveTruth {
    /// Simulated runs.
    pub runs: u64,
    /// At the noise of the simulation.
    pub with_leak: RunsAbove,
    /// Where no canary is in the sum: the truth is 0.
    pub without_leak: RunsAbove,
}

/// Runs in which each rule exceeds the truth.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunsAbove {
    /// For any training algorithm.
    pub any_mechanism: u64,
    /// For independent canaries.
    pub independent: u64,
    /// For a Gaussian mechanism, by μ.
    pub gaussian: u64,
    /// The published rule.
    pub published: u64,
}

/// The largest ε that audits of these sizes can show.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanTable {
    /// Cuts that share the significance.
    pub cuts: u32,
    /// One-sided tail of each limit of a rate.
    pub tail_per_rate: f64,
    /// Fewest of both worlds together, for an attack that never errs.
    pub observations_for_ceiling: Option<u64>,
    /// By size.
    pub rows: Vec<PlanRow>,
}

/// One size of an audit.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanRow {
    /// Observations of both worlds together.
    pub observations: u64,
    /// ε of an attack that never errs, nats.
    pub ceiling: f64,
}

/// Progress of a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuditProgress {
    /// Observations of both worlds that are counted.
    pub done: u64,
    /// Observations of both worlds that were planned.
    pub total: u64,
}

/// The result of a simulation so far.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(extend("tsExtends" = "AuditResult"))
)]
pub struct SimulationResult {
    /// As on the command line.
    #[serde(flatten)]
    pub result: ResultRecord,
    /// Observations of both worlds that are counted.
    pub observations: u64,
    /// Observations of both worlds that were planned.
    pub planned: u64,
    /// Decimal digits.
    pub seed: String,
    /// Equal for equal histograms.
    pub histogram_digest: String,
    /// Devices that counted.
    pub devices: Vec<String>,
    /// Float modes of the counts: `fast` or `exact`.
    pub float_modes: Vec<String>,
    /// Ranges that a device failed to count.
    pub fallback_shards: u64,
    /// Version of the program.
    pub version: String,
}

/// A privacy statement in every format.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StatementTexts {
    /// A list.
    pub markdown: String,
    /// A `description` environment.
    pub latex: String,
    /// Lines.
    pub plain: String,
}

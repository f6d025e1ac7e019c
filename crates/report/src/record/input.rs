//! What pages pass beside the types of core: plain objects.

use dpscope_core::accounting::matrix::PrefixObjective;
use dpscope_core::accounting::{Setting, Training};
use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::bound::ThresholdRule;
use dpscope_core::mechanism::{
    BatchedGaussian, MechanismError, SamplerKind, SamplerParameters, ThreatModel, Truncation,
};
use serde::Deserialize;

use super::MatrixStrategyKind;

/// A trade-off curve of theory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CurveKind {
    /// Curve of an (ε, δ) claim.
    Claim,
    /// Curve of Poisson sampling.
    Poisson,
    /// Curve of deterministic batches.
    Deterministic,
    /// Curve of the largest output of each shuffled epoch.
    MaxSlice,
}

/// A training whose bounds a page asks for.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BoundSetting {
    /// Noise multiplier σ.
    pub noise_multiplier: f64,
    /// Steps per epoch, T.
    pub steps: u64,
    /// Number of epochs, E.
    pub epochs: u64,
    /// Sampling rate q if each step is drawn anew, k/T if a record is used k times per epoch; 1/T if omitted.
    pub sampling_rate: Option<f64>,
    /// What neighbours differ in, for batches of fixed size and truncated ones; zero-out if omitted.
    pub adjacency: Option<Adjacency>,
    /// Number of records and most of a batch, for truncated batches.
    pub truncation: Option<Truncation>,
}

impl From<BoundSetting> for Setting {
    fn from(setting: BoundSetting) -> Self {
        let BoundSetting { noise_multiplier, steps, epochs, sampling_rate, .. } = setting;
        let training = Training { noise_multiplier, steps_per_epoch: steps, epochs, sampling_rate };
        let adjacency = setting.adjacency.unwrap_or(Adjacency::ZeroOut);
        Setting { training, adjacency, truncation: setting.truncation }
    }
}

/// A parameter of a training, along which a curve is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// Noise multiplier σ.
    NoiseMultiplier,
    /// Steps per epoch, T; a record stays in as many of them.
    Steps,
    /// Number of epochs, E.
    Epochs,
    /// Privacy parameter δ.
    Delta,
}

/// What calibration of uniform subsets depends on, beside the training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SubsetOptions {
    /// What neighbours differ in, for batches of fixed size and truncated ones; zero-out if omitted.
    pub adjacency: Option<Adjacency>,
    /// Number of records and most of a batch, for truncated batches.
    pub truncation: Option<Truncation>,
}

/// A planned audit.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanQuestion {
    /// To be reached, nats; if omitted, there is only the table.
    pub epsilon: Option<f64>,
    /// Privacy parameter δ.
    pub delta: f64,
    /// Probability that the bound is wrong.
    pub significance: f64,
    /// How the threshold is chosen.
    pub threshold_rule: ThresholdRule,
    /// One size, even; if omitted, a table of sizes.
    pub observations: Option<u64>,
}

/// Guesses about the canaries of one training run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GuessCounts {
    /// Number of canaries m.
    pub canaries: u64,
    /// Number of guesses k, fixed before the coins were drawn.
    pub guesses: u64,
    /// Number of correct guesses v.
    pub correct: u64,
}

/// A simulated training run with canaries, whose scores are N(±μ/2, 1).
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunSimulation {
    /// Number of canaries m.
    pub canaries: u64,
    /// Number of guesses k, fixed before the coins were drawn.
    pub guesses: u64,
    /// Distance μ between the means of the scores.
    pub mu: f64,
    /// Privacy parameter δ.
    pub delta: f64,
    /// Probability that the bound is wrong.
    pub significance: f64,
    /// Decimal digits.
    pub seed: String,
}

/// Canaries in noisy sums: each is added to the same number of sums, whose total the attacker compares
/// with it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NoisySumSimulation {
    /// σ of the noise in each sum, over the norm of a canary.
    pub noise_multiplier: f64,
    /// Sums to which a canary is added.
    pub presentations: u64,
    /// Mean of their Poisson number.
    pub canaries: u64,
    /// Dimension d of the sums.
    pub dimension: u64,
    /// Privacy parameter δ.
    pub delta: f64,
    /// Probability that a bound is wrong.
    pub significance: f64,
    /// Decimal digits.
    pub seed: String,
}

/// Canaries of a Gaussian leak.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OneShotQuestion {
    /// Mean of their Poisson number.
    pub canaries: u64,
    /// ε of the leak at δ.
    pub epsilon: f64,
    /// Privacy parameter δ.
    pub delta: f64,
    /// Probability that the bound is wrong.
    pub significance: f64,
}

/// Noisy votes of teachers, each of both counts.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VotesQuestion {
    /// Number of teachers.
    pub teachers: u32,
    /// Inverse scale of the Laplace noise.
    pub gamma: f64,
    /// Number of votes.
    pub votes: u64,
    /// Privacy parameter δ.
    pub delta: f64,
}

/// A matrix mechanism (DP-FTRL); defaults are those of the command line.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MatrixQuestion {
    /// A strategy; if omitted, all are compared.
    pub strategy: Option<MatrixStrategyKind>,
    /// Number of steps T.
    pub steps: u32,
    /// The steps of a participant.
    pub participation: MatrixParticipationKind,
    /// Number of epochs E, of `epochs` and `shuffled`.
    pub epochs: Option<u32>,
    /// Minimum separation b of two steps, of `min-separation`.
    pub separation: Option<u32>,
    /// Most steps of a participant, of `min-separation`.
    pub participations: Option<u32>,
    /// Number of groups, of `cyclic-poisson`.
    pub groups: Option<u32>,
    /// The probability, of `cyclic-poisson`.
    pub sampling_rate: Option<f64>,
    /// Bands of banded strategies.
    pub bands: Option<u32>,
    /// Buffers of a BLT.
    pub buffers: Option<u32>,
    /// The error that is minimised.
    pub objective: Option<PrefixObjective>,
    /// σ; or else `epsilon`.
    pub noise_multiplier: Option<f64>,
    /// The ε that σ is calibrated for, nats.
    pub epsilon: Option<f64>,
    /// Privacy parameter δ.
    pub delta: f64,
}

/// The steps of a participant, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum MatrixParticipationKind {
    /// One step.
    Single,
    /// One step of each epoch, in one order.
    Epochs,
    /// One step of each epoch, in any order.
    Shuffled,
    /// Steps that are far enough apart.
    MinSeparation,
    /// Groups take turns; members are sampled.
    CyclicPoisson,
}

/// An audit of PATE-GAN in the worst case; the flags of `dpscope audit pategan`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PateGanQuestion {
    /// Names of the faults that are switched on, with commas between them.
    pub faults: String,
    /// Number of teachers k.
    pub teachers: u32,
    /// Inverse scale of the Laplace noise, γ.
    pub gamma: f64,
    /// Rows per training step.
    pub batch_size: u32,
    /// Number of iterations; either this or `epsilon`.
    pub iterations: Option<u32>,
    /// ε at which training ends.
    pub epsilon: Option<f64>,
    /// Runs of each world.
    pub runs: u64,
    /// Privacy parameter δ.
    pub delta: f64,
    /// Probability that the bound is wrong.
    pub significance: f64,
    /// Decimal digits.
    pub seed: String,
}

/// How features of runs are audited, where no manifest says so.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GeneratorOptions {
    /// Privacy parameter δ.
    pub delta: f64,
    /// Probability that the bound is wrong.
    pub significance: f64,
    /// ε of the claim to test, at the same δ.
    pub claim: Option<f64>,
    /// Seed of the attack, decimal digits.
    pub seed: String,
}

/// One epoch in pictures.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EpochSize {
    /// T batches.
    pub steps: u32,
    /// B, the mean size of a batch.
    pub batch_size: u32,
    /// Records of the data set, if they are stated: a larger batch is refused.
    #[serde(default)]
    pub dataset_size: Option<u64>,
    /// Records in the buffer, for the samplers that have one.
    pub buffer_examples: Option<u64>,
    /// Batches that contain a record, for the sampler that has this parameter.
    #[serde(default)]
    pub uses_per_epoch: Option<u64>,
    /// Most records of a batch, for truncated batches.
    #[serde(default)]
    pub max_batch_size: Option<u64>,
    /// Noise multiplier σ.
    pub noise_multiplier: f64,
}

/// A simulated mechanism; the flags of the command line.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mechanism {
    /// Noise standard deviation divided by the clip norm.
    pub noise_multiplier: f64,
    /// Batches per epoch.
    pub steps: u32,
    /// Passes over the data.
    pub epochs: u32,
    /// How batches are drawn.
    pub sampler: SamplerKind,
    /// If omitted, the strongest one defined for the sampler.
    pub threat_model: Option<ThreatModel>,
    /// Records per batch, for the samplers that need it.
    pub batch_size: Option<u32>,
    /// Records in the buffer, for the samplers that have one.
    pub buffer_examples: Option<u64>,
    /// Batches of an epoch that contain a record, for the sampler that has this parameter.
    #[serde(default)]
    pub uses_per_epoch: Option<u64>,
    /// Records of the data set, for truncated batches.
    #[serde(default)]
    pub dataset_size: Option<u64>,
    /// Most records of a batch, for truncated batches.
    #[serde(default)]
    pub max_batch_size: Option<u64>,
}

impl TryFrom<Mechanism> for BatchedGaussian {
    type Error = MechanismError;

    /// Fails for a buffered sampler without a buffer, and for a parameter of another sampler.
    fn try_from(options: Mechanism) -> Result<Self, MechanismError> {
        let Mechanism { noise_multiplier, steps, epochs, sampler, batch_size, .. } = options;
        Ok(BatchedGaussian {
            noise_multiplier,
            steps_per_epoch: steps,
            epochs,
            sampler: sampler.with_parameters(SamplerParameters {
                buffer_examples: options.buffer_examples,
                uses_per_epoch: options.uses_per_epoch,
                dataset_size: options.dataset_size,
                max_batch_size: options.max_batch_size,
            })?,
            threat_model: options.threat_model.unwrap_or(sampler.default_threat_model()),
            batch_size,
            dataset_size: None,
        })
    }
}

/// A simulation to audit; defaults are those of the command line.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuditPlan {
    /// What is simulated.
    pub mechanism: Mechanism,
    /// Observations of both worlds together; even.
    pub observations: u64,
    /// Privacy parameter δ.
    pub delta: f64,
    /// Probability that the bound is wrong.
    pub significance: f64,
    /// If omitted, simultaneous.
    pub threshold_rule: Option<ThresholdRule>,
    /// Most cuts of the simultaneous rule; if omitted, 16.
    pub cuts: Option<u32>,
    /// Decimal digits; if omitted or empty, fresh entropy.
    pub seed: Option<String>,
}

//! What a caller measured in the first steps of a training and of its replays.

use crate::adjacency::Adjacency;

/// Measurements of a training on a data set D, and of replays with the same batches and noise.
///
/// Norms of sums are in clip norms C. Numbers are finite; what could not be measured is absent.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct StepRecord {
    /// Number of the target record in the data set.
    pub target: u64,
    /// Trained tensors, in one order for all steps.
    pub tensors: Vec<TrainedTensor>,
    /// Machine epsilon of the type of the releases.
    pub precision: f64,
    /// Stated σ of the noise on sums, if the user passes one; it has precedence.
    pub noise_multiplier: Option<f64>,
    /// What the accountant used.
    pub accountant: Option<AccountedSteps>,
    /// Whether the data set or the model draws random numbers, as augmentation and dropout do.
    #[cfg_attr(feature = "serde", serde(default))]
    pub draws_random_numbers: bool,
    /// Whether the buffers of the model were compared.
    pub buffers_examined: bool,
    /// The training on D.
    pub original: Replay,
    /// A replay of D.
    pub control: Replay,
    /// A replay of D without an unrelated record whose gradient is zero in both: the effect of shapes.
    pub shape_control: Option<Replay>,
    /// Replays of D′.
    pub replays: Vec<NeighbourReplay>,
    /// Short replays with another target, or the target alone.
    #[cfg_attr(feature = "serde", serde(default))]
    pub probes: Vec<Probe>,
    /// Noise of the original: for each step, for each tensor.
    #[cfg_attr(feature = "serde", serde(default))]
    pub noise: Vec<Vec<TensorNoise>>,
}

/// A trained tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct TrainedTensor {
    /// Its name in messages.
    pub name: String,
    /// Number of entries.
    pub size: u64,
}

/// Numbers that an accountant used; those that are absent are not compared.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct AccountedSteps {
    /// Noise multiplier σ.
    pub noise_multiplier: Option<f64>,
    /// Clip norm C, in units of gradients.
    pub clip_norm: Option<f64>,
    /// Sampling rate q.
    pub sample_rate: Option<f64>,
    /// What sums are divided by.
    pub expected_batch_size: Option<f64>,
    /// Steps that it counted while the original ran.
    pub steps: Option<u64>,
}

/// A run of the training.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Replay {
    /// Message of the exception that ended it; absent if the recorder ended it.
    pub failure: Option<String>,
    /// Logical batches of the loader before the last step in which no step was made.
    #[cfg_attr(feature = "serde", serde(default))]
    pub batches_without_step: u64,
    /// Number of batches that the loader says an epoch has.
    pub steps_per_epoch: Option<u64>,
    /// Whether it drew other random numbers than the original before the noise of some step.
    #[cfg_attr(feature = "serde", serde(default))]
    pub random_draws_differ: bool,
    /// The first tensor whose shape differs from that of the original.
    pub shape_change: Option<ShapeChange>,
    /// Its steps.
    pub steps: Vec<ReplayedStep>,
}

/// A tensor with another shape than in the original.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ShapeChange {
    /// Its name.
    pub name: String,
    /// Shape in the original; empty if it has none.
    pub original: Vec<u64>,
    /// Shape in the replay; empty if it has none.
    pub replay: Vec<u64>,
}

/// A replay of D′.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct NeighbourReplay {
    /// How D′ differs from D: [`Adjacency::ZeroOut`] or [`Adjacency::AddRemove`].
    pub adjacency: Adjacency,
    /// The run.
    pub replay: Replay,
}

/// A step: its values, and in replays its differences from the same step of the original.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ReplayedStep {
    /// Whether the sum is finite.
    pub is_finite: bool,
    /// ‖q‖/C; absent if the sum is not finite.
    pub sum_norm: Option<f64>,
    /// Norm of the clipped gradient of the target in the sum, in C; absent without the target.
    pub target_norm: Option<f64>,
    /// What a release is multiplied by to be a sum.
    #[cfg_attr(feature = "serde", serde(rename = "scale"))]
    pub release_scale: Option<f64>,
    /// What the optimizer divides a sum by.
    pub divisor: Option<f64>,
    /// Sampling rate q of the loader.
    pub sample_rate: Option<f64>,
    /// Clip norm C, in units of gradients.
    pub clip_norm: Option<f64>,
    /// Learning rate.
    pub learning_rate: Option<f64>,
    /// Stated σ of the noise on sums, as the optimizer has it.
    pub noise_multiplier: Option<f64>,
    /// ‖q − q₀‖/C, with the sum q₀ of the original.
    pub sum_change: Option<f64>,
    /// The largest relative change of the gradient norm of a record other than the target.
    pub other_gradients: Option<OtherGradient>,
    /// ‖(r − r₀)·scale − (q − q₀)‖/C, with the release r₀ of the original.
    pub release_change: Option<f64>,
    /// The largest relative change of a parameter or buffer after the step.
    pub state: Option<StateChange>,
}

/// The record, other than the target, whose gradient norm changes most.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct OtherGradient {
    /// Its number in the data set.
    pub record: u64,
    /// |‖g‖ − ‖g₀‖|/‖g₀‖, before clipping.
    pub change: f64,
}

/// The parameter or buffer that changes most.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct StateChange {
    /// Its name.
    pub name: String,
    /// ‖θ − θ₀‖/‖θ₀‖.
    pub change: f64,
}

/// What a probe changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum ProbeKind {
    /// The target's gradient as it is.
    Natural,
    /// The target's gradient with a norm of 1,000 C before clipping.
    Inflated,
    /// The target's features × 100, or random tokens.
    ExtremeItem,
    /// The target's features are NaN.
    NotANumber,
    /// A batch of the target alone.
    Alone,
}

/// A short replay with a changed target, beside one without it.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Probe {
    /// What it changes.
    pub kind: ProbeKind,
    /// How the data without the target differ.
    pub adjacency: Adjacency,
    /// ‖q(D) − q(D′)‖/C; absent if a sum is not finite, or there is none.
    pub contribution: Option<f64>,
    /// The largest relative change of the gradient norm of another record.
    pub other_gradients: Option<OtherGradient>,
    /// The run with the target, and the one without it.
    pub runs: [ProbeRun; 2],
    /// Learning rates of the second step, in the same order.
    #[cfg_attr(feature = "serde", serde(default))]
    pub learning_rates: [Option<f64>; 2],
}

/// One of the two runs of a probe.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ProbeRun {
    /// Message of the exception that ended it.
    pub failure: Option<String>,
    /// Steps that it made.
    pub steps: u64,
    /// Whether its sums are finite.
    pub is_finite: bool,
}

/// Noise e = (r·scale − q)/C of one tensor in one step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct TensorNoise {
    /// Σe, Σe², Σe³, Σe⁴ over its entries.
    pub powers: [f64; 4],
    /// Entries that are neighbours in memory.
    pub neighbours: Option<Correlation>,
    /// Entries that are one size of the last axis apart in memory.
    pub rows: Option<Correlation>,
    /// With this tensor in the step before.
    pub previous_step: Option<Correlation>,
    /// An earlier tensor in the same step.
    pub other_tensor: Option<Correlation>,
    /// With this tensor and step in a replay of D with another seed.
    pub other_seed: Option<Correlation>,
    /// With this tensor and step on another rank.
    pub other_rank: Option<Correlation>,
}

/// Correlation of pairs of noise, Σxy/√(Σx² Σy²), without subtracting means.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Correlation {
    /// Number of pairs.
    pub pairs: u64,
    /// The correlation, in [−1, 1].
    pub value: f64,
}

impl TensorNoise {
    /// Its correlations.
    pub(super) const fn correlations(&self) -> [Option<Correlation>; 6] {
        let TensorNoise {
            neighbours,
            rows,
            previous_step,
            other_tensor,
            other_seed,
            other_rank,
            ..
        } = *self;
        [neighbours, rows, previous_step, other_tensor, other_seed, other_rank]
    }
}

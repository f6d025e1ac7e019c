//! Findings of a check of steps.

use std::fmt;

use super::{ProbeKind, ShapeChange};
use crate::adjacency::Adjacency;
use crate::recorded::OutputParameter;

/// Severity of a finding for the accountant's ε.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum StepSeverity {
    /// A difference between D and D′ that no noise hides.
    Refutes,
    /// An assumption of the accountant does not hold; ε itself is not tested.
    Violates,
    /// A case that may break an assumption.
    Warning,
    /// A note.
    Note,
}

impl fmt::Display for StepSeverity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            StepSeverity::Refutes => "refutes",
            StepSeverity::Violates => "violates",
            StepSeverity::Warning => "warning",
            StepSeverity::Note => "note",
        })
    }
}

/// Neighbouring relations under which something was compared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Neighbours {
    /// Relations under which it differs.
    pub differs: Vec<Adjacency>,
    /// Relations under which it does not.
    pub same: Vec<Adjacency>,
}

/// Where a difference is largest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Place {
    /// Step, from 0; absent in probes.
    pub step: Option<usize>,
    /// Probe that shows it; absent if the training itself does.
    pub probe: Option<ProbeKind>,
    /// Relations under which it was compared.
    pub neighbours: Neighbours,
}

/// A value of a step that differs.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ValueChange {
    /// The value with the target record.
    pub original: f64,
    /// The value without it, or that of the accountant.
    pub other: f64,
    /// Where it differs; under no relation if `other` is that of the accountant.
    pub place: Place,
}

/// Noise that a test is about.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum NoiseScope {
    /// All steps and tensors.
    All,
    /// A step, from 0.
    Step(usize),
    /// A tensor in all steps.
    Tensor(String),
}

/// Pairs of noise that are correlated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum NoisePairs {
    /// Entries that are neighbours in memory.
    Neighbours,
    /// Entries one size of the last axis apart.
    Rows,
    /// One tensor in two consecutive steps.
    PreviousStep,
    /// Two tensors of a step.
    OtherTensor,
    /// Two seeds.
    OtherSeed,
    /// Two ranks.
    OtherRank,
}

impl NoisePairs {
    /// All kinds, in the order of [`TensorNoise::correlations`](super::TensorNoise::correlations).
    pub(super) const ALL: [NoisePairs; 6] = [
        NoisePairs::Neighbours,
        NoisePairs::Rows,
        NoisePairs::PreviousStep,
        NoisePairs::OtherTensor,
        NoisePairs::OtherSeed,
        NoisePairs::OtherRank,
    ];

    /// The field of a record.
    pub(super) const fn field(self) -> &'static str {
        match self {
            NoisePairs::Neighbours => "neighbours",
            NoisePairs::Rows => "rows",
            NoisePairs::PreviousStep => "previous_step",
            NoisePairs::OtherTensor => "other_tensor",
            NoisePairs::OtherSeed => "other_seed",
            NoisePairs::OtherRank => "other_rank",
        }
    }

    /// Whether the two of a pair are one draw if noise is used again.
    pub(super) const fn is_reuse(self) -> bool {
        !matches!(self, NoisePairs::Neighbours | NoisePairs::Rows)
    }
}

/// Something that a check of steps finds, with its numbers.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "code", rename_all = "snake_case"))]
#[allow(missing_docs, reason = "the fields are the numbers of the sentence about the finding")]
#[non_exhaustive]
pub enum StepFinding {
    /// The target changes a sum by more than C. `is_uncertain` if other random draws may do so.
    SensitivityExceeded { change: f64, record: u64, place: Place, is_uncertain: bool },
    /// The gradient norm of another record changes by a share of it.
    OtherGradientsChange { change: f64, record: u64, place: Place, is_uncertain: bool },
    /// A parameter or buffer differs after equal releases, by a share of its norm.
    StateDiffers { name: String, change: f64, place: Place },
    /// A release changes by more than the sum, in C.
    ReleaseDiffers { change: f64, place: Place },
    /// The factor between release and sum differs.
    ScaleDiffers { value: ValueChange },
    /// The divisor differs.
    DivisorDiffers { value: ValueChange },
    /// The sampling rate differs.
    SampleRateDiffers { value: ValueChange },
    /// The clip norm differs.
    ClipNormDiffers { value: ValueChange },
    /// The learning rate differs.
    LearningRateDiffers { value: ValueChange },
    /// The number of steps differs.
    StepsDiffer { original: u64, other: u64, place: Place },
    /// The number of steps per epoch differs.
    StepsPerEpochDiffer { original: u64, other: u64, neighbours: Neighbours },
    /// The shape of a tensor differs.
    ShapesDiffer { shape: ShapeChange, neighbours: Neighbours },
    /// A batch is followed by no step.
    BatchWithoutStep { batches: u64, place: Place },
    /// An exception with, or without the target only.
    OneWorldFails { message: String, with_target: bool, place: Place },
    /// A sum is not finite with, or without the target only.
    NonFiniteGradient { with_target: bool, place: Place },
    /// No noise is added there, and at as many other steps or tensors.
    NoNoise { scope: NoiseScope, others: u64 },
    /// The noise has a smaller standard deviation than stated, in C.
    NoiseBelowStated { noise: OutputParameter, stated: f64, scope: NoiseScope },
    /// Noise is used again.
    NoiseReused { correlation: f64, limit: f64, pairs: NoisePairs, scope: NoiseScope },
    /// Entries of the noise are correlated.
    NoiseCorrelated { correlation: f64, limit: f64, pairs: NoisePairs, scope: NoiseScope },
    /// The noise is not normal.
    NoiseNotNormal { kurtosis: f64, dimension: u64, scope: NoiseScope },
    /// The accountant counted another number of steps.
    AccountedStepsDiffer { accounted: u64, releases: u64 },
    /// The noise has a larger standard deviation than stated, in C.
    NoiseAboveStated { noise: OutputParameter, stated: f64, scope: NoiseScope },
    /// The worlds draw different random numbers.
    RandomDrawsDiffer { neighbours: Neighbours },
    /// A replay of D differs from D, so that nothing was compared.
    NotReproducible { difference: Option<f64> },
    /// Buffers of the model were not compared.
    BuffersNotExamined,
}

impl StepFinding {
    /// Its severity.
    #[must_use]
    pub const fn severity(&self) -> StepSeverity {
        use StepFinding as F;
        match self {
            F::StateDiffers { .. }
            | F::StepsDiffer { .. }
            | F::StepsPerEpochDiffer { .. }
            | F::ShapesDiffer { .. }
            | F::BatchWithoutStep { .. }
            | F::OneWorldFails { .. }
            | F::NoNoise { .. } => StepSeverity::Refutes,
            F::SensitivityExceeded { is_uncertain: true, .. }
            | F::OtherGradientsChange { is_uncertain: true, .. }
            | F::NoiseAboveStated { .. }
            | F::RandomDrawsDiffer { .. }
            | F::NotReproducible { .. }
            | F::BuffersNotExamined => StepSeverity::Note,
            F::NonFiniteGradient { .. } => StepSeverity::Warning,
            F::SensitivityExceeded { .. }
            | F::OtherGradientsChange { .. }
            | F::ReleaseDiffers { .. }
            | F::ScaleDiffers { .. }
            | F::DivisorDiffers { .. }
            | F::SampleRateDiffers { .. }
            | F::ClipNormDiffers { .. }
            | F::LearningRateDiffers { .. }
            | F::NoiseBelowStated { .. }
            | F::NoiseReused { .. }
            | F::NoiseCorrelated { .. }
            | F::NoiseNotNormal { .. }
            | F::AccountedStepsDiffer { .. } => StepSeverity::Violates,
        }
    }
}

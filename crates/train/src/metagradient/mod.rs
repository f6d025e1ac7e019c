//! Metagradients: how an objective of a trained model changes with the canaries that it was trained
//! on.
//!
//! A [`InnerTraining`] maps canaries c to parameters θ_T by T steps of an [`UpdateRule`]. The objective
//! is φ = Σ_i weight_i · ℓ(θ_T, c_i), with positive weights for canaries that are IN and negative
//! ones for those that are OUT. dφ/dc has a direct part, at fixed θ_T, and a part through θ_T, which
//! the adjoint recursion computes from the last step to the first: with λ the derivative of φ with
//! respect to θ_t, each step turns λ into the derivative w with respect to its mean gradient and
//! adds H·w to λ, where H is the Hessian of the mean loss of its batch; an occurrence b of a canary
//! in a batch of B adds (1/B)·Aᵀ·∂/∂ε ∇_x ℓ(θ_t + ε·w, A·x), with A its augmentation. H·w and the
//! cross term are tangents of one gradient pass on dual numbers.
//!
//! [`ReferenceDerivatives`] computes them in f64, [`LaneDerivatives`] in f32 and vector
//! instructions, a [`DerivativeDevice`] for several threads.
//!
//! # Guarantee
//! Values equal those of automatic differentiation through the unrolled training
//! (`tests/oracles/metagradient.rs::metagradients_agree`), and each of ten mistakes is rejected
//! (`tests/oracles/metagradient.rs::broken_recursions_are_rejected`). All checkpoint schedules
//! return the same bits (`crates/train/tests/metagradient.rs::schedules_return_the_same_bits`), with
//! or without the zeros of records
//! (`crates/train/tests/sparse_rows.rs::metagradients_have_the_same_bits_for_every_schedule`).

mod adjoint;
mod augmentation;
mod checkpointing;
mod derivatives;
mod lanes;
mod optimization;
mod optimizer;
mod rounding;
mod smooth_model;
mod smoothness;
mod sparse_records;
mod training;

pub use crate::gradient::{BatchRows, SparseRow};
pub use adjoint::Metagradient;
pub use augmentation::Augmentation;
pub use checkpointing::{Checkpointing, Cost, Reversible, Segment, reverse};
pub use derivatives::{DerivativeDevice, Derivatives, ReferenceDerivatives};
pub use lanes::LaneDerivatives;
pub use optimization::{
    BestCanaries, CanaryEvaluation, CanaryOptimization, CanaryStart, FeatureRanges, GradientPart,
    MeanAuc, MetaUpdate, OptimizationError, OptimizationSettings, OptimizationSetup,
    OptimizationState, StartLabels, Validation,
};
pub use optimizer::{Optimizer, State, UpdateRule};
pub use rounding::rounding;
pub use smooth_model::SmoothModel;
pub use smoothness::{RoughLayer, metasmoothness, rough_layer};
pub use sparse_records::SparseRecords;
pub use training::{InnerTraining, Interruption, NoiseSource, Occurrence, Record, Records};

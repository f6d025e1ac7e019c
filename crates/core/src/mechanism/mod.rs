//! The batched Gaussian mechanism: samplers, threat models, observations and their scores.

mod distribution;
pub mod error;
mod log_ratio;
pub mod output;
pub mod partial_shuffle;
mod records;
pub mod sampler;
pub mod sampler_kind;
pub mod score;
pub(crate) mod slots;
pub mod threat_model;
pub(crate) mod truncation;

pub use distribution::{ScoreDistribution, ScoreDistributionKind, SlotWeights};
pub use error::{MechanismError, ParameterProblem};
pub(crate) use log_ratio::poisson_step;
pub use output::{OutputOptions, OutputReference, OutputScorer, rescale_averaged};
pub use partial_shuffle::partial_shuffle_candidates;
pub use sampler::{BatchSampler, SamplerParameters};
pub use sampler_kind::{SamplerKind, SamplerParameter, UnknownSampler};
pub use score::{BatchMeans, BatchedGaussian};
pub use threat_model::{ThreatModel, UnknownThreatModel};
pub use truncation::Truncation;

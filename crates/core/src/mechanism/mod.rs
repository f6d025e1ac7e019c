//! The batched Gaussian mechanism: samplers, threat models, what an observation is and how it is
//! scored.

pub mod error;
pub mod law;
mod log_ratio;
pub mod output;
pub mod output_spread;
pub mod partial_shuffle;
pub mod sampler;
pub mod score;
pub mod shuffle_reach;
pub(crate) mod slots;
pub mod threat_model;

pub use error::MechanismError;
pub use law::{LawKind, ScoreLaw, SlotWeights};
pub use output::{OutputOptions, OutputReference, OutputScorer, rescale_averaged};
pub use output_spread::OutputSpread;
pub use partial_shuffle::partial_shuffle_candidates;
pub use sampler::{BatchSampler, SamplerKind};
pub use score::{BatchMeans, BatchedGaussian};
pub use shuffle_reach::{ShuffleEvidence, ShuffleReach};
pub use threat_model::ThreatModel;

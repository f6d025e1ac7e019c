//! The batched Gaussian mechanism: samplers, threat models, what an observation is and how it is
//! scored.

pub mod error;
pub mod law;
pub mod sampler;
pub mod score;
pub mod threat_model;

pub use error::MechanismError;
pub use law::{LawKind, ScoreLaw, SlotWeights};
pub use sampler::BatchSampler;
pub use score::BatchedGaussian;
pub use threat_model::ThreatModel;

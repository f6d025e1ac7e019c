//! Checks of recorded outputs.

mod batch_mean;
mod canary;
mod cells;
mod empty_batches;
mod epoch_sums;
mod exact_noise;
mod fixed_order;
mod holm;
pub mod independence;
mod ln_sum;
mod mixture;
mod noise_reuse;
mod noiseless;
mod output_model;
mod output_parameter;
mod phases;
mod placement;
mod recorded_sums;
mod sampler_evidence;
mod steps;
mod uses;

pub use batch_mean::OtherBatchMean;
pub use canary::{CanaryEstimate, CanarySize};
pub(crate) use cells::Cells;
pub(crate) use empty_batches::no_noise_in_empty_batches;
pub use epoch_sums::EpochSums;
pub use exact_noise::ExactNoise;
pub use fixed_order::StepEffect;
pub use holm::holm;
pub(crate) use mixture::Presence;
pub use mixture::{Explanation, LEAST_OUTPUTS, NoisePower, OutputFit};
pub use noise_reuse::NoiseReuse;
pub(crate) use noiseless::{NoiselessCells, is_near_noiseless};
pub use output_model::OutputModel;
pub use output_parameter::OutputParameter;
pub use phases::OutputPhase;
pub(crate) use phases::{Fitted, PhaseFit, PhaseFits};
pub use placement::Placement;
pub(crate) use recorded_sums::{NEARLY_ONE, NEARLY_SCALED};
pub use sampler_evidence::{
    PlacementCandidates, PlacementLikelihood, SamplerContradiction, SamplerEvidence,
};
pub(crate) use steps::{FoundSteps, noise_by_step};
pub use steps::{StepComparison, StepNoise};
pub use uses::{RecordedUses, UseCounts};

//! Simulations of the batched Gaussian mechanism, as a workload of `dpscope-engine`, and draws of the
//! exact pair of a shuffled run; noisy sums of canary directions as another workload.
//!
//! A [`Plan`] plays the mechanism's attacker in two worlds; its evidence is histograms of scores
//! ([`TwoWorlds`]), which a [`Simulation`] counts on a [`Backend`]. The statistics are in
//! `dpscope-core`, the sampling and scoring kernels in `dpscope-shaders`.

pub mod backend;
mod cpu;
mod curve;
pub mod decimal;
mod digest;
mod directions;
mod error;
mod evaluate;
mod evidence;
#[cfg(feature = "gpu")]
mod gpu;
mod layout;
pub mod noisy_sum;
pub mod pair;
mod pilot;
mod plan;
mod release_cosines;
mod report;
mod tally;
mod workload;

pub use backend::Backend;
pub use digest::TrainingDigest;
pub use directions::{CanaryDirections, ModelChange, cosines};
pub use error::PlanError;
pub use evaluate::Evaluate;
pub use evidence::TwoWorlds;
pub use layout::Layout;
pub use pilot::Pilot;
pub use plan::{Plan, ValidPlan};
pub use release_cosines::{Compared, ReleaseCosines};
pub use report::{ReportError, report};
pub use tally::{TrainingState, TrainingTally};
pub use workload::Simulation;

/// Counts of some observations of a plan.
pub type Artefact = dpscope_engine::Artefact<Plan>;

/// A run whose observations are counted elsewhere, for example by the workers of a page.
pub type Scheduler = dpscope_engine::Scheduler<Plan>;

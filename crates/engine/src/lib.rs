//! Execution of audits: a plan is divided into shards, a backend counts the scores of each shard in
//! histograms, and histograms merge into a result.
//!
//! The statistics are in `dpscope-core`, the sampling and scoring kernels in
//! `dpscope-shaders`. The same code runs natively and in the browser; files, clocks and terminals
//! belong to the caller ([`Control`]).

mod artefact;
pub mod backend;
mod control;
mod curve;
mod digest;
mod error;
mod layout;
mod merge;
pub mod pair;
mod pilot;
mod plan;
mod run;
mod scheduler;
mod shard;
mod tally;
mod trainer;
mod wave;

pub use artefact::{Artefact, SCHEMA};
pub use backend::Backend;
pub use control::{Control, Progress, Unattended};
pub use digest::TrainingDigest;
pub use error::{ArtefactError, EngineError, PlanError};
pub use layout::Layout;
pub use merge::{MergeOptions, merge};
pub use pilot::Pilot;
pub use plan::{Plan, ValidPlan};
pub use run::run;
pub use scheduler::Scheduler;
pub use shard::{ObservationRange, Shard};
pub use tally::{TrainingState, TrainingTally};
pub use trainer::{Trainer, WaveScores};

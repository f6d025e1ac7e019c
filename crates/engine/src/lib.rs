//! A plan becomes shards; a backend turns shards into histograms; histograms merge into a result.
//!
//! No statistics live here: they are in `dpscope-core`, and the sampling and scoring kernels in
//! `dpscope-shaders`. The same code runs natively and in the browser; files, clocks and terminals
//! belong to the caller ([`Control`]).

mod artefact;
pub mod backend;
mod curve;
mod dealer;
mod error;
mod layout;
mod merge;
pub mod pair;
mod plan;
mod run;
mod shard;
mod training;
mod wave;

pub use artefact::{Artefact, SCHEMA};
pub use backend::Backend;
pub use dealer::Dealer;
pub use error::{ArtefactError, EngineError, PlanError};
pub use layout::{Layout, Pilot};
pub use merge::{MergeOptions, merge};
pub use plan::{Plan, ValidPlan};
pub use run::{Control, Progress, Unattended, run};
pub use shard::{ObservationRange, Shard};
pub use training::{Trained, Trainer, TrainingDigest, TrainingState, TrainingTally};

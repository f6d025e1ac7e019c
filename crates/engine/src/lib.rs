//! One execution path for every audit: a plan is divided into units of work, a workload turns units
//! into evidence, and evidence joins by the index of the unit.
//!
//! Waves, devices and their replacement by the CPU, checkpoints, shards, merging, cancellation and
//! progress are here, once. What is computed is a [`Workload`] of another crate; statistics are in
//! `dpscope-core`. The same code runs natively and in the browser; files, clocks and terminals
//! belong to the caller ([`Control`]).

mod artefact;
mod control;
mod digest;
mod error;
mod executor;
#[cfg(feature = "gpu")]
pub mod gpu;
mod merge;
mod plan;
mod run;
mod scheduler;
mod shard;
#[cfg(test)]
mod toy;
mod wave;
mod workload;

pub use artefact::{Artefact, schema_of};
pub use control::{Control, Progress, RunControl, Unattended};
pub use digest::sha256;
pub use dpscope_shaders::FloatMode;
pub use error::{ArtefactError, EngineError, GpuError, ShardError};
pub use merge::{MergeOptions, merge};
pub use plan::{Evidence, Plan, differing_fields, join_by_index};
pub use run::{begin, run};
pub use scheduler::Scheduler;
pub use shard::{Shard, UnitRange};
pub use workload::{Device, NoQueue, Queue, QueueError, Wave, Workload};

//! An audit in shards, for the engine that runs them.

use std::collections::BTreeMap;

use serde::Serialize;

/// The document of `dpscope launch`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LaunchReport {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "dpscope.launch/1")))]
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// What runs the shards: `slurm`, `kubernetes` or `ray`.
    pub engine: &'static str,
    /// Number of shards.
    pub shards: u64,
    /// Device of each shard: `cpu`, `gpu`, or part of a name; all but `cpu` reserve one GPU.
    pub device: String,
    /// CPU cores of each shard.
    pub cpus_per_shard: u16,
    /// Arguments of `dpscope` for every shard, beside --shard, --checkpoint, --out and --threads.
    pub audit: Vec<String>,
    /// Options of `dpscope merge`, as words.
    pub merge: Vec<String>,
    /// The same options by name, without dashes in front, with their values; a flag has none.
    pub merge_options: BTreeMap<String, Vec<String>>,
    /// Files that every shard reads, by their paths.
    pub reads: Vec<String>,
    /// What the run costs; none if it was not measured, or if this machine has no such device.
    pub estimate: Option<LaunchEstimate>,
    /// Script, manifest or lines of Python.
    pub text: String,
}

/// Hours of cores and GPUs that a run needs, from a short measurement on one machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LaunchEstimate {
    /// Results of the whole run: `observations`, or `runs` of a training.
    pub unit: &'static str,
    /// Number of results of the whole run.
    pub results: u64,
    /// What was measured: `cpu`, or the name of the GPU.
    pub device: String,
    /// Measured, per core, or per GPU.
    pub results_per_second: f64,
    /// Threads that were measured.
    pub threads: u16,
    /// How long was measured, in seconds.
    pub measured_seconds: f64,
    /// What each shard needs before its first result, in seconds.
    pub preparation_seconds: f64,
    /// Of all shards.
    pub core_hours: f64,
    /// Of all shards; none on CPUs.
    pub gpu_hours: Option<f64>,
    /// In the unit of --price-per-core-hour and --price-per-gpu-hour; none without them.
    pub price: Option<f64>,
}

//! An audit in shards, for the engine that runs them.

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
    /// CPU cores of each shard.
    pub cpus_per_shard: u16,
    /// Arguments of `dpscope` for every shard, beside --shard, --checkpoint, --out and --threads.
    pub audit: Vec<String>,
    /// Options of `dpscope merge`.
    pub merge: Vec<String>,
    /// Files that every shard reads, by their paths.
    pub reads: Vec<String>,
    /// What the run costs; none if it was not measured.
    pub estimate: Option<LaunchEstimate>,
    /// Script, manifest or lines of Python.
    pub text: String,
}

/// Core-hours of a run, from a short measurement on one machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LaunchEstimate {
    /// Results of the whole run: `observations`, or `runs` of a training.
    pub unit: &'static str,
    /// Number of results of the whole run.
    pub results: u64,
    /// Measured, per core.
    pub results_per_second: f64,
    /// Threads that were measured.
    pub threads: u16,
    /// How long was measured, in seconds.
    pub measured_seconds: f64,
    /// What each shard needs before its first result, in seconds.
    pub preparation_seconds: f64,
    /// Of all shards.
    pub core_hours: f64,
    /// In the unit of --price-per-core-hour; none without one.
    pub price: Option<f64>,
}

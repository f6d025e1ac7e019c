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
    /// Options of `dpscope merge` by name, without dashes, with their values; a flag has none.
    pub merge_options: BTreeMap<String, Vec<String>>,
    /// Files that every shard reads, by their paths.
    pub reads: Vec<String>,
    /// Script, manifest or lines of Python.
    pub text: String,
}

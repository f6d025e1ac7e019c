//! Options of a run: statement, device, files, claim.

use std::path::PathBuf;

use clap::Args;
use dpscope_engine::Shard;

use crate::job::Destination;

use super::{DeviceArgs, ReportArgs, RuleArg, StatementArgs, seed, shard};

/// Options of simulated and trained runs.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) statement: StatementArgs,
    /// How the threshold is chosen.
    #[arg(long, value_enum, default_value = "simultaneous")]
    pub(crate) threshold_rule: RuleArg,
    /// Random seed, below 2^53 [default: fresh entropy].
    #[arg(long, value_parser = seed)]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    /// Save the state to this file at least once per second, and resume from it if it exists.
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Run only shard i of N (from 1); join the shards with `dpscope merge`.
    #[arg(long, value_name = "i/N", value_parser = shard, requires = "seed")]
    pub(crate) shard: Option<Shard>,
    /// Write the histograms to this file, for `dpscope merge`.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

impl RunArgs {
    /// Where the run saves its state, and which part of its plan it computes.
    pub(crate) fn destination(&self) -> Destination<'_> {
        let (checkpoint, out) = (self.checkpoint.as_deref(), self.out.as_deref());
        Destination { shard: self.shard, checkpoint, out }
    }
}

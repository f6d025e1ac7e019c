//! Options of a run: statement, device, files, claim.

use std::path::PathBuf;

use clap::Args;
use dpscope_engine::Shard;

use super::{ClaimArgs, DeviceArgs, PlotArgs, RuleArg, ShowArgs, StatementArgs, seed, shard};

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
    pub(crate) plot: PlotArgs,
    #[command(flatten)]
    pub(crate) claim: ClaimArgs,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
}

/// Device, files and format of a run's result.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutputOptions<'a> {
    pub(crate) device: &'a DeviceArgs,
    pub(crate) plot: &'a PlotArgs,
    pub(crate) claim: &'a ClaimArgs,
    pub(crate) show: &'a ShowArgs,
}

impl RunArgs {
    pub(crate) fn output_options(&self) -> OutputOptions<'_> {
        let RunArgs { device, plot, claim, show, .. } = self;
        OutputOptions { device, plot, claim, show }
    }
}

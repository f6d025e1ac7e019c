//! Arguments of a run that is counted here.

use std::path::PathBuf;

use clap::Args;
use dpscope_core::mechanism::BatchedGaussian;
use dpscope_engine::{Plan, Shard};

use super::{ClaimArgs, DeviceArgs, PlotArgs, RuleArg, ShowArgs, StatementArgs, seed, shard};

/// How a run is evaluated, where it is counted and what becomes of it.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) statement: StatementArgs,
    /// How the threshold is chosen.
    #[arg(long, value_enum, default_value = "simultaneous")]
    pub(crate) threshold_rule: RuleArg,
    /// Seed of all random words, below 2^53; fresh entropy if not given.
    #[arg(long, value_parser = seed)]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    /// Save the state here at least once a second; resume from it if it exists.
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Count only shard i of N, counted from 1; the histograms are joined by `dpscope merge`.
    #[arg(long, value_name = "i/N", value_parser = shard, requires = "seed")]
    pub(crate) shard: Option<Shard>,
    /// Write the histograms here, for `dpscope merge`.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) plot: PlotArgs,
    #[command(flatten)]
    pub(crate) claim: ClaimArgs,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
}

/// Where a run is counted and how it is reported, whichever command asks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) device: &'a DeviceArgs,
    pub(crate) plot: &'a PlotArgs,
    pub(crate) claim: &'a ClaimArgs,
    pub(crate) show: &'a ShowArgs,
}

impl RunArgs {
    pub(crate) fn asked(&self) -> Asked<'_> {
        let RunArgs { device, plot, claim, show, .. } = self;
        Asked { device, plot, claim, show }
    }

    /// What is counted.
    pub(crate) fn plan(&self, mechanism: BatchedGaussian, observations: u64, seed: u64) -> Plan {
        Plan {
            mechanism,
            observations,
            delta: self.statement.delta,
            significance: self.statement.significance,
            threshold_rule: self.threshold_rule.into(),
            cuts: Plan::DEFAULT_CUTS,
            seed,
            training: None,
        }
    }
}

//! Arguments of `compare` and `sweep`.

use std::path::PathBuf;

use clap::Args;

use super::{DeviceArgs, PlotArgs, SettingArgs, ShowArgs, StatementArgs, count, seed};

/// What `compare` and `sweep` share.
#[derive(Debug, Args)]
pub(crate) struct TheoryArgs {
    /// Audit as well, with so many simulated observations of both worlds together.
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) observations: Option<u64>,
    /// Seed of all draws, below 2^53; fresh entropy if not given.
    #[arg(long, value_parser = seed)]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) statement: StatementArgs,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
        dpscope compare --noise-multiplier 1 --steps 100\n  \
        dpscope compare --noise-multiplier 1 --steps 100 --observations 1e6")]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) setting: SettingArgs,
    #[command(flatten)]
    pub(crate) theory: TheoryArgs,
    #[command(flatten)]
    pub(crate) plot: PlotArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  dpscope sweep settings.csv --csv table.csv\n\n\
        settings.csv has a heading with noise_multiplier (or sigma), steps (or T), and, where \
        wanted, name, epochs (or E) and delta: one training a line, up to 10,000. Ctrl-C keeps the \
        rows that are finished.")]
pub(crate) struct SweepArgs {
    /// Table of the trainings.
    #[arg(value_name = "SETTINGS.CSV")]
    pub(crate) settings: PathBuf,
    /// Add the exact pair, drawn: a limit and an estimate.
    #[arg(long)]
    pub(crate) pair: bool,
    /// Write the table here.
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) theory: TheoryArgs,
}

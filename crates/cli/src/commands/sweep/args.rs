//! Arguments of `sweep`.

use std::path::PathBuf;

use clap::Args;

use crate::commands::lines::TheoryArgs;

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

//! Arguments of `sweep`.

use std::path::PathBuf;

use clap::Args;

use crate::args::DELTA_ABOVE_0;
use crate::commands::lines::TheoryArgs;

#[derive(Debug, Args)]
#[command(mut_arg("delta", |arg| arg.help(DELTA_ABOVE_0)), after_help = "Example:\n  dpscope sweep settings.csv --csv table.csv\n\n\
        settings.csv has a header line with noise_multiplier (or sigma), steps (or T) or dataset_size \
        (or N) and batch_size (or B), and optionally name, epochs (or E) or total_steps, and delta, \
        and one training run per line, up to 10,000. After Ctrl-C, \
        finished rows are still printed and written.")]
pub(crate) struct SweepArgs {
    /// CSV file of training runs.
    #[arg(value_name = "SETTINGS.CSV")]
    pub(crate) settings: PathBuf,
    /// Add a lower limit and an estimate from draws of the exact pair.
    #[arg(long)]
    pub(crate) pair: bool,
    /// Write the table to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) theory: TheoryArgs,
}

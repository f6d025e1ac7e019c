//! Arguments of `merge`.

use std::path::PathBuf;

use clap::Args;

use crate::args::ReportArgs;
use crate::failure::{Failure, reject_unused_options};

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  dpscope merge shard-*.json --claim 0.72")]
pub(crate) struct MergeArgs {
    /// Artefacts of one plan, in any order.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Write the joined state to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Accept missing observations; the result is then an estimate.
    #[arg(long)]
    pub(crate) allow_gaps: bool,
    /// Accept shards of different float modes.
    #[arg(long)]
    pub(crate) allow_mixed: bool,
    #[command(flatten)]
    pub(crate) table: TableFiles,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

impl MergeArgs {
    /// Refuses the options that only other runs take.
    pub(crate) fn check_taken(&self, taken: &[&str], run: &str) -> Result<(), Failure> {
        let mut options =
            [("--data", self.table.data.is_some()), ("--allow-gaps", self.allow_gaps)];
        options.iter_mut().for_each(|(name, is_given)| *is_given &= !taken.contains(name));
        reject_unused_options(&options, &format!("on runs of {run}"))
    }
}

/// The table of an audit of PATE-GAN.
#[derive(Debug, Args)]
pub(crate) struct TableFiles {
    /// Table of the audit, if PATE-GAN was audited on your own data.
    #[arg(long, value_name = "FILE.csv", requires = "columns")]
    pub(crate) data: Option<PathBuf>,
    /// Columns of these rows.
    #[arg(long, value_name = "FILE.toml", requires = "data")]
    pub(crate) columns: Option<PathBuf>,
}

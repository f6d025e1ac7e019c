//! How a result is printed, and what it is tested against.

use clap::Args;

use super::{ClaimArgs, PageArgs, PlotArgs};

/// Curve files, claim and format of a report.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) plot: PlotArgs,
    #[command(flatten)]
    pub(crate) page: PageArgs,
    #[command(flatten)]
    pub(crate) claim: ClaimArgs,
    /// Print AUC, true positive rates, the epsilon of a Gaussian curve and a bootstrap too; --json
    /// always contains them.
    #[arg(long, conflicts_with = "brief")]
    pub(crate) metrics: bool,
    /// Print only the result and the verdict.
    #[arg(long, conflicts_with_all = ["json", "format"])]
    pub(crate) brief: bool,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
}

/// How the result is printed.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Print one JSON document on stdout.
    #[arg(long)]
    pub(crate) json: bool,
    /// Hide the progress bar.
    #[arg(long)]
    pub(crate) quiet: bool,
}

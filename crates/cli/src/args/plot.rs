//! Arguments for trade-off curves.

use std::path::PathBuf;

use clap::Args;

/// Where the trade-off curves go.
#[derive(Debug, Default, Args)]
pub(crate) struct PlotArgs {
    /// Draw the trade-off curves here, as one self-contained SVG.
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<PathBuf>,
    /// Write the points of the trade-off curves here, as .json or .csv.
    #[arg(long, value_name = "FILE")]
    pub(crate) curves: Option<PathBuf>,
}

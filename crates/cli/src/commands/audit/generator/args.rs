//! Arguments of `audit generator`.

use std::path::PathBuf;

use clap::Args;

use crate::args::{PageArgs, ShowArgs};

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  dpscope audit generator folder\n\n\
        The folder has manifest.toml and one csv per run: with/0000.csv and so on from data with the \
        target row, without/0000.csv and so on from data without it. `dpscope plan generator` writes \
        the manifest and the data, `dpscope generator run` executes the runs.")]
pub(crate) struct GeneratorArgs {
    /// Folder of the manifest and the runs.
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
    /// Draw the scores of evaluated runs to a self-contained SVG file.
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) page: PageArgs,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
}

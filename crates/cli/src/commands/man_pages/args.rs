//! Arguments of `man-pages`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  dpscope man-pages man1")]
pub(crate) struct ManPagesArgs {
    /// Folder for the pages; it is created.
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
}

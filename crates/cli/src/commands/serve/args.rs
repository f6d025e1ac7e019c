//! Arguments of `serve`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  dpscope serve --no-open")]
pub(crate) struct ServeArgs {
    /// The port; 8417 or, where that is taken, any that is free.
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: Option<u16>,
    /// Only print the address.
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Serve the files of this folder instead of those in the program.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) dir: Option<PathBuf>,
}

//! Arguments of `serve`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  dpscope serve --no-open")]
pub(crate) struct ServeArgs {
    /// Port [default: 8417, or any free port if that is in use].
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: Option<u16>,
    /// Print the address without opening a browser.
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Print the address as a JSON document.
    #[arg(long)]
    pub(crate) json: bool,
    /// Serve this folder instead of the built-in app.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) dir: Option<PathBuf>,
}

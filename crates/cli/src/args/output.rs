//! How a result is printed.

use clap::Args;

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

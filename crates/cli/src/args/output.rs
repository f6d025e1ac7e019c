//! How a result is shown.

use clap::Args;

/// How the result is shown.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Print one JSON document on stdout.
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress bar.
    #[arg(long)]
    pub(crate) quiet: bool,
}

//! Arguments of `devices`.

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  dpscope devices --json")]
pub(crate) struct DevicesArgs {
    /// Print one JSON document on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

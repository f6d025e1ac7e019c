//! Arguments of `completions`.

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  dpscope completions bash \\\n    \
        > ~/.local/share/bash-completion/completions/dpscope")]
pub(crate) struct CompletionsArgs {
    /// Shell.
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
    /// Print the script inside one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

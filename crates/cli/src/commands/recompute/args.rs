//! Arguments of `recompute`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  dpscope recompute report.html\n\n\
        A report is consistent if its values and verdicts follow from the counts in it. A page is\n\
        printed again from its JSON and compared. What is not checked is listed. That does not\n\
        make it authentic: whoever changes counts can compute the values that belong to them.\n\n\
        Exit codes: 0 consistent, 2 no report or a truncated one, 5 a value differs, or a report of\n\
        another version, 6 nothing in the report can be checked, or what decides cannot: the bound of\n\
        the headline, or the text of a page that another version wrote.")]
pub(crate) struct RecomputeArgs {
    /// A page of --report, or a document of --json.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Print only the result and the values that differ.
    #[arg(long)]
    pub(crate) brief: bool,
    /// Print one JSON document on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

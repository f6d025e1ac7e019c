//! Reports as pages, in formats of other tools, and recomputed.

#[cfg(unix)]
mod action;
mod exports;
mod pages;
mod recompute;
mod recomputed_pages;

use crate::schemas::documents_of_commands;

/// Commands with a report, one per line of [`documents_of_commands`], in a folder of its inputs.
fn commands() -> impl Iterator<Item = (&'static str, String)> {
    let kinds = [
        "report",
        "one_run",
        "one_shot",
        "pategan",
        "generator",
        "check",
        "comparison",
        "imported",
    ];
    documents_of_commands().into_iter().filter(move |(kind, _)| kinds.contains(kind))
}

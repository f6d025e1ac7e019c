//! Reports as pages, in formats of other tools, and recomputed.

#[cfg(unix)]
mod action;
mod exports;
mod pages;
mod recompute;
mod recomputed_pages;

use crate::schemas::{Document, printed_documents};

/// Whether a document is the report of an audit, a check or a comparison.
pub(crate) fn is_report(kind: &str) -> bool {
    [
        "report",
        "one_run",
        "one_shot",
        "split",
        "pategan",
        "generator",
        "check",
        "comparison",
        "imported",
    ]
    .contains(&kind)
}

/// The printed documents of all commands with a report.
fn documents() -> impl Iterator<Item = &'static Document> {
    printed_documents().iter().filter(|document| is_report(document.kind))
}

/// The words of these commands, and the pages that they wrote.
fn pages_of_commands() -> impl Iterator<Item = (&'static Document, &'static str)> {
    documents().map(|document| (document, document.page.as_deref().expect("a page")))
}

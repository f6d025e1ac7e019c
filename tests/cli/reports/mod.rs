//! Reports as pages, in formats of other tools, and recomputed.

#[cfg(unix)]
mod action;
mod exports;
mod pages;
mod recompute;
mod recomputed_pages;

use crate::schemas::{Document, documents_of_commands, printed_documents};

/// Whether a document is the report of an audit, a check or a comparison.
fn is_report(kind: &str) -> bool {
    ["report", "one_run", "one_shot", "pategan", "generator", "check", "comparison", "imported"]
        .contains(&kind)
}

/// Commands with a report, one per line of [`documents_of_commands`], in a folder of its inputs.
fn commands() -> impl Iterator<Item = (&'static str, String)> {
    documents_of_commands().into_iter().filter(|(kind, _)| is_report(kind))
}

/// The printed documents of [`commands`].
fn documents() -> impl Iterator<Item = &'static Document> {
    printed_documents().iter().filter(|document| is_report(document.kind))
}

//! The answer of a report: the part of a document that is the same for every kind.

use serde::Serialize;

use crate::document::{Block, Document, Section};
use crate::summary::{ListedFinding, ListedValue, Summary, TestedClaim};

/// What a report says, whatever its kind: it follows from the rest of the document.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Answer {
    /// The result in one sentence.
    pub headline: String,
    /// Values of ε; the first is the result, where the report has one.
    pub values: Vec<ListedValue>,
    /// Claims and limits with their verdicts.
    pub tests: Vec<TestedClaim>,
    /// What was found.
    pub findings: Vec<ListedFinding>,
    /// What a reader sees, in the order of the text, without the facts of the run.
    pub rows: Vec<AnswerRow>,
}

/// A labelled paragraph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnswerRow {
    /// What it is about.
    pub section: Section,
    /// Label of the row; empty if it continues the row before.
    pub label: String,
    /// The paragraph.
    pub text: String,
}

impl Answer {
    pub(crate) fn new(summary: Summary, document: &Document) -> Self {
        let Summary { headline, values, tests, findings, .. } = summary;
        let parts = document.parts().iter().filter(|part| part.section != Section::Reproduction);
        let rows = parts.filter_map(|part| match &part.block {
            Block::Row { label, text } | Block::Detail { label, text } if !text.is_empty() => {
                let (label, text) = (label.clone(), text.clone());
                Some(AnswerRow { section: part.section, label, text })
            }
            _ => None,
        });
        Answer { headline, values, tests, findings, rows: rows.collect() }
    }
}

/// A report with its answer: the document of `--json`.
#[derive(Debug, Serialize)]
pub struct Answered<'a, R> {
    #[serde(flatten)]
    report: &'a R,
    answer: Answer,
}

impl<'a, R> Answered<'a, R> {
    pub(crate) const fn new(report: &'a R, answer: Answer) -> Self {
        Answered { report, answer }
    }
}

//! Sections of a report.

use serde::Serialize;

/// What a part of a report is about, in the order of pages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Section {
    #[default]
    /// The result, and the verdicts on claim and limit.
    Verdict,
    /// What the result means, and what not.
    Meaning,
    /// What was audited.
    Subject,
    /// What the data indicate, and what to do about it.
    Findings,
    /// Counts, cuts and values.
    Evidence,
    /// What accountants claim and theory proves.
    Theory,
    /// What the audit could have shown.
    Power,
    /// How the result can be obtained again.
    Reproduction,
}

impl Section {
    /// All sections, in the order of pages.
    pub const ALL: [Section; 8] = [
        Section::Verdict,
        Section::Meaning,
        Section::Subject,
        Section::Findings,
        Section::Evidence,
        Section::Theory,
        Section::Power,
        Section::Reproduction,
    ];

    /// The heading.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Section::Verdict => "Verdict",
            Section::Meaning => "What this means",
            Section::Subject => "What was examined",
            Section::Findings => "Findings",
            Section::Evidence => "Evidence",
            Section::Theory => "Theory",
            Section::Power => "What could have been seen",
            Section::Reproduction => "How to reproduce this",
        }
    }
}

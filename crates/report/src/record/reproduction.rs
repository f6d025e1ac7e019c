//! Published results beside ours: one document for every experiment.

use serde::Serialize;
use serde_json::{Map, Value};

use super::RowChart;

/// The document of `dpscope reproduce`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reproduction {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "dpscope.reproduction/3")))]
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// The experiment.
    pub what: String,
    /// Decimal digits.
    pub seed: String,
    /// Sizes and settings of the whole experiment, by name.
    pub facts: Value,
    /// Tables and notes, in the order of the text.
    pub sections: Vec<ReproductionSection>,
    /// What `--plot` draws; none where the experiment has no drawing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chart: Option<RowChart>,
}

impl Reproduction {
    /// A document without a drawing.
    #[must_use]
    pub fn new(what: &str, seed: u64, facts: Value, sections: Vec<ReproductionSection>) -> Self {
        let (schema, version) = ("dpscope.reproduction/3", env!("CARGO_PKG_VERSION"));
        let (what, seed) = (what.to_owned(), seed.to_string());
        Self { schema, version, what, seed, facts, sections, chart: None }
    }
}

/// A paragraph, a table and notes, of which some may be absent.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReproductionSection {
    /// Name of the table; empty without one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Paragraph above the table.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Columns of the table, as printed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<ReproductionColumn>,
    /// Values of each row by name, also of some that are not printed; once where two sections print
    /// columns of one table.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<Map<String, Value>>,
    /// The rows as printed: one text for each column.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub printed: Vec<Vec<String>>,
    /// Legend, findings, and why numbers differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<ReproductionNote>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReproductionColumn {
    /// Its name in [`ReproductionSection::rows`].
    pub id: String,
    /// Its heading.
    pub heading: String,
    /// Whether it is printed at the right edge.
    pub is_right: bool,
}

/// A labelled sentence.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReproductionNote {
    /// What it is about.
    pub label: String,
    /// The sentence.
    pub text: String,
}

//! Reports as documents: sections of lines, labelled rows and tables, from which text, pages and
//! Markdown are made.

mod federated_training;
mod metrics;
mod one_run_training;
mod run_attack;
mod section;
mod theory;
mod training;
mod utility;

pub(crate) use federated_training::add_federated_training;
pub(crate) use metrics::add_metrics;
pub use metrics::metrics_document;
pub(crate) use one_run_training::add_trainings;
pub(crate) use run_attack::RunAttack;
pub use section::Section;
pub(crate) use theory::add_comparison;
pub(crate) use training::add_training;
pub(crate) use utility::add_utility;
pub use utility::utility_document;

use crate::summary::TestedClaim;

/// What the reader can do next, in the words of the front end.
#[derive(Debug, Clone, Copy)]
pub struct Hints {
    /// How to show what an accountant claims.
    pub accountant: &'static str,
    /// How to state the scale of recorded outputs.
    pub output_scale: &'static str,
    /// How to repeat a run with a drawn seed.
    pub seed: &'static str,
}

impl Hints {
    /// For a document that no person reads.
    pub(crate) const NONE: Hints = Hints { accountant: "", output_scale: "", seed: "" };
}

/// Alignment of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// At the left edge.
    Left,
    /// At the right edge.
    Right,
}

/// A part of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// A line of its own.
    Line {
        /// The line.
        text: String,
    },
    /// A sentence on lines of its own.
    Paragraph {
        /// The sentence.
        text: String,
    },
    /// A labelled paragraph; without a label, it goes with the row before it.
    Row {
        /// A word or two.
        label: String,
        /// The paragraph.
        text: String,
    },
    /// A labelled paragraph of pages alone: a text for a terminal is shorter.
    Detail {
        /// A word or two.
        label: String,
        /// The paragraph.
        text: String,
    },
    /// A finding on a line of its own.
    Note {
        /// What was found.
        text: String,
    },
    /// A heading and rows.
    Table {
        /// Headings of the columns.
        columns: Vec<(String, Align)>,
        /// Cells, row by row.
        rows: Vec<Vec<String>>,
    },
    /// A command to copy.
    Command {
        /// The command.
        text: String,
    },
    /// An empty line in text.
    Gap,
}

/// A part with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// The section that it belongs to.
    pub section: Section,
    /// The part.
    pub block: Block,
}

/// A report in words. Its parts have the order of the text; in pages those of a section are together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Document {
    section: Section,
    parts: Vec<Placed>,
}

impl Document {
    /// A document that starts with this line.
    #[must_use]
    pub fn new(headline: &str) -> Self {
        let mut document = Document::default();
        document.line(headline);
        document
    }

    /// All parts.
    #[must_use]
    pub fn parts(&self) -> &[Placed] {
        &self.parts
    }

    /// The parts of a section.
    pub fn section(&self, section: Section) -> impl Iterator<Item = &Block> {
        self.parts.iter().filter(move |part| part.section == section).map(|part| &part.block)
    }

    /// Puts what follows into a section.
    pub(crate) fn open(&mut self, section: Section) {
        self.section = section;
    }

    fn push(&mut self, block: Block) {
        self.parts.push(Placed { section: self.section, block });
    }

    pub(crate) fn line(&mut self, text: &str) {
        self.push(Block::Line { text: text.to_owned() });
    }

    /// A line for each claim and limit.
    pub(crate) fn tests(&mut self, tests: &[TestedClaim]) {
        tests.iter().for_each(|test| self.line(&format!("{}: {}", test.name, test.verdict)));
    }

    /// A document that begins with the result, or with the theory that refutes the claim and then the
    /// result: what is proven comes before what an audit found.
    pub(crate) fn of_audit(refuted_by_theory: Option<&str>, headline: &str) -> Self {
        let Some(proven) = refuted_by_theory else { return Document::new(headline) };
        let mut document = Document::new(proven);
        document.line(headline);
        document
    }

    /// A sentence on lines of its own.
    pub(crate) fn paragraph(&mut self, text: &str) {
        self.push(Block::Paragraph { text: text.to_owned() });
    }

    pub(crate) fn row(&mut self, label: &str, text: &str) {
        self.push(Block::Row { label: label.to_owned(), text: text.to_owned() });
    }

    pub(crate) fn detail(&mut self, label: &str, text: &str) {
        self.push(Block::Detail { label: label.to_owned(), text: text.to_owned() });
    }

    pub(crate) fn table(&mut self, columns: &[(&str, Align)], rows: &[impl AsRef<[String]>]) {
        let columns = columns.iter().map(|(heading, align)| ((*heading).to_owned(), *align));
        let rows = rows.iter().map(|row| row.as_ref().to_vec()).collect();
        self.push(Block::Table { columns: columns.collect(), rows });
    }

    /// A finding, as a line of text.
    pub(crate) fn note(&mut self, text: &str) {
        self.push(Block::Note { text: text.to_owned() });
    }

    pub(crate) fn command(&mut self, text: &str) {
        self.push(Block::Command { text: text.to_owned() });
    }

    pub(crate) fn gap(&mut self) {
        self.push(Block::Gap);
    }
}

//! Reports that are written in every format.

use serde::Serialize;

use crate::document::{self, Document, Hints};
use crate::record::{
    CheckReport, Comparison, GeneratorReport, ImportedReport, OneRunReport, OneShotReport,
    PateGanReport, Report,
};
use crate::summary::{self, Summary};

/// A report that is written in every format.
pub trait Reported: Serialize {
    /// What was tested, found and measured.
    fn summary(&self) -> Summary;

    /// The whole report in words.
    fn document(&self, hints: Hints) -> Document;

    /// What a page shows.
    fn page_document(&self, hints: Hints) -> Document {
        self.document(hints)
    }

    /// The result and the verdicts in words; the whole report where it has no shorter form.
    fn brief_document(&self, hints: Hints) -> Document {
        self.document(hints)
    }
}

impl Reported for Report {
    fn summary(&self) -> Summary {
        summary::report_summary(self)
    }

    fn document(&self, hints: Hints) -> Document {
        document::report_document(self, hints)
    }

    fn brief_document(&self, _: Hints) -> Document {
        document::brief_document(self)
    }

    fn page_document(&self, hints: Hints) -> Document {
        document::report_page(self, hints)
    }
}

impl Reported for OneRunReport {
    fn summary(&self) -> Summary {
        summary::one_run_summary(self)
    }

    fn document(&self, _: Hints) -> Document {
        document::one_run_document(self)
    }

    fn brief_document(&self, _: Hints) -> Document {
        document::one_run_brief_document(self)
    }
}

impl Reported for OneShotReport {
    fn summary(&self) -> Summary {
        summary::one_shot_summary(self)
    }

    fn document(&self, _: Hints) -> Document {
        document::one_shot_document(self)
    }

    fn brief_document(&self, _: Hints) -> Document {
        document::one_shot_brief_document(self)
    }
}

macro_rules! reported {
    ($($report:ty: $summary:ident, $document:ident;)*) => { $(
        impl Reported for $report {
            fn summary(&self) -> Summary {
                summary::$summary(self)
            }

            fn document(&self, _: Hints) -> Document {
                document::$document(self)
            }
        }
    )* };
}

reported! {
    PateGanReport: pategan_summary, pategan_document;
    GeneratorReport: generator_summary, generator_document;
    CheckReport: check_summary, check_document;
    ImportedReport: imported_summary, imported_document;
    Comparison: comparison_summary, comparison_document;
}

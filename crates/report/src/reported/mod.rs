//! Every kind of report: its summary, its document, and its values again.
//!
//! A new kind is a file here and a line in the list of kinds.

mod anytime;
mod check;
mod comparison;
mod drawn;
mod generator;
mod imported;
mod one_run;
mod one_shot;
mod pategan;
#[cfg(test)]
mod tests;
mod two_worlds;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::answer::{Answer, Answered};
use crate::document::{Document, Hints};
use crate::recompute::{Checker, OpenValues, Recomputation, RecomputeError};
use crate::record::{
    AnytimeReport, CheckReport, Comparison, DrawnReport, ErrorReport, GeneratorReport,
    ImportedReport, OneRunReport, OneShotReport, PateGanReport, Report,
};
use crate::summary::Summary;
use crate::text::document_text;

/// A report that is written in every format.
pub trait Reported: Serialize + DeserializeOwned {
    /// Why values of this kind of report do not follow from others in it.
    const OPEN: OpenValues;

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

    /// The whole report as text for a terminal.
    fn text(&self, hints: Hints) -> String {
        document_text(&self.document(hints))
    }

    /// What the report says, in the form that all kinds have in common.
    fn answer(&self) -> Answer {
        Answer::new(self.summary(), &self.document(Hints::NONE))
    }

    /// The document of `--json`.
    fn answered(&self) -> Answered<'_, Self>
    where
        Self: Sized,
    {
        Answered::new(self, self.answer())
    }

    /// Compares the values of a report with what follows from its counts.
    ///
    /// # Errors
    /// A missing field, or impossible counts.
    fn recompute(report: &mut Checker<'_>) -> Result<(), RecomputeError>;
}

/// What is done with a report whose kind only its schema says.
pub(crate) trait ReportVisitor {
    type Output;

    /// Called with the kind.
    fn visit<R: Reported>(self) -> Self::Output;
}

macro_rules! kinds {
    ($($report:ty),*) => {
        const SCHEMAS: &[&str] = &[$(<$report>::SCHEMA),*];

        /// Names of the types that have an answer.
        #[cfg(feature = "schema")]
        pub(crate) fn type_names() -> Vec<String> {
            vec![$(<$report as schemars::JsonSchema>::schema_name().into_owned()),*]
        }

        /// Calls the visitor with the kind of this schema; none if there is no such kind.
        pub(crate) fn visit<V: ReportVisitor>(schema: &str, visitor: V) -> Option<V::Output> {
            match schema {
                $(<$report>::SCHEMA => Some(visitor.visit::<$report>()),)*
                _ => None,
            }
        }
    };
}

kinds!(
    Report,
    OneRunReport,
    OneShotReport,
    AnytimeReport,
    DrawnReport,
    PateGanReport,
    GeneratorReport,
    CheckReport,
    Comparison,
    ImportedReport
);

/// Computes what follows from the counts in a report, and compares it.
///
/// Values are compared bit for bit: reports have the same bits on every platform.
///
/// A bound of the headline that the report does not suffice to compute is in `not_compared`.
///
/// # Guarantee
/// An edit of any number, text or flag that is not in `open` is detected
/// (`tests/cli/reports/recompute.rs::every_edit_is_detected_or_listed_as_open`).
///
/// # Errors
/// [`RecomputeError`]: another document, a missing field, impossible counts.
pub fn recomputed(report: &Value) -> Result<Recomputation, RecomputeError> {
    struct Compared<'a>(&'a Value, &'a str);
    impl ReportVisitor for Compared<'_> {
        type Output = Result<Recomputation, RecomputeError>;

        fn visit<R: Reported>(self) -> Self::Output {
            let Compared(report, schema) = self;
            let mut checker = Checker::new(report);
            R::recompute(&mut checker)?;
            checker.expect_answer(|rest| Some(serde_json::from_value::<R>(rest).ok()?.answer()));
            Ok(checker.finish(schema, &R::OPEN))
        }
    }
    let schema = report.get("schema").and_then(Value::as_str).unwrap_or_default();
    if !schema.starts_with("dpscope.") {
        return Err(RecomputeError::NoReport);
    }
    if schema == ErrorReport::SCHEMA {
        return Err(RecomputeError::ErrorDocument);
    }
    visit(schema, Compared(report, schema)).unwrap_or_else(|| {
        let found = schema.chars().take(80).collect();
        Err(RecomputeError::Schema { found, known: SCHEMAS.join(", ") })
    })
}

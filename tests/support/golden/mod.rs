//! Golden files: values of other codes and methods, and whether the library agrees with them.
//!
//! | file | content |
//! |---|---|
//! | `accounting.json` | ε of training runs, with an `interval` in which the truth lies |
//! | `estimators.json` | ε from counts, rates and scores, with a tolerance per case |
//! | `one_run.json` | bounds of audits of one run: how far a value may lie below and above is stated |
//! | `without_coins.json` | hold-outs, secrets, known odds and draws of a fixed number of canaries, with a tolerance per case |
//! | `metagradient.json` | derivatives of trainings, in f64: equal to 1e-10 of the largest value |
//! | `federated.json` | bounds and estimates from canary directions, with a tolerance per case |
//! | `own_trainer.json` | recorded outputs and uses of a target, with a tolerance per case |
//! | `pate.json` | moments of noisy votes, and ε from them: equal to 1e-9 |
//! | `eps_emp.json` | ε from counts, without a tolerance: equal to 1e-9, the posterior to 1e-6 |
//! | `clopper_pearson.csv` | limits at 40 to 50 digits: rounded outward, and by at most 3e-13 |
//!
//! The kind of a file is recognised by its content. A value of another method, or of a peer that
//! reports no number, is skipped and never counted as passed.

mod accounting;
mod calibrated_score;
mod document;
mod drawn_batches;
mod estimators;
mod federated;
mod federated_training;
mod library;
mod limits;
mod metagradient;
mod one_run;
mod own_trainer;
mod pate;
mod step_limits;
#[cfg(test)]
mod tests;
mod without_coins;

use std::fmt;
use std::path::Path;

pub use document::GoldenError;
pub use library::{
    Answer, Bracket, CoinInput, Counts, FixedSizeValues, GuessInput, Library, OneSide, PairValue,
    Real, Run,
};
pub use metagradient::MetagradientProblem;
pub use pate::VoteMoments;

use document::{Document, Format, json};

/// What became of one expected value.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The library agrees.
    Passed,
    /// It does not, and how.
    Failed(String),
    /// The library does not compute it, and why.
    Skipped(String),
}

/// One expected value of one case.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The case's id.
    pub case: String,
    /// Which of its values.
    pub value: String,
    /// Absolute distance between both values; 0 where the library's lies in the interval.
    pub distance: f64,
    /// The distance in units of the value.
    pub relative: f64,
    /// Whether they agree.
    pub outcome: Outcome,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (case, value) = (&self.case, &self.value);
        match &self.outcome {
            Outcome::Passed => write!(f, "passed   {case}: {value}"),
            Outcome::Failed(how) => write!(f, "FAILED   {case}: {value}: {how}"),
            Outcome::Skipped(why) => write!(f, "skipped  {case}: {value}: {why}"),
        }
    }
}

/// Numbers of values by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// The library agrees.
    pub passed: usize,
    /// It does not.
    pub failed: usize,
    /// Not computed by the library.
    pub skipped: usize,
}

impl Tally {
    /// Counts the findings.
    pub fn of(findings: &[Finding]) -> Self {
        let mut tally = Tally::default();
        for finding in findings {
            match finding.outcome {
                Outcome::Passed => tally.passed += 1,
                Outcome::Failed(_) => tally.failed += 1,
                Outcome::Skipped(_) => tally.skipped += 1,
            }
        }
        tally
    }
}

/// Evaluates the file at `path`; paths of score arrays are relative to its folder.
///
/// # Errors
/// The file cannot be read, has no known format, or a field is missing or malformed.
pub fn evaluate_file(path: &Path, library: &dyn Library) -> Result<Vec<Finding>, GoldenError> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|error| GoldenError::of_file(&name, &error.to_string()))?;
    let folder = path.parent().unwrap_or(Path::new("."));
    evaluate(&text, &name, folder, library)
}

/// A JSON file with the cases of one group only.
///
/// # Errors
/// The text is no JSON with `cases`, or has no such group.
pub fn only_group(text: &str, name: &str, group: &str) -> Result<String, GoldenError> {
    document::only_group(text, name, group)
}

/// Evaluates the text of a golden file.
///
/// # Errors
/// The text has no known format, or a field is missing or malformed.
pub fn evaluate(
    text: &str,
    name: &str,
    folder: &Path,
    library: &dyn Library,
) -> Result<Vec<Finding>, GoldenError> {
    if !text.trim_start().starts_with(['{', '[']) {
        return limits::evaluate(text, name, library);
    }
    let document: Document = json(text, name)?;
    match document.format {
        Format::Accounting => document.each_case(|case| accounting::evaluate(case, library)),
        Format::Estimators => {
            document.each_case(|case| estimators::evaluate(case, folder, library))
        }
        Format::Federated => document.each_case(|case| federated::evaluate(case, folder)),
        Format::OwnTrainer => document.each_case(own_trainer::evaluate),
        Format::OneRun => document.each_case(|case| {
            match case.at("group")?.text().is_ok_and(without_coins::is_group) {
                true => without_coins::evaluate(case),
                false => one_run::evaluate(case, library),
            }
        }),
        Format::Pate => document.each_case(pate::evaluate),
        Format::Metagradient => metagradient::evaluate(&document, library),
        Format::Counts => document.each_case(|case| estimators::evaluate_row(case, library)),
    }
}

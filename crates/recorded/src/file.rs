//! Files in memory, and the columns in them.

use std::fmt::Display;

use dpscope_core::audit::one_run::{ProjectedScores, ScoreMethod};
use dpscope_formats::{Array, Dataset, FormatError, Limits};
use dpscope_report::record::ScoreDirection;

use crate::{FileError, FileProblem};

/// Bytes of a file with its name, and what reading it may cost.
#[derive(Debug, Clone, Copy)]
pub struct File<'a> {
    /// As the reader of a message knows it.
    pub name: &'a str,
    /// Its content.
    pub bytes: &'a [u8],
    /// What reading it may cost.
    pub limits: &'a Limits,
}

impl<'a> File<'a> {
    pub(crate) fn refused(&self, why: impl Display) -> FileError {
        self.error(FileProblem::Content(why.to_string()))
    }

    pub(crate) fn changed(&self, why: impl Display) -> FileError {
        self.error(FileProblem::Changed(why.to_string()))
    }

    pub(crate) fn unreadable(&self, error: FormatError) -> FileError {
        self.error(error.into())
    }

    fn error(&self, problem: FileProblem) -> FileError {
        FileError { file: self.name.to_owned(), problem }
    }

    /// Its text, of at most `most` bytes.
    pub(crate) fn text(&self, most: usize) -> Result<&'a str, FileError> {
        if self.bytes.len() > most {
            return Err(self.refused(format!("is larger than the limit of {most} bytes")));
        }
        std::str::from_utf8(self.bytes).map_err(|_| self.refused("is not text (UTF-8)"))
    }

    pub(crate) fn dataset(&self) -> Result<Dataset<'a>, FileError> {
        let (_, ending) = self.name.rsplit_once(['/', '\\']).unwrap_or(("", self.name));
        let name = if ending == "-" { "stdin.csv" } else { ending };
        Dataset::open(self.bytes, name, self.limits).map_err(|error| self.unreadable(error))
    }

    /// The array with this name, or the only one.
    pub(crate) fn array(&self, name: &str) -> Result<Array, FileError> {
        let dataset = self.dataset()?;
        for name in names_of(name) {
            match dataset.array(name) {
                Err(FormatError::NotFound { .. }) => {}
                array => return array.map_err(|error| self.unreadable(error)),
            }
        }
        dataset.into_only().map_err(|error| match error {
            FormatError::SeveralArrays { .. } => {
                self.refused(format!("{error}: name the one to read `{name}`"))
            }
            other => self.unreadable(other),
        })
    }

    /// One number for each canary; several queries of each are averaged.
    pub(crate) fn averaged(&self, name: &str) -> Result<Vec<f64>, FileError> {
        averaged(self.array(name)?).map_err(|why| self.refused(why))
    }

    /// One score for each canary, larger for an included one.
    pub(crate) fn scores(&self, direction: ScoreDirection) -> Result<Vec<f64>, FileError> {
        let mut scores = self.averaged("scores")?;
        if direction == ScoreDirection::Lower {
            scores.iter_mut().for_each(|score| *score = -*score);
        }
        Ok(scores)
    }

    /// Scores from projections of shape (steps, canaries).
    pub(crate) fn projected(
        &self,
        canaries: usize,
        score: ScoreMethod,
        sampling_rate: f64,
    ) -> Result<ProjectedScores, FileError> {
        let (shape, projections) = self.array("projections")?.into_parts();
        if shape.len() != 2 || shape[1] != canaries {
            return Err(self.refused(format!(
                "has shape {shape:?}; expected (steps, canaries): a row for each step, with a projection \
                 for each of {canaries} canaries"
            )));
        }
        let scores = score.scores(&projections, canaries, sampling_rate);
        scores.map_err(|error| self.refused(error))
    }

    /// Scores of which none is NaN or infinite.
    pub(crate) fn finite_scores(&self, direction: ScoreDirection) -> Result<Vec<f64>, FileError> {
        let scores = self.scores(direction)?;
        finite(&scores).map_err(|(index, score)| {
            self.refused(format!(
                "has the score {score} at index {index}: without coins every canary must have a \
                 finite score"
            ))
        })?;
        Ok(scores)
    }

    /// Whether each canary is included.
    pub(crate) fn coins(&self) -> Result<Vec<bool>, FileError> {
        let coins = self.array("coins")?.into_data();
        let other = coins.iter().enumerate().find(|(_, coin)| ![0.0, 1.0].contains(*coin));
        if let Some((index, value)) = other {
            return Err(self.refused(format!("has {value} at index {index}; coins are 0 or 1")));
        }
        Ok(coins.into_iter().map(|coin| coin != 0.0).collect())
    }

    /// The number of the set of each canary.
    pub(crate) fn sets(&self, canaries: usize) -> Result<Vec<u64>, FileError> {
        let sets = self.array("sets")?.into_data();
        self.check_count("set numbers", sets.len(), canaries)?;
        let is_number = |value: &f64| value.fract() == 0.0 && (0.0..9e15).contains(value);
        if let Some((index, value)) = sets.iter().enumerate().find(|(_, value)| !is_number(value)) {
            let why = format!("has {value} at index {index}; set numbers are integers from 0 on");
            return Err(self.refused(why));
        }
        Ok(sets.into_iter().map(|set| set as u64).collect())
    }

    pub(crate) fn check_count(
        &self,
        what: &str,
        found: usize,
        coins: usize,
    ) -> Result<(), FileError> {
        if found == coins {
            return Ok(());
        }
        let why = format!("has {found} {what}, and there are {coins} coins");
        Err(self.refused(format!("{why}: pass one for each canary")))
    }
}

/// The names under which files of other tools have an array, the usual one first.
fn names_of(name: &str) -> impl Iterator<Item = &str> {
    let others: &[&str] = match name {
        "scores" => &["score"],
        "coins" => &["coin", "member", "members", "membership", "is_member", "included"],
        _ => &[],
    };
    std::iter::once(name).chain(others.iter().copied())
}

/// One number for each canary; several queries of each, in rows, are averaged.
///
/// # Errors
/// A shape that is neither (canaries) nor (queries, canaries).
pub fn averaged(array: Array) -> Result<Vec<f64>, String> {
    let (shape, data) = array.into_parts();
    let axes: Vec<usize> = shape.iter().copied().filter(|&length| length > 1).collect();
    match axes[..] {
        [] | [_] => Ok(data),
        [queries, canaries] if shape.len() == 2 => {
            let mean = |canary: usize| {
                let sum: f64 = data.iter().skip(canary).step_by(canaries).sum();
                sum / queries as f64
            };
            Ok((0..canaries).map(mean).collect())
        }
        _ => Err(format!(
            "has shape {shape:?}; expected one score per canary, or (queries, canaries)"
        )),
    }
}

/// The first number that is NaN or infinite, with its index, as an error.
///
/// # Errors
/// Index and number.
pub fn finite(numbers: &[f64]) -> Result<(), (usize, f64)> {
    let found = numbers.iter().enumerate().find(|(_, number)| !number.is_finite());
    found.map_or(Ok(()), |(index, &number)| Err((index, number)))
}

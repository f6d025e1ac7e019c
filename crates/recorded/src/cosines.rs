//! Files of cosines.

use std::fmt::Display;

use dpscope_core::audit::one_shot::{CosineNull, NullTails, OneShotError};
use dpscope_formats::FormatError;

use crate::one_run::digest;
use crate::{File, FileError, FileProblem, RecordedError};

/// Cosines of canaries, NaN for one without.
#[derive(Debug, Clone)]
pub struct Cosines {
    /// Name of the file.
    file: String,
    /// By the number of the canary.
    values: Vec<f64>,
    /// Numbers of canaries in the file, in its order; none where the order is the number.
    canaries: Option<Vec<u64>>,
}

/// Above, a number of a canary is no integer that f64 distinguishes.
const MOST_CANARIES: f64 = 9e15;

impl Cosines {
    /// One cosine per canary, or columns `canary` and `cosine`. A file without any is that of a training
    /// without canaries.
    ///
    /// # Errors
    /// A file that cannot be read, another shape, or numbers of canaries that are none.
    pub fn read(file: &File<'_>) -> Result<Self, FileError> {
        let name = file.name.to_owned();
        let none = |error: &FormatError| {
            matches!(error, FormatError::NoRows | FormatError::EmptyArray { .. })
        };
        let dataset = match file.dataset() {
            Err(FileError { problem: FileProblem::Format(error), .. }) if none(&error) => {
                return Ok(Self { file: name, values: Vec::new(), canaries: None });
            }
            dataset => dataset?,
        };
        let has = |name: &str| dataset.names().contains(&name);
        let columns = dataset.names().len();
        if !has("cosine") {
            let array = dataset.into_only().map_err(|error| file.unreadable(error))?;
            if columns > 1 || array.shape().iter().filter(|&&length| length > 1).count() > 1 {
                return Err(file.refused(format!(
                    "has shape {:?}; expected one cosine per canary, or the columns canary and cosine",
                    array.shape()
                )));
            }
            return Ok(Self { file: name, values: array.into_data(), canaries: None });
        }
        if let Some(name) = ["weight", "loudness"].into_iter().find(|&name| has(name)) {
            return Err(file.refused(format!(
                "has the column {name}, which would not be used: only a plan that was committed before \
                 the training says what canaries declare; remove the column"
            )));
        }
        let column = |name| dataset.array(name).map_err(|error| file.unreadable(error));
        let values = column("cosine")?.into_data();
        let canaries = has("canary").then(|| column("canary")).transpose()?;
        let canaries = canaries.map(|array| indices(array.data())).transpose();
        let canaries = canaries.map_err(|why| file.refused(why))?;
        Ok(Self { file: name, values, canaries })
    }

    /// Number of cosines.
    #[must_use]
    pub const fn number(&self) -> u64 {
        self.values.len() as u64
    }

    /// Refuses a file without cosines.
    ///
    /// # Errors
    /// What to change.
    pub fn check_any(&self) -> Result<(), FileError> {
        match self.number() {
            0 => Err(self.refused(
                "has no cosines; if no canary took part in the training, state that their number is 0",
            )),
            _ => Ok(()),
        }
    }

    /// Refuses cosines of more canaries than were inserted, and canaries with two cosines.
    ///
    /// # Errors
    /// The row and what to change.
    pub fn check(&self, inserted: u64) -> Result<(), FileError> {
        if self.number() > inserted {
            return Err(self.refused(format!(
                "has {} cosines, but only {inserted} canaries were inserted; pass cosines of \
                 inserted canaries only",
                self.number()
            )));
        }
        let Some(canaries) = &self.canaries else { return Ok(()) };
        if let Some(row) = canaries.iter().position(|&canary| canary >= inserted) {
            return Err(self.refused(format!(
                "has canary {} in row {}, but only {inserted} canaries were inserted (numbered \
                 from 0); correct the row, or the number of canaries",
                canaries[row],
                row + 1
            )));
        }
        let mut sorted = canaries.clone();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(self.refused(format!(
                "has canary {} twice; keep one row, by a rule fixed before the training",
                pair[0]
            ))),
            None => Ok(()),
        }
    }

    /// The cosines that are numbers.
    #[must_use]
    pub fn known(&self) -> Vec<f64> {
        self.values.iter().copied().filter(|cosine| !cosine.is_nan()).collect()
    }

    /// Canaries and their cosines, in the order of the rows.
    pub fn numbered(&self) -> impl Iterator<Item = (u64, f64)> + Clone + '_ {
        let canary =
            |row: usize| self.canaries.as_ref().map_or(row as u64, |canaries| canaries[row]);
        self.values.iter().enumerate().map(move |(row, &cosine)| (canary(row), cosine))
    }

    /// The digest of every cosine in the order of the canaries, whatever that of the rows; a plan is
    /// audited with one.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut rows: Vec<usize> = (0..self.values.len()).collect();
        if let Some(canaries) = &self.canaries {
            rows.sort_by_key(|&row| canaries[row]);
        }
        let by_canary: Vec<f64> = rows.into_iter().map(|row| self.values[row]).collect();
        digest(&by_canary)
    }

    /// ln p of each known cosine, of the maximum over so many server rounds.
    ///
    /// # Errors
    /// A cosine outside \[−1, 1\], or no server round.
    pub fn tails(&self, null: &CosineNull, server_rounds: u64) -> Result<NullTails, RecordedError> {
        let known = self.values.iter().enumerate().filter(|(_, cosine)| !cosine.is_nan());
        let tail = |(row, &cosine): (usize, &f64)| {
            let tail = null.ln_tail_of_maximum(cosine, server_rounds);
            tail.map_err(|error| match error {
                OneShotError::Cosine { .. } => RecordedError::File(self.refused(format!(
                    "has cosine {cosine} in row {}; it must lie in [-1, 1]; divide the dot \
                     product by both norms",
                    row + 1
                ))),
                other => other.into(),
            })
        };
        Ok(NullTails::new(known.map(tail).collect::<Result<_, _>>()?)?)
    }

    fn refused(&self, why: impl Display) -> FileError {
        FileError { file: self.file.clone(), problem: FileProblem::Content(why.to_string()) }
    }
}

fn indices(numbers: &[f64]) -> Result<Vec<u64>, String> {
    let is_index = |number: &f64| number.fract() == 0.0 && (0.0..MOST_CANARIES).contains(number);
    match numbers.iter().position(|number| !is_index(number)) {
        Some(row) => Err(format!(
            "has canary {} in row {}; canary numbers must be integers starting at 0",
            numbers[row],
            row + 1
        )),
        None => Ok(numbers.iter().map(|&number| number as u64).collect()),
    }
}

//! Files of cosines.

use std::path::Path;

use dpscope_core::audit::one_shot::{CosineNull, NullTails, OneShotError};
use dpscope_formats::FormatError;

use crate::commands::audit::recorded::with_dataset;
use crate::failure::Failure;

/// Cosines of canaries, NaN for one without.
pub(super) struct Cosines {
    /// By the number of the canary.
    values: Vec<f64>,
    /// Numbers of canaries in the file, in its order; none where the order is the number.
    canaries: Option<Vec<u64>>,
}

/// Above, a number of a canary is no integer that f64 distinguishes.
const MOST_CANARIES: f64 = 9e15;

impl Cosines {
    /// One cosine per canary, or columns `canary` and `cosine`.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let about = |error: FormatError| Failure::from(error).about(path);
        with_dataset(path, |dataset| {
            let has = |name: &str| dataset.names().contains(&name);
            let columns = dataset.names().len();
            if !has("cosine") {
                let array = dataset.into_only().map_err(about)?;
                if columns > 1 || array.shape().iter().filter(|&&length| length > 1).count() > 1 {
                    let problem = format!(
                        "has shape {:?}; expected one cosine per canary, or the columns canary and cosine",
                        array.shape()
                    );
                    return Err(Failure::input(problem).about(path));
                }
                return Ok(Self { values: array.into_data(), canaries: None });
            }
            let has_canaries = has("canary");
            let values = dataset.array("cosine").map_err(about)?.into_data();
            let canaries = has_canaries.then(|| dataset.array("canary")).transpose();
            let canaries = canaries.map_err(about)?.map(|array| indices(array.data()));
            let canaries = canaries.transpose().map_err(|failure| failure.about(path))?;
            Ok(Self { values, canaries })
        })
    }

    /// Number of cosines.
    pub(super) fn len(&self) -> u64 {
        self.values.len() as u64
    }

    /// Refuses cosines of more canaries than were inserted, and canaries with two cosines.
    pub(super) fn check(&self, inserted: u64, path: &Path) -> Result<(), Failure> {
        let refuse = |problem: String| Err(Failure::input(problem).about(path));
        if self.len() > inserted {
            return refuse(format!(
                "has {} cosines, but only {inserted} canaries were inserted; pass cosines of \
                 inserted canaries only",
                self.len()
            ));
        }
        let Some(canaries) = &self.canaries else { return Ok(()) };
        if let Some(row) = canaries.iter().position(|&canary| canary >= inserted) {
            return refuse(format!(
                "has canary {} in row {}, but only {inserted} canaries were inserted (numbered \
                 from 0); correct the row, or pass --canaries",
                canaries[row],
                row + 1
            ));
        }
        let mut sorted = canaries.clone();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => refuse(format!(
                "has canary {} twice; keep one row, by a rule fixed before the training",
                pair[0]
            )),
            None => Ok(()),
        }
    }

    /// The cosines that are numbers.
    pub(super) fn known(&self) -> Vec<f64> {
        self.values.iter().copied().filter(|cosine| !cosine.is_nan()).collect()
    }

    /// Canaries and their cosines, in the order of the rows.
    pub(super) fn numbered(&self) -> impl Iterator<Item = (u64, f64)> + Clone + '_ {
        let canary =
            |row: usize| self.canaries.as_ref().map_or(row as u64, |canaries| canaries[row]);
        self.values.iter().enumerate().map(move |(row, &cosine)| (canary(row), cosine))
    }

    /// Every cosine in the order of the canaries, whatever that of the rows.
    pub(super) fn by_canary(&self) -> Vec<f64> {
        let mut rows: Vec<usize> = (0..self.values.len()).collect();
        if let Some(canaries) = &self.canaries {
            rows.sort_by_key(|&row| canaries[row]);
        }
        rows.into_iter().map(|row| self.values[row]).collect()
    }

    /// ln p of each known cosine, of the maximum over so many server rounds.
    pub(super) fn tails(
        &self,
        null: &CosineNull,
        server_rounds: u64,
        path: &Path,
    ) -> Result<NullTails, Failure> {
        let mut ln_p = Vec::with_capacity(self.values.len());
        for (row, &cosine) in self.values.iter().enumerate().filter(|(_, cosine)| !cosine.is_nan())
        {
            let tail =
                null.ln_tail_of_maximum(cosine, server_rounds).map_err(|error| match error {
                    OneShotError::Cosine { .. } => Failure::input(format!(
                        "has cosine {cosine} in row {}; it must lie in [-1, 1]; divide the dot \
                     product by both norms",
                        row + 1
                    ))
                    .about(path),
                    other => Failure::input(other),
                })?;
            ln_p.push(tail);
        }
        NullTails::new(ln_p).map_err(Failure::input)
    }
}

fn indices(numbers: &[f64]) -> Result<Vec<u64>, Failure> {
    let is_index = |number: &f64| number.fract() == 0.0 && (0.0..MOST_CANARIES).contains(number);
    match numbers.iter().position(|number| !is_index(number)) {
        Some(row) => Err(Failure::input(format!(
            "has canary {} in row {}; canary numbers must be integers starting at 0",
            numbers[row],
            row + 1
        ))),
        None => Ok(numbers.iter().map(|&number| number as u64).collect()),
    }
}

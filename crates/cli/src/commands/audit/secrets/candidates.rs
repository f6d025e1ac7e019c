//! Scores of candidate values, read in parts: they may be larger than the memory.

use std::fs::File;
use std::path::Path;

use dpscope_core::audit::drawn::{CandidateScores, DrawnFinding, SecretGuesses};
use dpscope_formats::{FormatError, Limits, StoredArray};
use dpscope_report::number::grouped;

use super::design::Design;
use crate::commands::audit::recorded::table_of;
use crate::failure::Failure;
use crate::files::{limits, name_of, remember_input};

/// Scores that are read at once.
const PART: u64 = 1 << 18;
/// Longer lists are those of an attack that knows nothing, and each score takes longer.
const MOST_LISTED: u64 = 1 << 16;

/// Guesses by the scores, and what the scores show.
pub(super) fn guesses(
    design: &Design,
    path: &Path,
) -> Result<(SecretGuesses, Vec<DrawnFinding>), Failure> {
    let list_length = design.list_length.unwrap_or(1);
    if list_length > MOST_LISTED {
        return Err(Failure::input(format!(
            "--list-length is {list_length}; of --candidates, at most {MOST_LISTED}"
        )));
    }
    let sign = if design.is_lower { -1.0 } else { 1.0 };
    let mut scores = CandidateScores::new(list_length as usize);
    let columns = each_row(path, |row, part, ends| add(&mut scores, row, part, ends, sign))
        .map_err(|failure| if failure.file.is_some() { failure } else { failure.about(path) })?;
    let expected = design.decoys.map(|decoys| decoys + 1).or(design.values);
    if let Some(expected) = expected.filter(|&expected| expected != columns) {
        return Err(Failure::input(format!(
            "has {} scores per record; expected {}, {}",
            grouped(columns),
            grouped(expected),
            match (design.values, &design.planned) {
                (Some(_), None) => {
                    "one for each value: leave --values out if the others are decoys"
                }
                (Some(_), Some(_)) => "one for each value, as the plan has no decoys",
                (None, _) => "one for the true value and for each planned decoy",
            }
        ))
        .about(path));
    }
    design.check_records(scores.ranks().len()).map_err(|failure| failure.about(path))?;
    let decoys = design.values.is_none();
    let is_of_lists = design.list_length.or(design.guesses).is_some();
    let found = match is_of_lists {
        true => scores.lists(decoys, design.guesses),
        false => design.of_ranks(scores.ranks(), (columns, decoys)),
    };
    Ok((found.map_err(Failure::input)?, scores.findings()))
}

/// Adds a part of a row.
fn add(
    scores: &mut CandidateScores,
    row: u64,
    part: &mut [f64],
    (is_first, is_last): (bool, bool),
    sign: f64,
) -> Result<(), Failure> {
    if part.iter().any(|score| score.is_nan()) {
        return Err(Failure::input(format!(
            "has NaN among the scores of record {row}, counted from 0; give every candidate a score"
        )));
    }
    part.iter_mut().for_each(|score| *score *= sign);
    match part.split_first() {
        Some((&truth, others)) if is_first => {
            scores.begin(truth);
            scores.add(others);
        }
        _ => scores.add(part),
    }
    if is_last {
        scores.end();
    }
    Ok(())
}

/// Calls `add` with parts of the rows in order, each with whether it is the first and the last of its row, and
/// returns the number of columns.
fn each_row(
    path: &Path,
    mut add: impl FnMut(u64, &mut [f64], (bool, bool)) -> Result<(), Failure>,
) -> Result<u64, Failure> {
    if let Some((mut file, array)) = stored(path)? {
        let (rows, columns) = table(array.shape())?;
        for row in 0..rows {
            for first in (0..columns).step_by(PART as usize) {
                let count = PART.min(columns - first);
                let mut part = array.read(&mut file, row * columns + first, count as usize)?;
                add(row, &mut part, (first == 0, first + count == columns))?;
            }
        }
        return Ok(columns);
    }
    let (shape, mut data) = table_of(path, "candidates")?.1.into_parts();
    let shape: Vec<u64> = shape.iter().map(|&length| length as u64).collect();
    let (_, columns) = table(&shape)?;
    for (row, part) in data.chunks_mut(columns as usize).enumerate() {
        add(row as u64, part, (true, true))?;
    }
    Ok(columns)
}

/// Records and candidates of each.
fn table(shape: &[u64]) -> Result<(u64, u64), Failure> {
    match *shape {
        [rows, columns] if rows > 0 && columns > 1 => Ok((rows, columns)),
        _ => Err(Failure::input(format!(
            "has shape {shape:?}; expected (records, candidates): a row per record, the true value first"
        ))),
    }
}

/// The only array of a file that can be read in parts; none if its format has to be read as a whole.
fn stored(path: &Path) -> Result<Option<(File, StoredArray)>, Failure> {
    let Ok(mut file) = File::open(path) else {
        return Ok(None); // the reader of whole files says why
    };
    // nothing is read as a whole
    let limits = Limits { max_bytes: 1 << 50, max_elements: 1 << 48, ..limits() };
    match StoredArray::all_of(&mut file, &name_of(path), &limits) {
        Ok(mut arrays) if arrays.len() == 1 => {
            remember_input(path);
            Ok(arrays.pop().map(|array| (file, array)))
        }
        Ok(_) | Err(FormatError::NotInParts { .. } | FormatError::UnknownFormat { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

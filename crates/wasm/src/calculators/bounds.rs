//! The accountants: one value, or columns of them.

use dpscope_core::accounting::{
    Accountant, Accounted, AccountingResult, BallsInBins, Deterministic, Given, PersistentShuffle,
    Poisson, Query, Shuffle, ShuffleMethod, Training,
};
use wasm_bindgen::prelude::*;

use crate::failure::Failure;
use crate::plain::{JsResult, to_js};
use crate::question::{self, named};
use crate::record::whole;

/// Most rows of a table.
const MOST_ROWS: usize = 100_000;

/// A row of the comparison of accountants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Row {
    Poisson,
    BallsInBins,
    Deterministic,
    Shuffle(ShuffleMethod),
    PersistentShuffle,
}

impl Row {
    pub(crate) const NAMES: [(&'static str, Row); 7] = [
        ("poisson", Row::Poisson),
        ("balls-in-bins", Row::BallsInBins),
        ("deterministic", Row::Deterministic),
        ("shuffle-max-slice", Row::Shuffle(ShuffleMethod::MaxSlice)),
        ("shuffle-sum", Row::Shuffle(ShuffleMethod::Sum)),
        ("shuffle-best", Row::Shuffle(ShuffleMethod::Best)),
        ("persistent-shuffle", Row::PersistentShuffle),
    ];

    pub(crate) fn named(name: &str) -> Result<Row, Failure> {
        named("row", &Row::NAMES, name)
    }

    /// From above, but for shuffles, of which only lower bounds are their own.
    pub(crate) fn bound(self, training: Training, given: Given) -> AccountingResult {
        let (upper, lower) = (Query::upper(training, given), Query::lower(training, given));
        match self {
            Row::Poisson => Poisson.account(&upper),
            Row::BallsInBins => BallsInBins.account(&upper),
            Row::Deterministic => Deterministic.account(&upper),
            Row::Shuffle(method) => Shuffle(method).account(&lower),
            Row::PersistentShuffle => PersistentShuffle(ShuffleMethod::Best).account(&lower),
        }
    }
}

/// What an accountant proves: an upper bound for `poisson`, `balls-in-bins` and `deterministic`, which
/// covers every shuffle as well; a lower bound for the shuffles.
///
/// # Errors
/// A `Failure` that names the input.
#[wasm_bindgen(unchecked_return_type = "Accounted")]
pub fn bound(
    #[wasm_bindgen(unchecked_param_type = "Row")] row: &str,
    #[wasm_bindgen(unchecked_param_type = "Setting")] setting: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "At")] at: &JsValue,
) -> JsResult {
    let found: Accounted =
        Row::named(row)?.bound(question::setting(setting)?, question::at(at)?)?;
    to_js(&found)
}

/// ε of many trainings, as [`bound`]; NaN where there is none.
///
/// # Errors
/// An unknown row; columns of different lengths, or longer than 100,000.
#[wasm_bindgen]
pub fn bound_columns(
    #[wasm_bindgen(unchecked_param_type = "Row")] row: &str,
    noise_multipliers: &[f64],
    steps: &[f64],
    epochs: &[f64],
    deltas: &[f64],
) -> Result<Vec<f64>, Failure> {
    let (row, rows) = (Row::named(row)?, noise_multipliers.len());
    for (name, column) in [("steps", steps), ("epochs", epochs), ("deltas", deltas)] {
        if column.len() != rows {
            return Err(Failure::input(name, &["must be as long as noise_multipliers"]));
        }
    }
    if rows > MOST_ROWS {
        let allowed = "a column of at most 100000 numbers";
        return Err(Failure::outside("noise_multipliers", rows as f64, allowed));
    }
    let epsilon = |index: usize| -> Option<f64> {
        let training = Training {
            noise_multiplier: *noise_multipliers.get(index)?,
            steps_per_epoch: whole("steps", *steps.get(index)?, 1).ok()?,
            epochs: whole("epochs", *epochs.get(index)?, 1).ok()?,
            sampling_rate: None,
        };
        let found = row.bound(training, Given::Delta(*deltas.get(index)?));
        Some(found.ok()?.epsilon)
    };
    Ok((0..rows).map(|index| epsilon(index).unwrap_or(f64::NAN)).collect())
}

//! The accountants: one value, or columns of them.

use dpscope_core::accounting::Directions;
use dpscope_core::theory::{Accounted, At, Found, Kind, Setting, ShuffleMethod};
use wasm_bindgen::prelude::*;

use super::{Made, to_js};
use crate::failure::Failure;
use crate::record::{Record, needed, whole};

/// Most rows of a table.
const MOST_ROWS: usize = 100_000;

/// Reads a training.
pub(crate) fn setting(value: &JsValue) -> Result<Setting, Failure> {
    let record = Record::read(value, "setting", &["noise_multiplier", "steps", "epochs"])?;
    Ok(Setting {
        noise_multiplier: needed(record.number("noise_multiplier")?, "noise_multiplier")?,
        steps: needed(record.whole("steps", 1)?, "steps")?,
        epochs: needed(record.whole("epochs", 1)?, "epochs")?,
    })
}

/// Reads which of ε and δ is given.
pub(crate) fn at(value: &JsValue) -> Result<At, Failure> {
    let record = Record::read(value, "at", &["delta", "epsilon"])?;
    match (record.number("delta")?, record.number("epsilon")?) {
        (Some(delta), None) => Ok(At::Delta(delta)),
        (None, Some(epsilon)) => Ok(At::Epsilon(epsilon)),
        _ => Err(Failure::input("at", "give delta or epsilon, one of them".to_owned())),
    }
}

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
        super::named("row", &Row::NAMES, name)
    }

    /// From above, but for shuffles, of which only lower bounds are their own.
    pub(crate) fn bound(self, setting: Setting, at: At) -> Found {
        match self {
            Row::Poisson => setting.poisson(at),
            Row::BallsInBins => setting.balls_in_bins(at, Kind::Upper, Directions::Both),
            Row::Deterministic => setting.deterministic(at),
            Row::Shuffle(method) => setting.shuffle_lower(at, method),
            Row::PersistentShuffle => setting.persistent_shuffle_lower(at, ShuffleMethod::Best),
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
) -> Made {
    let found: Accounted = Row::named(row)?.bound(self::setting(setting)?, self::at(at)?)?;
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
            let message = format!("{name} has {} numbers, not {rows}", column.len());
            return Err(Failure::input(name, message));
        }
    }
    if rows > MOST_ROWS {
        let allowed = "a column of at most 100000 numbers";
        return Err(Failure::outside("noise_multipliers", rows as f64, allowed));
    }
    let epsilon = |index: usize| -> Option<f64> {
        let setting = Setting {
            noise_multiplier: *noise_multipliers.get(index)?,
            steps: whole("steps", *steps.get(index)?, 1).ok()?,
            epochs: whole("epochs", *epochs.get(index)?, 1).ok()?,
        };
        let found = row.bound(setting, At::Delta(*deltas.get(index)?));
        Some(found.ok()?.epsilon)
    };
    Ok((0..rows).map(|index| epsilon(index).unwrap_or(f64::NAN)).collect())
}

//! The accountants: one value, or columns of them.

use dpscope_core::accounting::{
    Accountant, Accounted, BallsInBins, Deterministic, Given, PersistentShuffle, Poisson, Query,
    Shuffle, ShuffleMethod, Training,
};
use dpscope_report::words::KnownBound;
use wasm_bindgen::prelude::*;

use crate::failure::Failure;
use crate::input::{given, integer, named, read};
use crate::output::{JsResult, to_js};

/// Rows of a table.
const MAX_ROWS: usize = 100_000;

/// An upper bound, but for shuffles, of which only lower bounds are their own.
fn proven(bound: KnownBound, training: Training, given: Given) -> Result<Accounted, Failure> {
    let (upper, lower) = (Query::upper(training, given), Query::lower(training, given));
    Ok(match bound {
        KnownBound::Poisson => Poisson.account(&upper),
        KnownBound::BallsInBins => BallsInBins.account(&upper),
        KnownBound::Deterministic => Deterministic.account(&upper),
        KnownBound::ShuffleMaxSlice => Shuffle(ShuffleMethod::MaxSlice).account(&lower),
        KnownBound::ShuffleSum => Shuffle(ShuffleMethod::Sum).account(&lower),
        KnownBound::ShuffleBest => Shuffle(ShuffleMethod::Best).account(&lower),
        KnownBound::PersistentShuffle => PersistentShuffle(ShuffleMethod::Best).account(&lower),
        KnownBound::PairLower => return Err(Failure::input("row", &["is drawn; call pair"])),
        _ => return Err(Failure::input("row", &["is of uniform subsets; call subset_bound"])),
    }?)
}

/// What an accountant proves: an upper bound for `poisson`, `balls-in-bins` and `deterministic`, which
/// covers every shuffle as well; a lower bound for the shuffles.
///
/// # Errors
/// A `Failure` that names the input.
#[wasm_bindgen(unchecked_return_type = "Accounted")]
pub fn bound(
    #[wasm_bindgen(unchecked_param_type = "KnownBound")] row: &str,
    #[wasm_bindgen(unchecked_param_type = "Training")] training: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "Given")] at: &JsValue,
) -> JsResult {
    let found = proven(named("row", row)?, read(training, "training")?, given(at)?)?;
    to_js(&found)
}

/// ε of many training runs, as [`bound`]; NaN where there is none. The sampling rate of Poisson batches is
/// `uses_per_epoch` over the steps, 1 over them if omitted.
///
/// # Errors
/// An unknown row; columns of different lengths, or longer than 100,000.
#[wasm_bindgen]
pub fn bound_columns(
    #[wasm_bindgen(unchecked_param_type = "KnownBound")] row: &str,
    noise_multipliers: &[f64],
    steps: &[f64],
    epochs: &[f64],
    deltas: &[f64],
    uses_per_epoch: Option<f64>,
) -> Result<Vec<f64>, Failure> {
    let (row, rows): (KnownBound, usize) = (named("row", row)?, noise_multipliers.len());
    for (name, column) in [("steps", steps), ("epochs", epochs), ("deltas", deltas)] {
        if column.len() != rows {
            return Err(Failure::input(name, &["must be as long as noise_multipliers"]));
        }
    }
    if rows > MAX_ROWS {
        let allowed = "a column of at most 100000 numbers";
        return Err(Failure::outside("noise_multipliers", rows as f64, allowed));
    }
    let epsilon = |index: usize| -> Option<f64> {
        let steps_per_epoch = integer("steps", *steps.get(index)?, 1).ok()?;
        let training = Training {
            noise_multiplier: *noise_multipliers.get(index)?,
            steps_per_epoch,
            epochs: integer("epochs", *epochs.get(index)?, 1).ok()?,
            sampling_rate: uses_per_epoch.map(|uses| uses / steps_per_epoch as f64),
        };
        let found = proven(row, training, Given::Delta(*deltas.get(index)?));
        Some(found.ok()?.epsilon)
    };
    Ok((0..rows).map(|index| epsilon(index).unwrap_or(f64::NAN)).collect())
}

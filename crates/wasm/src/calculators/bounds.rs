//! The accountants: one value, or columns of them.

use dpscope_core::accounting::{
    Accountant, Accounted, BallsInBins, Deterministic, Given, PersistentShuffle, Poisson, Query,
    Shuffle, ShuffleMethod, Training,
};
use dpscope_report::words::KnownBound;
use wasm_bindgen::prelude::*;

use crate::columns::TrainingColumns;
use crate::failure::Failure;
use crate::input::{given, named, read};
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
    let row = named("row", row)?;
    let columns = TrainingColumns { noise_multipliers, steps, epochs, deltas, uses_per_epoch };
    columns.epsilons(MAX_ROWS, |training, given| proven(row, training, given))
}

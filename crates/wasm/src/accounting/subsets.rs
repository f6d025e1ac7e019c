//! Batches that are uniform subsets: of fixed size, or the k batches of each record.

use std::cell::Cell;

use dpscope_core::accounting::{
    Accountant, Accounted, AccountingError, Calibration, FixedSize, Given, Poisson, Query,
    RandomAllocation, Training,
};
use dpscope_core::adjacency::Adjacency;
use dpscope_core::mechanism::SamplerKind;
use dpscope_report::words::KnownBound;
use wasm_bindgen::prelude::*;

use crate::columns::TrainingColumns;
use crate::failure::Failure;
use crate::input::{given, named, read};
use crate::output::{JsResult, to_js};

/// Rows of a table.
const MAX_ROWS: usize = 1000;

thread_local! {
    /// Both values of the last batches of fixed size, which take the time of one.
    static LAST: Cell<Option<(Query, Adjacency, [Accounted; 2])>> = const { Cell::new(None) };
}

/// The lower and the upper value.
fn fixed_size(query: Query, adjacency: Adjacency) -> Result<[Accounted; 2], AccountingError> {
    if let Some((last, of, both)) = LAST.get()
        && (last, of) == (query, adjacency)
    {
        return Ok(both);
    }
    let both = FixedSize { adjacency }.both(&query)?;
    LAST.set(Some((query, adjacency, both)));
    Ok(both)
}

fn proven(
    bound: KnownBound,
    training: Training,
    given: Given,
    adjacency: Adjacency,
) -> Result<Accounted, Failure> {
    let (upper, lower) = (Query::upper(training, given), Query::lower(training, given));
    Ok(match bound {
        KnownBound::Poisson => Poisson.account(&upper),
        KnownBound::FixedSize => fixed_size(upper, adjacency).map(|[_, upper]| upper),
        KnownBound::FixedSizeLower => fixed_size(upper, adjacency).map(|[lower, _]| lower),
        KnownBound::RandomAllocation => RandomAllocation.account(&upper),
        KnownBound::RandomAllocationLower => RandomAllocation.account(&lower),
        _ => return Err(Failure::input("row", &["is of other batches; call bound"])),
    }?)
}

fn adjacency_of(name: Option<&str>) -> Result<Adjacency, Failure> {
    name.map_or(Ok(Adjacency::ZeroOut), |name| named("adjacency", name))
}

/// What is proven of batches of fixed size, or of random allocation with k = sampling rate × steps, and
/// what Poisson accounting claims. `adjacency` applies to batches of fixed size; zero-out if omitted.
///
/// # Errors
/// A `Failure` that names the input.
#[wasm_bindgen(unchecked_return_type = "Accounted")]
pub fn subset_bound(
    #[wasm_bindgen(unchecked_param_type = "KnownBound")] row: &str,
    #[wasm_bindgen(unchecked_param_type = "Training")] training: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "Given")] at: &JsValue,
    #[wasm_bindgen(unchecked_optional_param_type = "Adjacency")] adjacency: Option<String>,
) -> JsResult {
    let training = read(training, "training")?;
    let adjacency = adjacency_of(adjacency.as_deref())?;
    to_js(&proven(named("row", row)?, training, given(at)?, adjacency)?)
}

/// ε of many training runs, as [`subset_bound`]; NaN where there is none. A record is in `uses_per_epoch`
/// batches per epoch, one if omitted.
///
/// # Errors
/// An unknown row; columns of different lengths, or longer than 1,000.
#[wasm_bindgen]
pub fn subset_columns(
    #[wasm_bindgen(unchecked_param_type = "KnownBound")] row: &str,
    noise_multipliers: &[f64],
    steps: &[f64],
    epochs: &[f64],
    deltas: &[f64],
    uses_per_epoch: Option<f64>,
    #[wasm_bindgen(unchecked_optional_param_type = "Adjacency")] adjacency: Option<String>,
) -> Result<Vec<f64>, Failure> {
    let row = named("row", row)?;
    let adjacency = adjacency_of(adjacency.as_deref())?;
    let columns = TrainingColumns { noise_multipliers, steps, epochs, deltas, uses_per_epoch };
    columns.epsilons(MAX_ROWS, |training, given| proven(row, training, given, adjacency))
}

/// The least noise, or the most steps or epochs, that reach a target: batches of fixed size, random
/// allocation, and Poisson sampling.
///
/// # Errors
/// A `Failure` that names the input.
#[wasm_bindgen(unchecked_return_type = "Calibrated")]
pub fn calibrate_subsets(
    #[wasm_bindgen(unchecked_param_type = "Calibration")] calibration: &JsValue,
) -> JsResult {
    let calibration: Calibration = read(calibration, "calibration")?;
    let accountant: &dyn Accountant = match calibration.sampler {
        SamplerKind::Poisson => &Poisson,
        SamplerKind::FixedSize => &FixedSize::ZERO_OUT,
        SamplerKind::RandomAllocation => &RandomAllocation,
        _ => return Err(Failure::input("sampler", &["draws other batches; call calibrate"])),
    };
    to_js(&calibration.run_with(accountant)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn training(uses: f64) -> Training {
        let sampling_rate = Some(uses / 50.0);
        Training { noise_multiplier: 1.0, steps_per_epoch: 50, epochs: 1, sampling_rate }
    }

    fn epsilon(bound: KnownBound, uses: f64, adjacency: Adjacency) -> f64 {
        proven(bound, training(uses), Given::Delta(1e-5), adjacency).unwrap().epsilon
    }

    #[test]
    fn bounds_enclose_and_replacement_leaks_more() {
        use KnownBound::{FixedSize, FixedSizeLower, RandomAllocation, RandomAllocationLower};
        for (lower, upper) in
            [(FixedSizeLower, FixedSize), (RandomAllocationLower, RandomAllocation)]
        {
            let at = |bound| epsilon(bound, 2.0, Adjacency::ZeroOut);
            assert!(at(lower) <= at(upper), "{upper:?}");
        }
        let poisson = epsilon(KnownBound::Poisson, 2.0, Adjacency::ZeroOut);
        assert!(poisson < epsilon(FixedSizeLower, 2.0, Adjacency::ZeroOut));
        let replaced = epsilon(FixedSize, 1.0, Adjacency::Replace);
        assert!(replaced >= epsilon(FixedSize, 1.0, Adjacency::ZeroOut));
    }

    #[test]
    fn values_in_memory_are_those_of_the_accountant() {
        for adjacency in [Adjacency::ZeroOut, Adjacency::Replace, Adjacency::AddRemove] {
            let upper = Query::upper(training(1.0), Given::Delta(1e-5));
            let lower = Query::lower(training(1.0), Given::Delta(1e-5));
            let of = |query| FixedSize { adjacency }.account(&query).unwrap().epsilon;
            for _ in 0..2 {
                assert_eq!(epsilon(KnownBound::FixedSize, 1.0, adjacency), of(upper));
                assert_eq!(epsilon(KnownBound::FixedSizeLower, 1.0, adjacency), of(lower));
            }
        }
    }

    #[test]
    fn uses_beyond_the_steps_are_refused() {
        let at = Given::Delta(1e-5);
        let refused = proven(KnownBound::RandomAllocation, training(51.0), at, Adjacency::ZeroOut);
        assert_eq!(refused.unwrap_err().field, Some("uses_per_epoch"));
    }
}

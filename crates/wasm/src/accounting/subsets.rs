//! Batches that are uniform subsets, of fixed size or truncated, or the k batches of each record.

use std::cell::Cell;

use dpscope_core::accounting::{
    Accountant, Accounted, AccountingError, Calibrated, Calibration, FixedSize, Given, Poisson,
    Query, RandomAllocation, Training, TruncatedPoisson,
};
use dpscope_core::adjacency::Adjacency;
use dpscope_core::mechanism::SamplerKind;
use dpscope_report::record::input::SubsetOptions;
use dpscope_report::words::KnownBound;
use wasm_bindgen::prelude::*;

use crate::columns::TrainingColumns;
use crate::failure::Failure;
use crate::input::{given, named, read, read_optional};
use crate::output::{JsResult, to_js};

/// Rows of a table.
const MAX_ROWS: usize = 1000;

thread_local! {
    /// Both values of the last batches, which take the time of one.
    static LAST: Cell<Option<(Query, SubsetOptions, [Accounted; 2])>> = const { Cell::new(None) };
}

/// The lower and the upper value of truncated batches, if there are sizes, else of batches of fixed
/// size.
fn both(query: Query, subsets: SubsetOptions) -> Result<[Accounted; 2], AccountingError> {
    if let Some((last, of, both)) = LAST.get()
        && (last, of) == (query, subsets)
    {
        return Ok(both);
    }
    let adjacency = subsets.adjacency.unwrap_or(Adjacency::ZeroOut);
    let both = match subsets.truncation {
        None => FixedSize { adjacency }.both(&query),
        Some(truncation) => TruncatedPoisson { adjacency, truncation }.both(&query),
    }?;
    LAST.set(Some((query, subsets, both)));
    Ok(both)
}

fn proven(
    bound: KnownBound,
    training: Training,
    given: Given,
    subsets: SubsetOptions,
) -> Result<Accounted, Failure> {
    let (upper, lower) = (Query::upper(training, given), Query::lower(training, given));
    let fixed_size = SubsetOptions { truncation: None, ..subsets };
    Ok(match bound {
        KnownBound::Poisson => Poisson.account(&upper),
        KnownBound::TruncatedPoisson | KnownBound::TruncatedPoissonLower
            if subsets.truncation.is_none() =>
        {
            return Err(Failure::missing("truncation"));
        }
        KnownBound::FixedSize => both(upper, fixed_size).map(|[_, upper]| upper),
        KnownBound::FixedSizeLower => both(upper, fixed_size).map(|[lower, _]| lower),
        KnownBound::TruncatedPoisson => both(upper, subsets).map(|[_, upper]| upper),
        KnownBound::TruncatedPoissonLower => both(upper, subsets).map(|[lower, _]| lower),
        KnownBound::RandomAllocation => RandomAllocation.account(&upper),
        KnownBound::RandomAllocationLower => RandomAllocation.account(&lower),
        _ => return Err(Failure::input("row", &["is of other batches; call bound"])),
    }?)
}

/// What is proven of batches of fixed size, of truncated Poisson batches, or of random allocation with
/// k = sampling rate × steps, and what Poisson accounting claims. `subsets` has the sizes of truncated
/// batches.
///
/// # Errors
/// A `Failure` that names the input.
#[wasm_bindgen(unchecked_return_type = "Accounted")]
pub fn subset_bound(
    #[wasm_bindgen(unchecked_param_type = "KnownBound")] row: &str,
    #[wasm_bindgen(unchecked_param_type = "Training")] training: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "Given")] at: &JsValue,
    #[wasm_bindgen(unchecked_optional_param_type = "SubsetOptions")] subsets: &JsValue,
) -> JsResult {
    let training = read(training, "training")?;
    let subsets = read_optional(subsets, "subsets")?.unwrap_or_default();
    to_js(&proven(named("row", row)?, training, given(at)?, subsets)?)
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
    #[wasm_bindgen(unchecked_optional_param_type = "SubsetOptions")] subsets: &JsValue,
) -> Result<Vec<f64>, Failure> {
    let row = named("row", row)?;
    let subsets = read_optional(subsets, "subsets")?.unwrap_or_default();
    let columns = TrainingColumns { noise_multipliers, steps, epochs, deltas, uses_per_epoch };
    columns.epsilons(MAX_ROWS, |training, given| proven(row, training, given, subsets))
}

/// The least noise, or the most steps or epochs, that reach a target: batches of fixed size, truncated
/// Poisson batches, random allocation, and Poisson sampling. `subsets` has the sizes of truncated
/// batches.
///
/// # Errors
/// A `Failure` that names the input.
#[wasm_bindgen(unchecked_return_type = "Calibrated")]
pub fn calibrate_subsets(
    #[wasm_bindgen(unchecked_param_type = "Calibration")] calibration: &JsValue,
    #[wasm_bindgen(unchecked_optional_param_type = "SubsetOptions")] subsets: &JsValue,
) -> JsResult {
    let calibration = read(calibration, "calibration")?;
    let subsets = read_optional(subsets, "subsets")?.unwrap_or_default();
    to_js(&calibrated(&calibration, subsets)?)
}

fn calibrated(calibration: &Calibration, subsets: SubsetOptions) -> Result<Calibrated, Failure> {
    let adjacency = subsets.adjacency.unwrap_or(Adjacency::ZeroOut);
    let found = match calibration.sampler {
        SamplerKind::Poisson => calibration.run_with(&Poisson),
        SamplerKind::FixedSize => calibration.run_with(&FixedSize { adjacency }),
        SamplerKind::TruncatedPoisson => {
            let truncation = subsets.truncation.ok_or_else(|| Failure::missing("truncation"))?;
            calibration.run_with(&TruncatedPoisson { adjacency, truncation })
        }
        SamplerKind::RandomAllocation => calibration.run_with(&RandomAllocation),
        _ => return Err(Failure::input("sampler", &["draws other batches; call calibrate"])),
    };
    Ok(found?)
}

#[cfg(test)]
mod tests {
    use dpscope_core::accounting::Parameter;
    use dpscope_core::mechanism::Truncation;

    use super::*;

    fn training(uses: f64) -> Training {
        let sampling_rate = Some(uses / 50.0);
        Training { noise_multiplier: 1.0, steps_per_epoch: 50, epochs: 1, sampling_rate }
    }

    fn epsilon(bound: KnownBound, uses: f64, adjacency: Adjacency) -> f64 {
        let truncation = match bound {
            KnownBound::TruncatedPoisson | KnownBound::TruncatedPoissonLower => TRUNCATION,
            _ => None,
        };
        let subsets = SubsetOptions { adjacency: Some(adjacency), truncation };
        proven(bound, training(uses), Given::Delta(1e-5), subsets).unwrap().epsilon
    }

    const TRUNCATION: Option<Truncation> =
        Some(Truncation { dataset_size: 1_000, max_batch_size: 24 });

    #[test]
    fn bounds_enclose_and_replacement_leaks_more() {
        use KnownBound::{
            FixedSize, FixedSizeLower, RandomAllocation, RandomAllocationLower, TruncatedPoisson,
            TruncatedPoissonLower,
        };
        for (lower, upper) in [
            (FixedSizeLower, FixedSize),
            (TruncatedPoissonLower, TruncatedPoisson),
            (RandomAllocationLower, RandomAllocation),
        ] {
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
            let truncation = TRUNCATION.unwrap();
            let accountant = TruncatedPoisson { adjacency, truncation };
            let of = |query| accountant.account(&query).unwrap().epsilon;
            assert_eq!(epsilon(KnownBound::TruncatedPoisson, 1.0, adjacency), of(upper));
            assert_eq!(epsilon(KnownBound::TruncatedPoissonLower, 1.0, adjacency), of(lower));
        }
    }

    #[test]
    fn uses_beyond_the_steps_are_refused() {
        let at = Given::Delta(1e-5);
        let refused =
            proven(KnownBound::RandomAllocation, training(51.0), at, SubsetOptions::default());
        assert_eq!(refused.unwrap_err().field, Some("uses_per_epoch"));
    }

    #[test]
    fn noise_for_truncated_batches_is_that_of_the_library() {
        let calibration = Calibration {
            parameter: Parameter::Noise,
            sampler: SamplerKind::TruncatedPoisson,
            epsilon: 4.0,
            delta: 1e-5,
            noise_multiplier: None,
            steps: Some(50),
            epochs: None,
            sampling_rate: None,
            truncation: None,
        };
        let subsets = SubsetOptions { adjacency: None, truncation: TRUNCATION };
        let found = calibrated(&calibration, subsets).unwrap();
        assert_eq!(found, Calibration { truncation: TRUNCATION, ..calibration }.run().unwrap());
        let poisson = Calibration { sampler: SamplerKind::Poisson, ..calibration };
        assert!(calibrated(&poisson, subsets).unwrap().value < found.value);
        let refused = calibrated(&calibration, SubsetOptions::default());
        assert_eq!(refused.unwrap_err().field, Some("truncation"));
    }

    #[test]
    fn truncated_batches_need_their_sizes() {
        let at = Given::Delta(1e-5);
        let bound = KnownBound::TruncatedPoisson;
        let refused = proven(bound, training(1.0), at, SubsetOptions::default());
        assert_eq!(refused.unwrap_err().field, Some("truncation"));
        let truncation = Some(Truncation { dataset_size: 10, max_batch_size: 11 });
        let refused =
            proven(bound, training(1.0), at, SubsetOptions { adjacency: None, truncation });
        assert_eq!(refused.unwrap_err().field, Some("max_batch_size"));
    }
}

//! Batches that are uniform subsets, of fixed size or truncated, or the k batches of each record.

use std::cell::Cell;

use dpscope_core::accounting::{
    Accounted, AccountingError, Calibrated, Calibration, Given, Kind, KnownBound, Setting,
};
use dpscope_report::record::input::{BoundSetting, SubsetOptions};
use wasm_bindgen::prelude::*;

use crate::columns::along;
use crate::failure::Failure;
use crate::input::{given, named, read, read_optional};
use crate::output::{JsResult, to_js};

/// Most values of a curve.
const MAX_ROWS: usize = 1000;

thread_local! {
    /// Both values of the last batches, which take the time of one.
    static LAST: Cell<Option<(Given, Setting, [Accounted; 2])>> = const { Cell::new(None) };
}

/// The lower and the upper value of batches of limited size: truncated ones, if there are sizes.
fn both(given: Given, setting: Setting) -> Result<[Accounted; 2], AccountingError> {
    if let Some((last, of, both)) = LAST.get()
        && (last, of) == (given, setting)
    {
        return Ok(both);
    }
    let both = setting.limited_batches(given)?;
    LAST.set(Some((given, setting, both)));
    Ok(both)
}

fn proven(bound: KnownBound, setting: &Setting, given: Given) -> Result<Accounted, Failure> {
    let row = bound.row();
    let truncates = row.sampler.truncates();
    if truncates && setting.truncation.is_none() {
        return Err(Failure::missing("truncation"));
    }
    if !row.sampler.limits_batch_size() {
        let elsewhere = || Failure::input("row", &["is of other batches; call bound"]);
        return Ok(bound.account_subsets(setting, given).ok_or_else(elsewhere)??);
    }
    let truncation = setting.truncation.filter(|_| truncates);
    let [lower, upper] = both(given, Setting { truncation, ..*setting })?;
    Ok(if row.kind == Kind::Upper { upper } else { lower })
}

/// Reads a known bound and the training that has it.
fn asked(row: &str, setting: &JsValue) -> Result<(KnownBound, Setting), Failure> {
    let setting: BoundSetting = read(setting, "setting")?;
    Ok((named("row", row)?, setting.into()))
}

/// A known bound of batches that are uniform subsets; where a record is used k times per epoch,
/// k = sampling rate × steps.
///
/// # Errors
/// A `Failure` that names the input.
#[wasm_bindgen(unchecked_return_type = "Accounted")]
pub fn subset_bound(
    #[wasm_bindgen(unchecked_param_type = "KnownBound")] row: &str,
    #[wasm_bindgen(unchecked_param_type = "BoundSetting")] setting: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "Given")] at: &JsValue,
) -> JsResult {
    let (row, setting) = asked(row, setting)?;
    to_js(&proven(row, &setting, given(at)?)?)
}

/// ε at each place along a parameter, as [`subset_bound`]; NaN where there is none.
///
/// # Errors
/// An unknown row or parameter; more than 1,000 places.
#[wasm_bindgen]
pub fn subset_columns(
    #[wasm_bindgen(unchecked_param_type = "KnownBound")] row: &str,
    #[wasm_bindgen(unchecked_param_type = "BoundSetting")] setting: &JsValue,
    delta: f64,
    #[wasm_bindgen(unchecked_param_type = "Axis")] axis: &str,
    places: &[f64],
) -> Result<Vec<f64>, Failure> {
    let (row, setting) = asked(row, setting)?;
    along((setting, delta), axis, (places, MAX_ROWS), |setting, given| proven(row, setting, given))
}

/// The least noise, or the most steps or epochs, that reach a target: batches that are uniform subsets,
/// and Poisson sampling. `subsets` has the sizes of truncated batches.
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
    let SubsetOptions { adjacency, truncation } = subsets;
    let truncation = truncation.filter(|_| calibration.sampler.truncates());
    let calibration = Calibration { adjacency, truncation, ..*calibration };
    let elsewhere = || Failure::input("sampler", &["draws other batches; call calibrate"]);
    Ok(calibration.run_subsets().ok_or_else(elsewhere)??)
}

#[cfg(test)]
mod tests {
    use dpscope_core::accounting::{BOUNDS, Cost, Parameter, Training};
    use dpscope_core::adjacency::Adjacency;
    use dpscope_core::mechanism::{SamplerKind, SamplerParameter, Truncation};

    use super::*;

    fn setting(uses: f64) -> Setting {
        let sampling_rate = Some(uses / 50.0);
        let training =
            Training { noise_multiplier: 1.0, steps_per_epoch: 50, epochs: 1, sampling_rate };
        Setting { truncation: TRUNCATION, ..Setting::zero_out(training) }
    }

    const TRUNCATION: Option<Truncation> =
        Some(Truncation { dataset_size: 1_000, max_batch_size: 24 });

    /// The upper bound of the sampler with a parameter.
    fn upper_bound(parameter: SamplerParameter) -> (SamplerKind, KnownBound) {
        let sampler = parameter.samplers().next().unwrap();
        let is_upper = |row: &&dpscope_core::accounting::BoundRow| {
            row.sampler == sampler && row.kind == Kind::Upper
        };
        (sampler, BOUNDS.iter().find(is_upper).unwrap().bound)
    }

    #[test]
    fn values_in_memory_are_those_of_the_accountant() {
        let at = Given::Delta(1e-5);
        for adjacency in [Adjacency::ZeroOut, Adjacency::Replace, Adjacency::AddRemove] {
            let setting = Setting { adjacency, ..setting(1.0) };
            let bounds = BOUNDS.iter().filter(|row| row.cost == Cost::Subsets);
            for bound in bounds.map(|row| row.bound) {
                let expected = bound.account(&setting, at).unwrap().unwrap().epsilon;
                for _ in 0..2 {
                    assert_eq!(proven(bound, &setting, at).unwrap().epsilon, expected, "{bound:?}");
                }
            }
        }
    }

    #[test]
    fn uses_beyond_the_steps_are_refused() {
        let (_, allocated) = upper_bound(SamplerParameter::UsesPerEpoch);
        let refused = proven(allocated, &setting(51.0), Given::Delta(1e-5));
        assert_eq!(refused.unwrap_err().field, Some("uses_per_epoch"));
    }

    #[test]
    fn noise_for_truncated_batches_is_that_of_the_library() {
        let calibration = Calibration {
            parameter: Parameter::Noise,
            sampler: upper_bound(SamplerParameter::MaxBatchSize).0,
            epsilon: 4.0,
            delta: 1e-5,
            noise_multiplier: None,
            steps: Some(50),
            epochs: None,
            sampling_rate: None,
            truncation: None,
            adjacency: None,
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
        let refused = |truncation| {
            let setting = Setting { truncation, ..setting(1.0) };
            let (_, truncated) = upper_bound(SamplerParameter::MaxBatchSize);
            let found = proven(truncated, &setting, Given::Delta(1e-5));
            found.unwrap_err().field
        };
        assert_eq!(refused(None), Some("truncation"));
        let truncation = Some(Truncation { dataset_size: 10, max_batch_size: 11 });
        assert_eq!(refused(truncation), Some("max_batch_size"));
    }
}

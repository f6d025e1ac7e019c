//! Which values are read from each JSON document of the program, and their places in it.
//!
//! A field that moves is one edit here; names on the left are those of `data/` and stay.

use serde_json::{Map, Value};

fn picked(document: &Value, places: &[(&str, &str)]) -> Map<String, Value> {
    let value = |pointer| document.pointer(pointer).cloned().unwrap_or(Value::Null);
    places.iter().map(|&(name, pointer)| (name.to_string(), value(pointer))).collect()
}

/// An audit of any kind.
pub(crate) fn report(document: &Value) -> Map<String, Value> {
    let mut values = picked(
        document,
        &[
            ("epsilon", "/result/epsilon"),
            ("delta", "/result/delta"),
            ("tail_per_rate", "/result/tail_per_rate"),
            ("threshold", "/result/threshold"),
            ("false_positives", "/result/false_positives"),
            ("false_negatives", "/result/false_negatives"),
            ("fpr_upper", "/result/fpr_upper"),
            ("fnr_upper", "/result/fnr_upper"),
            ("gdp_mu", "/result/gdp_mu"),
            ("ceiling", "/result/ceiling"),
            ("gain_at_10x", "/result/gain_at_10x"),
            ("uncorrected_epsilon", "/uncorrected_maximum/epsilon"),
            ("uncorrected_threshold", "/uncorrected_maximum/threshold"),
            ("uncorrected_false_positives", "/uncorrected_maximum/false_positives"),
            ("uncorrected_false_negatives", "/uncorrected_maximum/false_negatives"),
            ("poisson_epsilon", "/theory/poisson/epsilon"),
            ("theory_lower", "/theory/lower/epsilon"),
            ("theory_upper", "/theory/upper/epsilon"),
            ("score_slope", "/score_slope/slope"),
            ("credible_epsilon", "/credible/epsilon"),
            ("evaluated_target", "/observations/evaluated/target"),
            ("evaluated_zero_out", "/observations/evaluated/zero_out"),
            ("histogram_digest", "/histogram_digest"),
        ],
    );
    values.retain(|_, value| !value.is_null());
    values
}

/// An audit of trained models.
pub(crate) fn training_report(document: &Value) -> Map<String, Value> {
    let mut values = report(document);
    values.extend(picked(
        document,
        &[
            ("failed", "/training/failed"),
            ("bias", "/training/bias"),
            ("residual_variance", "/training/residual_variance"),
            ("canary_shift", "/training/canary_shift"),
            ("accuracy", "/training/correct_share"),
            ("idealised_epsilon", "/training/idealised/epsilon"),
        ],
    ));
    values
}

/// What `bound` prints.
pub(crate) fn bound(document: &Value) -> Map<String, Value> {
    let mut values = picked(
        document,
        &[
            ("epsilon", "/epsilon"),
            ("delta", "/delta"),
            ("numeric_error", "/numeric_error"),
            ("standard_error", "/standard_error"),
            ("pair_lower", "/rows/lower/epsilon"),
            ("pair_lower_delta", "/rows/lower/delta"),
            ("pair_estimate", "/rows/estimate/epsilon"),
            ("pair_estimate_delta", "/rows/estimate/delta"),
            ("pair_upper", "/rows/upper/epsilon"),
            ("pair_upper_delta", "/rows/upper/delta"),
        ],
    );
    values.retain(|_, value| !value.is_null());
    values
}

/// What `compare` prints: ε of each row, by its name.
pub(crate) fn comparison(document: &Value) -> Map<String, Value> {
    let rows = document["rows"].as_array().unwrap();
    let value = |row: &Value| (row["what"].as_str().unwrap().to_string(), row["epsilon"].clone());
    rows.iter().map(value).collect()
}

/// What `calibrate` prints.
pub(crate) fn calibration(document: &Value) -> Map<String, Value> {
    let mut values = picked(
        document,
        &[
            ("noise_multiplier", "/noise_multiplier"),
            ("steps", "/steps"),
            ("epochs", "/epochs"),
            ("epsilon", "/epsilon"),
            ("poisson_noise_multiplier", "/poisson/noise_multiplier"),
            ("poisson_epochs", "/poisson/epochs"),
            ("poisson_epsilon", "/poisson/epsilon"),
        ],
    );
    values.retain(|_, value| !value.is_null());
    values
}

/// What `plan` prints: ceiling and prediction of each number of observations.
pub(crate) fn plan(document: &Value) -> Map<String, Value> {
    let mut values = picked(
        document,
        &[
            ("tail_per_rate", "/tail_per_rate"),
            ("observations_for_ceiling", "/target/observations_for_ceiling"),
            ("observations_predicted", "/target/observations_predicted"),
        ],
    );
    for row in document["rows"].as_array().unwrap() {
        let observations = &row["observations"];
        values.insert(format!("ceiling at {observations}"), row["ceiling"].clone());
        values.insert(format!("prediction at {observations}"), row["predicted_epsilon"].clone());
    }
    values.retain(|_, value| !value.is_null());
    values
}

/// What `check` prints: its three values of ε.
pub(crate) fn training_check(document: &Value) -> Map<String, Value> {
    picked(
        document,
        &[
            ("lower", "/lower/epsilon"),
            ("upper", "/upper/epsilon"),
            ("poisson", "/poisson/epsilon"),
        ],
    )
}

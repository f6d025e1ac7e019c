//! Limits of the tests of noise in steps, group `step_limits` of `own_trainer.json`.

use dpscope_core::training_check::step::NoiseLimits;
use serde::Deserialize;
use serde_json::{Value, json};

/// Standard normal noise of one of several tests.
#[derive(Debug, Deserialize)]
pub(super) struct TestedNoise {
    dimension: u64,
    tests: u64,
}

pub(super) fn evaluate(inputs: &TestedNoise) -> Option<Value> {
    let NoiseLimits { lower, upper, correlation, kurtosis } =
        NoiseLimits::new(inputs.dimension, inputs.tests);
    Some(json!({
        "lower": lower,
        "upper": upper,
        "correlation": correlation,
        "kurtosis": kurtosis,
    }))
}

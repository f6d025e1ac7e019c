//! A bound from the guesses of one training run with canaries.

use dpscope_core::audit::one_run::{CanaryGame, Guesses, OneRunError};
use dpscope_report::record::input::GuessCounts;
use dpscope_report::record::page::GuessBound;
use wasm_bindgen::prelude::*;

use crate::failure::{Failure, FailureKind};
use crate::input::read;
use crate::output::{JsResult, to_js};

/// The bound of a fixed number of guesses.
pub(crate) fn from_guesses(
    counts: GuessCounts,
    delta: f64,
    significance: f64,
) -> Result<GuessBound, Failure> {
    let found = || -> Result<GuessBound, OneRunError> {
        let game = CanaryGame::coins(counts.canaries)?;
        let guesses = Guesses::new(game, counts.guesses, counts.correct)?;
        Ok(GuessBound {
            epsilon: guesses.epsilon_lower(delta, significance)?,
            steinke_epsilon: guesses.steinke_epsilon_lower(delta, significance)?,
            ceiling: guesses.ceiling(delta, significance)?,
        })
    };
    found().map_err(failure_of)
}

/// The lower bound of ε from k guesses about m canaries of one run, v of them correct, where k was fixed
/// before the coins were drawn.
///
/// # Errors
/// A `Failure` that names the input.
#[wasm_bindgen(unchecked_return_type = "GuessBound")]
pub fn guesses_bound(
    #[wasm_bindgen(unchecked_param_type = "GuessCounts")] counts: &JsValue,
    delta: f64,
    significance: f64,
) -> JsResult {
    to_js(&from_guesses(read(counts, "counts")?, delta, significance)?)
}

fn failure_of(error: OneRunError) -> Failure {
    match error {
        OneRunError::Canaries { canaries } => {
            Failure::outside("canaries", canaries as f64, "in 1 to 1e12")
        }
        OneRunError::Guesses { guesses: 0, .. } => Failure::outside("guesses", 0.0, "at least 1"),
        OneRunError::Guesses { .. } => Failure::input("guesses", &["must be at most ", "canaries"]),
        OneRunError::Correct { .. } => Failure::input("correct", &["must be at most ", "guesses"]),
        OneRunError::Delta { delta } => Failure::outside("delta", delta, "at least 0 and below 1"),
        OneRunError::Significance { significance } => {
            Failure::outside("significance", significance, "above 0 and below 1")
        }
        _ => Failure::of(FailureKind::Input, "these counts have no bound"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_those_of_the_library_and_failures_name_the_input() {
        let counts = |canaries, guesses, correct| GuessCounts { canaries, guesses, correct };
        let found = from_guesses(counts(1_000, 100, 95), 1e-5, 0.05).unwrap();
        assert_eq!(format!("{:.4}", found.epsilon), "2.1719");
        assert!(found.steinke_epsilon <= found.epsilon && found.epsilon <= found.ceiling);
        for (field, counts, delta, significance) in [
            ("canaries", counts(0, 1, 1), 0.0, 0.05),
            ("canaries", counts(1 << 50, 1, 1), 0.0, 0.05),
            ("guesses", counts(10, 0, 0), 0.0, 0.05),
            ("guesses", counts(10, 11, 0), 0.0, 0.05),
            ("correct", counts(10, 5, 6), 0.0, 0.05),
            ("delta", counts(10, 5, 5), 1.0, 0.05),
            ("significance", counts(10, 5, 5), 0.0, 1.0),
        ] {
            let failure = from_guesses(counts, delta, significance).unwrap_err();
            assert_eq!(failure.field, Some(field), "{failure:?}");
        }
    }
}

//! Checks of a training set-up against its claim.

use dpscope_core::audit::claim::ClaimError;
use dpscope_core::training_check::{TrainingDescription, TrainingError, diagnose};
use dpscope_report::record::CheckReport;
use wasm_bindgen::prelude::*;

use crate::failure::{Failure, shown};
use crate::input::read;
use crate::output::{JsResult, to_js};

/// The document of `dpscope check --json`.
///
/// # Errors
/// A `Failure` that names the input.
#[wasm_bindgen(unchecked_return_type = "CheckedTraining")]
pub fn check(
    #[wasm_bindgen(unchecked_param_type = "TrainingDescription")] training: &JsValue,
) -> JsResult {
    to_js(&checked(&read(training, "training")?)?)
}

pub(super) fn checked(training: &TrainingDescription) -> Result<CheckReport, Failure> {
    let (setup, accounting, target) = training.complete()?;
    let found = diagnose(&setup, &accounting, target)?;
    Ok(CheckReport::new(setup, accounting, target, found))
}

impl From<TrainingError> for Failure {
    fn from(error: TrainingError) -> Self {
        let field = match error {
            TrainingError::Argument { name, value, allowed } => {
                return Failure::outside(name, value, &allowed);
            }
            TrainingError::Batches { value } => {
                let allowed = "; it must make at most 1e9 batches per epoch";
                return Failure::input(
                    "batch_size",
                    &["makes ", &shown(value), " batches", allowed],
                );
            }
            TrainingError::DrawnNoise { noise_multiplier } => {
                let allowed = "in 1e-6 to 10000, as a noise multiplier";
                return Failure::outside("noise_std", noise_multiplier, allowed);
            }
            TrainingError::Sampler(error) => return error.into(),
            TrainingError::Claim(ClaimError::Epsilon { epsilon }) => {
                return Failure::outside("claim", epsilon, "a finite number from 0");
            }
            TrainingError::Missing { name }
            | TrainingError::Both { names: [_, name] }
            | TrainingError::Unused { name }
            | TrainingError::WithoutNoise { name } => Some(name),
            TrainingError::BatchLargerThanData { .. } => Some("batch_size"),
            _ => None,
        };
        Failure { field, ..Failure::rejected(&error) }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::input::Value;
    use crate::input::tests::of_fields;
    use dpscope_core::training_check::CheckVerdict;

    fn training(changes: &[(&'static str, Option<Value>)]) -> Result<CheckReport, Failure> {
        let mut fields = vec![
            ("dataset_size", Value::Number(60_000.0)),
            ("batch_size", Value::Number(256.0)),
            ("epochs", Value::Number(20.0)),
            ("noise_multiplier", Value::Number(0.8)),
            ("loader", Value::Text("shuffle".to_owned())),
            ("accountant", Value::Text("poisson".to_owned())),
            ("claim", Value::Number(3.0)),
            ("delta", Value::Number(1e-5)),
        ];
        for (name, value) in changes {
            fields.retain(|(known, _)| known != name);
            fields.extend(value.clone().map(|value| (*name, value)));
        }
        checked(&of_fields(&fields)?)
    }

    pub(crate) fn example() -> CheckReport {
        training(&[]).unwrap()
    }

    #[test]
    fn a_claim_below_the_proven_bound_is_refuted() {
        let report = training(&[]).unwrap();
        assert_eq!(report.claim.verdict, Some(CheckVerdict::Refuted));
        assert_eq!(report.findings[0].finding.code(), "claim-below-bound");
        assert_eq!((report.next.len(), report.upper.is_some()), (1, false));
        let zero_out = ("claim_adjacency", Some(Value::Text("zero-out".to_owned())));
        let report = training(std::slice::from_ref(&zero_out)).unwrap();
        assert_eq!((report.next.len(), report.upper.is_some()), (2, true));
        let large = ("claim", Some(Value::Number(1e4)));
        let removed = training(std::slice::from_ref(&large)).unwrap();
        assert_eq!(removed.claim.verdict, Some(CheckVerdict::Inconclusive));
        let large = training(&[zero_out, large]).unwrap();
        assert_eq!(large.claim.verdict, Some(CheckVerdict::HoldsAsDescribed));
    }

    #[test]
    fn too_many_batches_are_reported_as_batches() {
        let changes =
            [("dataset_size", Some(Value::Number(1e12))), ("batch_size", Some(Value::Number(1.0)))];
        let failure = training(&changes).unwrap_err();
        assert_eq!(failure.field, Some("batch_size"));
        let message =
            "batch_size makes 1000000000000 batches; it must make at most 1e9 batches per epoch";
        assert_eq!(failure.message, message);
    }

    #[test]
    fn failures_name_the_field() {
        let text = |text: &str| Some(Value::Text(text.to_owned()));
        for (field, value) in [
            ("dataset_size", None),
            ("claim", Some(Value::Number(-1.0))),
            ("batch_size", Some(Value::Number(60_001.0))),
            ("epochs", Some(Value::Number(0.0))),
            ("loader", text("<b>shuffle</b>")),
            ("claim_adjacency", text("none")),
            ("clip_norm", Some(Value::Number(1.0))),
            ("buffer_examples", Some(Value::Number(1.0))),
            ("drop_last", Some(Value::Number(1.0))),
        ] {
            let failure = training(&[(field, value)]).unwrap_err();
            assert_eq!(failure.field, Some(field), "{failure:?}");
        }
    }
}

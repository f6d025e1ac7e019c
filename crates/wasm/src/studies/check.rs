//! Does a described training keep its claim?

use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::claim::ClaimError;
use dpscope_core::mechanism::SamplerKind;
use dpscope_core::training_check::{NoiseTarget, TrainingDescription, TrainingError, diagnose};
use dpscope_report::record::CheckReport;
use wasm_bindgen::prelude::*;

use crate::failure::{Failure, shown};
use crate::plain::{JsResult, to_js};
use crate::question::named;
use crate::record::Record;

pub(crate) const FIELDS: [&str; 16] = [
    "dataset_size",
    "batch_size",
    "epochs",
    "noise_multiplier",
    "loader",
    "buffer_examples",
    "drop_last",
    "claim",
    "delta",
    "claim_adjacency",
    "accountant",
    "accounted_sampling_rate",
    "accounted_steps",
    "noise_std",
    "clip_norm",
    "noise_on",
];

const ADJACENCIES: [(&str, Adjacency); 3] = [
    ("add-remove", Adjacency::AddRemove),
    ("replace", Adjacency::Replace),
    ("zero-out", Adjacency::ZeroOut),
];

const NOISE_TARGETS: [(&str, NoiseTarget); 2] =
    [("sum", NoiseTarget::Sum), ("mean", NoiseTarget::Mean)];

/// What `dpscope check --json` prints of this training.
///
/// # Errors
/// A `Failure` that names the input.
#[wasm_bindgen(unchecked_return_type = "CheckReport")]
pub fn check(#[wasm_bindgen(unchecked_param_type = "Training")] training: &JsValue) -> JsResult {
    to_js(&checked(&Record::read(training, "training", &FIELDS)?)?)
}

pub(crate) fn checked(training: &Record) -> Result<CheckReport, Failure> {
    let (setup, accounting, claim) = described(training)?.complete()?;
    let found = diagnose(&setup, &accounting, &claim)?;
    Ok(CheckReport::new(setup, accounting, claim, found))
}

fn described(training: &Record) -> Result<TrainingDescription, Failure> {
    let samplers = SamplerKind::ALL.map(|kind| (kind.name(), kind));
    let sampler = |field| one_of(training, field, &samplers);
    Ok(TrainingDescription {
        dataset_size: training.whole("dataset_size", 0)?,
        batch_size: training.whole("batch_size", 0)?,
        epochs: training.whole("epochs", 0)?,
        noise_multiplier: training.number("noise_multiplier")?,
        loader: sampler("loader")?,
        buffer_examples: training.whole("buffer_examples", 0)?,
        drop_last: training.flag("drop_last")?,
        claim: training.number("claim")?,
        delta: training.number("delta")?,
        claim_adjacency: one_of(training, "claim_adjacency", &ADJACENCIES)?,
        accountant: sampler("accountant")?,
        accounted_sampling_rate: training.number("accounted_sampling_rate")?,
        accounted_steps: training.whole("accounted_steps", 0)?,
        noise_std: training.number("noise_std")?,
        clip_norm: training.number("clip_norm")?,
        noise_on: one_of(training, "noise_on", &NOISE_TARGETS)?,
    })
}

fn one_of<T: Copy>(
    training: &Record,
    field: &'static str,
    names: &[(&str, T)],
) -> Result<Option<T>, Failure> {
    training.text(field)?.map(|name| named(field, names, name)).transpose()
}

impl From<TrainingError> for Failure {
    fn from(error: TrainingError) -> Self {
        match error {
            TrainingError::Argument { name, value, allowed } => match name {
                "dataset_size / batch_size" => Failure::input(
                    "batch_size",
                    &["makes ", &shown(value), " batches; it must make ", allowed],
                ),
                "the noise multiplier of noise_std" => {
                    Failure::outside("noise_std", value, allowed)
                }
                name => Failure::outside(name, value, allowed),
            },
            TrainingError::Missing { name } => Failure::missing(name),
            TrainingError::BatchLargerThanData { .. } => {
                Failure { field: Some("batch_size"), ..Failure::refused(&error) }
            }
            TrainingError::WithoutNoise { name } => {
                Failure { field: Some(name), ..Failure::refused(&error) }
            }
            TrainingError::Sampler(error) => error.into(),
            TrainingError::Claim(ClaimError::Epsilon { epsilon }) => {
                Failure::outside("claim", epsilon, "a finite number from 0")
            }
            _ => Failure::refused(&error),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::record::Value;
    use dpscope_core::audit::claim::Verdict;

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
        checked(&Record::of(&fields, &FIELDS)?)
    }

    pub(crate) fn example() -> CheckReport {
        training(&[]).unwrap()
    }

    #[test]
    fn a_claim_below_the_proven_bound_is_refuted() {
        let report = training(&[]).unwrap();
        assert_eq!(report.claim.verdict, Verdict::Refuted);
        assert_eq!(report.findings[0].finding.code(), "claim-below-bound");
        assert_eq!(report.next.len(), 2);
        let kept = training(&[("claim", Some(Value::Number(1e4)))]).unwrap();
        assert_eq!(kept.claim.verdict, Verdict::NotRefuted);
    }

    #[test]
    fn too_many_batches_are_told_as_batches() {
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
            ("claim", None),
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

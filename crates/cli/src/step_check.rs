//! Judges what a binding measured in the first steps of a training.

use dpscope_core::recorded::OutputParameter;
use dpscope_core::training_check::step::{
    self, NoiseEstimates, StepFinding, StepOutcome, StepRecord, StepSeverity,
};
use dpscope_report::record::ErrorReport;
use dpscope_report::words::{step_finding_sentence, step_headline};
use serde::Serialize;
use serde_json::{Deserializer, Value};

use crate::failure::Failure;

/// The result of a check of steps, as a binding reads it.
#[derive(Debug, Serialize)]
struct StepReport {
    outcome: StepOutcome,
    headline: String,
    findings: Vec<FindingEntry>,
    noise: Option<NoiseEntry>,
    sensitivity: Option<f64>,
    target: u64,
    control_difference: Option<f64>,
}

#[derive(Debug, Serialize)]
struct FindingEntry {
    code: Value,
    severity: StepSeverity,
    sentence: String,
    data: Value,
}

#[derive(Debug, Serialize)]
struct NoiseEntry {
    #[serde(flatten)]
    all: Estimate,
    stated: f64,
    steps: Vec<StepEntry>,
    tensors: Vec<TensorEntry>,
}

#[derive(Debug, Serialize)]
struct StepEntry {
    step: usize,
    #[serde(flatten)]
    noise: Estimate,
}

#[derive(Debug, Serialize)]
struct TensorEntry {
    name: String,
    #[serde(flatten)]
    noise: Estimate,
}

/// A standard deviation in C, with its 95 % interval.
#[derive(Debug, Serialize)]
struct Estimate {
    estimate: f64,
    lower: f64,
    upper: f64,
}

impl From<OutputParameter> for Estimate {
    fn from(OutputParameter { value, lower, upper }: OutputParameter) -> Self {
        Estimate { estimate: value, lower, upper }
    }
}

impl From<NoiseEstimates> for NoiseEntry {
    fn from(noise: NoiseEstimates) -> Self {
        let steps = noise.steps.into_iter();
        let tensors = noise.tensors.into_iter();
        NoiseEntry {
            all: noise.all.into(),
            stated: noise.stated,
            steps: steps.map(|(step, noise)| StepEntry { step, noise: noise.into() }).collect(),
            tensors: tensors
                .map(|(name, noise)| TensorEntry { name, noise: noise.into() })
                .collect(),
        }
    }
}

/// Findings about a training from a record of its first steps, as a JSON document.
///
/// # Errors
/// [`ErrorReport`] for a record that is no JSON document of a [`StepRecord`], or has values outside their
/// domain.
pub fn check_step(record: &str) -> Result<String, ErrorReport> {
    judged(record).map_err(|failure| failure.report())
}

fn judged(record: &str) -> Result<String, Failure> {
    let mut reader = Deserializer::from_str(record);
    let record: StepRecord = serde_path_to_error::deserialize(&mut reader)
        .map_err(|error| Failure::input(format!("the record of steps is invalid: {error}")))?;
    reader.end().map_err(|error| Failure::input(format!("after the record of steps: {error}")))?;
    let check = step::examine(&record).map_err(Failure::input)?;
    let headline = step_headline(&check);
    let report = StepReport {
        outcome: check.outcome,
        headline,
        findings: check.findings.iter().map(entry).collect::<Result<_, _>>()?,
        noise: check.noise.map(NoiseEntry::from),
        sensitivity: check.largest_change,
        target: check.target,
        control_difference: check.control_difference,
    };
    serde_json::to_string(&report).map_err(internal)
}

fn entry(finding: &StepFinding) -> Result<FindingEntry, Failure> {
    let mut data = serde_json::to_value(finding).map_err(internal)?;
    let code = data.as_object_mut().and_then(|data| data.remove("code")).unwrap_or_default();
    let (severity, sentence) = (finding.severity(), step_finding_sentence(finding));
    Ok(FindingEntry { code, severity, sentence, data })
}

fn internal(error: serde_json::Error) -> Failure {
    Failure::with(crate::failure::Exit::Internal, error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn record() -> Value {
        let step = |change: Option<f64>| json!({"is_finite": true, "sum_norm": 20.0, "sum_change": change, "divisor": 70.0});
        json!({
            "target": 5,
            "tensors": [{"name": "weight", "size": 4}],
            "precision": 1.2e-7,
            "noise_multiplier": 1.0,
            "buffers_examined": true,
            "original": {"steps": [step(None)]},
            "control": {"steps": [step(Some(0.0))]},
            "replays": [{"adjacency": "zero-out", "replay": {"steps": [step(Some(1.0))]}}],
            "noise": [[{"powers": [0.0, 4.0, 0.0, 4.0]}]],
        })
    }

    fn report(record: &Value) -> Value {
        serde_json::from_str(&check_step(&record.to_string()).unwrap()).unwrap()
    }

    #[test]
    fn records_become_reports() {
        let correct = report(&record());
        assert_eq!(correct["outcome"], "no-violation-found", "{correct}");
        assert_eq!(correct["findings"], json!([]));
        assert_eq!(correct["noise"]["estimate"], 1.0);
        assert_eq!(correct["noise"]["tensors"][0]["name"], "weight");
        let mut faulty = record();
        faulty["replays"][0]["replay"]["steps"][0]["sum_change"] = json!(83.0);
        let faulty = report(&faulty);
        assert_eq!(
            (&faulty["outcome"], &faulty["sensitivity"]),
            (&json!("violated"), &json!(83.0))
        );
        let finding = &faulty["findings"][0];
        assert_eq!(
            (&finding["code"], &finding["severity"], &finding["data"]["place"]["step"]),
            (&json!("sensitivity_exceeded"), &json!("violates"), &json!(0))
        );
    }

    #[test]
    fn invalid_records_name_the_field() {
        let message = |record: &str| check_step(record).unwrap_err().message;
        assert!(message("{}").contains("missing field `target`"));
        let mut other = record();
        other["control"]["steps"][0]["sum_change"] = json!("much");
        assert!(message(&other.to_string()).contains("control.steps[0].sum_change"));
        let mut other = record();
        other["precision"] = json!(2.0);
        assert!(message(&other.to_string()).starts_with("precision is 2; it must be"));
    }
}

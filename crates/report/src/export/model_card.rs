//! Values for model cards.

use serde_json::{Value, json};

use super::{ExportContext, PROGRAM, VERSION, value_name};
use crate::summary::Summary;

/// A `model-index` for the metadata of a model card on Hugging Face, as YAML.
///
/// The names of model and data set are placeholders, as a report does not know them.
#[must_use]
pub fn model_index(summary: &Summary, context: &ExportContext<'_>) -> String {
    let quoted = |text: &str| Value::from(text).to_string(); // JSON strings are YAML
    let mut out = format!(
        "model-index:\n- name: MODEL\n  results:\n  - task:\n      type: other\n      name: {}\n    \
         dataset:\n      type: DATASET\n      name: DATASET\n    metrics:\n",
        quoted(&summary.title)
    );
    if summary.values.is_empty() {
        out = out.trim_end().to_owned() + " []\n";
    }
    for value in &summary.values {
        out.push_str(&format!(
            "    - type: epsilon\n      name: {}\n      value: {}\n",
            quoted(&value_name(value)),
            Value::from(value.epsilon)
        ));
    }
    out.push_str(&format!(
        "# {PROGRAM} {VERSION}\n# {}\n# {}\n",
        one_line(&summary.headline),
        one_line(context.command)
    ));
    out
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// A CycloneDX 1.6 document whose model card has the values as performance metrics.
#[must_use]
pub fn cyclonedx(summary: &Summary, context: &ExportContext<'_>) -> Value {
    let metrics: Vec<Value> = summary
        .values
        .iter()
        .map(|value| json!({ "type": value_name(value), "value": value.epsilon.to_string() }))
        .collect();
    let tests = summary.tests.iter().map(|test| format!("{}: {}", test.name, test.verdict));
    let findings = summary.findings.iter().map(|finding| finding.sentence.clone());
    let headline = [summary.headline.clone()].into_iter();
    let limits: Vec<String> = headline.chain(tests).chain(findings).collect();
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "tools": { "components": [
                { "type": "application", "name": PROGRAM, "version": VERSION }
            ]},
            "properties": [{ "name": "dpscope:command", "value": context.command }],
        },
        "components": [{
            "type": "machine-learning-model",
            "name": "MODEL",
            "modelCard": {
                "quantitativeAnalysis": { "performanceMetrics": metrics },
                "considerations": { "technicalLimitations": limits },
            },
        }],
    })
}

//! SARIF, for code scanning.

use std::collections::BTreeMap;

use dpscope_core::audit::claim::Verdict;
use dpscope_core::training_check::Severity;
use serde_json::{Value, json};

use super::{ExportContext, PROGRAM, VERSION};
use crate::summary::Summary;
use crate::words::outcome_name;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// How a log of this program begins.
pub const SARIF_MARK: &str = "{\n  \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\"";

/// The log of one run, in SARIF 2.1.0: a result for each finding, and for each claim or limit that is
/// refuted or open.
///
/// A refuted claim is an error. An inconclusive one has the kind `open`, which has no level. Rules are
/// named by the codes of findings. The file of the training, if there is one, is the location.
#[must_use]
pub fn sarif(summary: &Summary, context: &ExportContext<'_>) -> Value {
    let found = results(summary);
    let rules: BTreeMap<&str, &Found> =
        found.iter().rev().map(|found| (found.rule.as_str(), found)).collect();
    let indices: BTreeMap<&str, usize> =
        rules.keys().enumerate().map(|(index, rule)| (*rule, index)).collect();
    let results: Vec<Value> =
        found.iter().map(|found| result(found, indices[found.rule.as_str()], context)).collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": PROGRAM,
                "semanticVersion": VERSION,
                "rules": rules.values().map(|found| rule(found)).collect::<Vec<Value>>(),
            }},
            "invocations": [{ "executionSuccessful": true, "commandLine": context.command }],
            "properties": { "title": summary.title, "headline": summary.headline },
            "results": results,
        }]
    })
}

/// A result before it has a place.
struct Found {
    rule: String,
    kind: &'static str,
    level: &'static str,
    text: String,
    about: &'static str,
}

fn results(summary: &Summary) -> Vec<Found> {
    let tests = summary.tests.iter().filter(|test| test.outcome != Verdict::NotRefuted);
    let tests = tests.map(|test| Found {
        rule: format!("{}-{}", test.kind.name(), outcome_name(test.outcome)),
        kind: if test.outcome == Verdict::Refuted { "fail" } else { "open" },
        level: if test.outcome == Verdict::Refuted { "error" } else { "none" },
        text: format!("{}: {}. {}", test.name, test.verdict, test.sentence),
        about: match test.outcome {
            Verdict::Refuted => "More leaks than is claimed or accepted.",
            _ => "Whether more leaks than is claimed or accepted cannot be decided.",
        },
    });
    let findings = summary.findings.iter().map(|finding| Found {
        rule: finding.code.clone(),
        kind: "fail",
        level: match finding.severity {
            Severity::Refutes => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        },
        text: finding.sentence.clone(),
        about: "Something about the data, the protocol or the described training; its message says what \
                to do about it.",
    });
    tests.chain(findings).collect()
}

fn rule(found: &Found) -> Value {
    json!({
        "id": found.rule,
        "shortDescription": { "text": found.rule.replace('-', " ") },
        "fullDescription": { "text": found.about },
        "help": { "text": found.text },
        "defaultConfiguration": { "level": found.level },
    })
}

fn result(found: &Found, index: usize, context: &ExportContext<'_>) -> Value {
    let mut result = json!({
        "ruleId": found.rule,
        "ruleIndex": index,
        "kind": found.kind,
        "level": found.level,
        "message": { "text": found.text },
    });
    if let Some(file) = context.file {
        result["locations"] = json!([{ "physicalLocation": {
            "artifactLocation": { "uri": uri(file) },
            "region": { "startLine": 1 },
        }}]);
    }
    result
}

/// A relative path as a URI reference.
fn uri(path: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' | b'~' => {
            char::from(byte).to_string()
        }
        b'\\' => "/".to_owned(),
        other => format!("%{other:02X}"),
    };
    path.bytes().map(byte).collect()
}

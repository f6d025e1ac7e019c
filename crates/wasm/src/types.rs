//! Functions return what their declared types promise: the types are generated from records, the
//! names in signatures are text.

use dpscope_core::accounting::{Accountant, Given, Poisson, Query, Training};
use serde::Serialize;
use serde_json::Value as Json;

use dpscope_report::record::page::Calibrated;
use dpscope_report::words::AuditConclusion;

use crate::calculators::{from_counts, planned};
use crate::conclusion::concluded;
use crate::failure::Failure;
use crate::record::{Record, Value};
use crate::studies;

/// Fields of an interface, and whether each may be absent; none where there is no such type.
fn fields(name: &str) -> Vec<(String, bool)> {
    let start = format!("export interface {name} ");
    let after =
        dpscope_report::TYPES.split_once(&start).map(|(_, after)| after).unwrap_or_default();
    let (extends, after) = after.split_once("{\n").unwrap_or_default();
    let base = extends.trim().strip_prefix("extends ");
    let body = after.split_once("\n}").map(|(body, _)| body).unwrap_or_default();
    let line = |line: &str| {
        // fields of the interface itself, not of objects in it
        let field = line.strip_prefix("  ").filter(|line| line.starts_with(char::is_alphabetic))?;
        let name = field.split_once(':')?.0;
        Some((name.trim_end_matches('?').to_owned(), name.ends_with('?')))
    };
    let inherited = base.map_or(Vec::new(), fields);
    inherited.into_iter().chain(body.lines().filter_map(line)).collect()
}

/// What is wrong with the type of a record.
fn problem(name: &str, record: &impl Serialize) -> Option<String> {
    let Ok(Json::Object(record)) = serde_json::to_value(record) else {
        return Some(format!("{name} is no object"));
    };
    let fields = fields(name);
    let unknown = record.keys().find(|key| !fields.iter().any(|(name, _)| name == *key));
    let missing = fields.iter().find(|(field, optional)| !optional && !record.contains_key(field));
    unknown.or(missing.map(|(field, _)| field)).map(|field| format!("{name}: {field}"))
}

fn number(name: &'static str, value: f64) -> (&'static str, Value) {
    (name, Value::Number(value))
}

#[test]
fn types_have_the_fields_of_records() {
    let counts = [
        number("false_positives", 1.0),
        number("zero_out_trials", 9.0),
        number("false_negatives", 0.0),
        number("target_trials", 9.0),
    ];
    let counts = Record::of(&counts, &counts.each_ref().map(|field| field.0)).unwrap();
    assert_eq!(problem("AuditResult", &from_counts(&counts, 1e-5, 0.05).unwrap()), None);
    let rule = ("threshold_rule", Value::Text("split".to_owned()));
    let question = [number("delta", 1e-5), number("significance", 0.05), rule];
    let question =
        Record::of(&question, &["epsilon", "delta", "significance", "threshold_rule"]).unwrap();
    assert_eq!(problem("PlanTable", &planned(&question).unwrap()), None);
    assert_eq!(problem("Calibrated", &Calibrated { value: 1.0, epsilon: 1.0 }), None);
    assert_eq!(problem("Failure", &Failure::missing("steps")), None);

    let setting =
        Training { noise_multiplier: 1.0, steps_per_epoch: 10, epochs: 1, sampling_rate: None };
    let at = Given::Delta(1e-5);
    assert_eq!(problem("Setting", &setting), None);
    assert_eq!(problem("Accounted", &Poisson.account(&Query::upper(setting, at)).unwrap()), None);
    let pair = studies::drawn_pair(setting, at, 1_000, 7, 0.05).unwrap();
    assert_eq!(problem("Pair", &pair), None);
    let estimated = studies::estimated_pair(setting, at, 1_000, 7).unwrap();
    assert_eq!(problem("PairEstimate", &estimated), None);
    assert_eq!(problem("Accounted", &pair.estimate), None);
    let epsilons = [number("poisson", 1.0), number("deterministic", 2.0)];
    let epsilons = Record::of(&epsilons, &["poisson", "deterministic"]).unwrap();
    let conclusion = concluded("shuffle", &epsilons, 0.05).unwrap();
    assert_eq!(problem("Conclusion", &conclusion), None);
    let conclusion = AuditConclusion::new(4.0, 0.2, 0.7);
    assert_eq!(problem("AuditConclusion", &conclusion), None);
    let check = studies::example();
    assert_eq!(problem("CheckReport", &check), None);

    let (mut recorded, facts) = studies::example_of_files();
    assert_eq!(problem("ScoresResult", &recorded), Some("ScoresResult: curve".to_owned()));
    recorded["curve"] = Json::Null;
    assert_eq!(problem("ScoresResult", &recorded), None);
    assert_eq!(problem("FileFacts", &facts), None);

    // Broken twins: a field too many, one too few, another name.
    assert!(problem("Setting", &pair.estimate).is_some());
    assert!(problem("Accounted", &setting).is_some());
    assert!(problem("PlanTable", &check).is_some());
}

#[test]
fn fields_of_a_training_are_those_that_are_read() {
    let types: Vec<String> = fields("Training").into_iter().map(|(name, _)| name).collect();
    assert_eq!(types.len(), studies::TRAINING.len());
    assert!(studies::TRAINING.iter().all(|name| types.iter().any(|field| field == name)));
    let types: Vec<String> = fields("Mechanism").into_iter().map(|(name, _)| name).collect();
    assert_eq!(types.len(), crate::mechanism::FIELDS.len());
    assert!(crate::mechanism::FIELDS.iter().all(|name| types.iter().any(|field| field == name)));
}

#[cfg(feature = "audits")]
#[test]
fn types_of_audits_have_the_fields_of_records() {
    use crate::audits::{PLAN, example};
    let (progress, result) = example();
    assert_eq!(problem("AuditProgress", &progress), None);
    assert_eq!(problem("SimulationResult", &result), None);
    assert!(problem("AuditResult", &result).is_some());
    let types: Vec<String> = fields("AuditPlan").into_iter().map(|(name, _)| name).collect();
    assert_eq!(types.len(), PLAN.len());
    assert!(PLAN.iter().all(|name| types.iter().any(|field| field == name)));
}

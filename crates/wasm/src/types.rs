//! Functions return what their declared types promise: the types are generated from records, the
//! names in signatures are text.

use dpscope_core::accounting::{
    Accountant, Calibrated, Calibration, Given, Poisson, Query, Training,
};
use dpscope_core::audit::Counts;
use dpscope_core::audit::bound::ThresholdRule;
use dpscope_core::mechanism::SamplerKind;
use dpscope_core::training_check::TrainingDescription;
use dpscope_report::Reported;
use dpscope_report::record::input::{
    AuditPlan, BoundSetting, EpochSize, GeneratorOptions, GuessCounts, MatrixQuestion, Mechanism,
    NoisySumSimulation, OneShotQuestion, PateGanQuestion, PlanQuestion, RunSimulation,
    SubsetOptions, VotesQuestion,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use dpscope_report::words::{AuditBound, AuditConclusion, Claimant};

use crate::calculators::{from_counts, planned};
use crate::conclusion::concluded;
use crate::failure::Failure;
use crate::input::Value;
use crate::{accounting, one_shot, pate, studies, synth};

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

#[test]
fn types_have_the_fields_of_records() {
    let counts =
        Counts { false_positives: 1, zero_out_trials: 9, false_negatives: 0, target_trials: 9 };
    assert_eq!(problem("AuditResult", &from_counts(counts, 1e-5, 0.05).unwrap()), None);
    let question = PlanQuestion {
        epsilon: None,
        delta: 1e-5,
        significance: 0.05,
        threshold_rule: ThresholdRule::Split,
        observations: None,
    };
    assert_eq!(problem("PlanTable", &planned(&question).unwrap()), None);
    assert_eq!(
        problem("Calibrated", &Calibrated { value: 1.0, epsilon: 1.0, is_end_of_range: true }),
        None
    );
    assert_eq!(problem("Failure", &Failure::missing("steps")), None);

    let counts = GuessCounts { canaries: 1_000, guesses: 100, correct: 95 };
    let bound = one_shot::from_guesses(counts, 1e-5, 0.05).unwrap();
    assert_eq!(problem("GuessBound", &bound), None);
    let (run, null) = studies::ranked_examples();
    assert_eq!(problem("RankedRun", &run), Some("RankedRun: ranking".to_owned()));
    assert_eq!(problem("RankedNull", &null), Some("RankedNull: ranking".to_owned()));
    assert_eq!(problem("RankedBound", &run.walk), None);
    assert_eq!(problem("BoundaryStep", &run.boundary[0]), None);
    let (sum, above) = one_shot::examples();
    assert_eq!(problem("SimulatedSum", &sum), None);
    assert_eq!(problem("OneShotSize", &one_shot::example()), None);
    let report = accounting::example();
    assert_eq!(problem("MatrixReport", &report), None);
    assert_eq!(problem("MatrixStrategyRecord", &report.strategies[0]), None);
    assert_eq!(problem("MatrixValue", &report.strategies[0].value), None);
    assert_eq!(problem("VotesAnswer", &pate::tests::example()), None);
    assert_eq!(problem("RuleValue", &sum.rules[0]), None);
    assert_eq!(problem("CosineBin", &sum.bins[0]), None);
    assert_eq!(problem("RunsAboveTruth", &above), None);
    assert_eq!(problem("RunsAbove", &above.with_leak), None);

    let training =
        Training { noise_multiplier: 1.0, steps_per_epoch: 10, epochs: 1, sampling_rate: None };
    let at = Given::Delta(1e-5);
    assert_eq!(problem("Training", &training), None);
    assert_eq!(problem("Accounted", &Poisson.account(&Query::upper(training, at)).unwrap()), None);
    let pair = studies::drawn_pair(training, at, 1_000, 7, 0.05).unwrap();
    assert_eq!(problem("Pair", &pair), None);
    let estimated = studies::estimated_pair(training, at, 1_000, 7).unwrap();
    assert_eq!(problem("PairEstimate", &estimated), None);
    assert_eq!(problem("Accounted", &pair.estimate), None);
    let epsilons = vec![("poisson".to_owned(), 1.0), ("deterministic".to_owned(), 2.0)];
    let conclusion = concluded(SamplerKind::Shuffle, epsilons, 0.05, Some(1.0)).unwrap();
    assert_eq!(problem("Conclusion", &conclusion), None);
    let bound = AuditBound { epsilon: 4.0, gain_at_10x: 0.2, ceiling: 5.0 };
    let conclusion = AuditConclusion::new(bound, Claimant::Reader, 0.7);
    assert_eq!(problem("AuditConclusion", &conclusion), None);
    let check = studies::example();
    assert_eq!(problem("CheckedTraining", &check), None);

    let statement = studies::example_of_statement(SamplerKind::Shuffle);
    assert_eq!(problem("StatementTexts", &statement), None);

    // Controls: a field too many, one too few, another name.
    assert!(problem("Training", &pair.estimate).is_some());
    assert!(problem("Accounted", &training).is_some());
    assert!(problem("PlanTable", &check).is_some());
}

/// Fields of a declared type that the record does not have.
fn unread<T: DeserializeOwned>(name: &str) -> Vec<String> {
    let is_unknown = |field: &str| {
        let object = Value::Record(vec![(field.to_owned(), Value::Other)]);
        object.read::<T>("record").is_err_and(|failure| failure.field == Some("record"))
    };
    let declared = fields(name);
    assert!(!declared.is_empty(), "{name}");
    declared.into_iter().map(|(field, _)| field).filter(|field| is_unknown(field)).collect()
}

#[test]
fn every_declared_field_is_read() {
    assert_eq!(unread::<TrainingDescription>("TrainingDescription"), [""; 0]);
    assert_eq!(unread::<Calibration>("Calibration"), [""; 0]);
    assert_eq!(unread::<Counts>("Counts"), [""; 0]);
    assert_eq!(unread::<PlanQuestion>("PlanQuestion"), [""; 0]);
    assert_eq!(unread::<GuessCounts>("GuessCounts"), [""; 0]);
    assert_eq!(unread::<RunSimulation>("RunSimulation"), [""; 0]);
    assert_eq!(unread::<NoisySumSimulation>("NoisySumSimulation"), [""; 0]);
    assert_eq!(unread::<OneShotQuestion>("OneShotQuestion"), [""; 0]);
    assert_eq!(unread::<Training>("Training"), [""; 0]);
    assert_eq!(unread::<MatrixQuestion>("MatrixQuestion"), [""; 0]);
    assert_eq!(unread::<VotesQuestion>("VotesQuestion"), [""; 0]);
    assert_eq!(unread::<PateGanQuestion>("PateGanQuestion"), [""; 0]);
    assert_eq!(unread::<GeneratorOptions>("GeneratorOptions"), [""; 0]);
    assert_eq!(unread::<EpochSize>("EpochSize"), [""; 0]);
    assert_eq!(unread::<BoundSetting>("BoundSetting"), [""; 0]);
    assert_eq!(unread::<SubsetOptions>("SubsetOptions"), [""; 0]);
    assert_eq!(unread::<Mechanism>("Mechanism"), [""; 0]);
    assert_eq!(unread::<AuditPlan>("AuditPlan"), [""; 0]);
    // Control: a type with fields that no page passes.
    assert!(!unread::<TrainingDescription>("CheckReport").is_empty());
}

#[test]
fn types_of_generators_have_the_fields_of_records() {
    let (report, picture, so_far, facts) = synth::examples();
    assert_eq!(problem("PateGanReport", &report.answered()), None);
    assert_eq!(problem("GeneratorCheck", &report.checks[0]), None);
    assert_eq!(problem("PateGanPicture", &picture), None);
    assert_eq!(problem("DomainCell", &picture.cells[0]), None);
    assert_eq!(problem("ScoreBin", &picture.scores[0]), None);
    assert_eq!(problem("PateGanSoFar", &so_far), None);
    assert_eq!(problem("PateGanFacts", &facts), None);
    assert_eq!(problem("FaultFacts", &facts.groups[0].faults[0]), None);
    assert_eq!(problem("ImplementationFacts", &facts.implementations[1]), None);
    assert_eq!(problem("GeneratorReport", &synth::example().answered()), None);
    assert!(problem("PateGanPicture", &so_far).is_some());
}

#[test]
fn types_of_audits_have_the_fields_of_records() {
    let (progress, result) = crate::audits::example();
    assert_eq!(problem("AuditProgress", &progress), None);
    assert_eq!(problem("SimulationResult", &result), None);
    assert!(problem("AuditResult", &result).is_some());
}

#[test]
fn types_of_trainings_have_the_fields_of_records() {
    let (overview, watched, bins, report) = crate::training::examples();
    assert_eq!(problem("TrainingOverview", &overview), None);
    assert_eq!(problem("WatchedTraining", &watched), None);
    assert_eq!(problem("LearnedAfter", &watched.learned[0]), None);
    assert_eq!(problem("ExpectedScoreBin", &bins[0]), None);
    assert_eq!(problem("Report", &report.answered()), None);
    assert!(problem("TrainingOverview", &watched).is_some());
}

#[test]
fn types_of_trainings_with_canaries_have_the_fields_of_records() {
    let (so_far, watched, report) = crate::training_canaries::examples();
    assert_eq!(problem("CanaryTrainingsSoFar", &so_far), None);
    assert_eq!(problem("CanaryScoreBin", &so_far.bins[0]), None);
    assert_eq!(problem("CanariesAfter", &watched[0]), None);
    assert_eq!(problem("CanaryStep", &crate::training_canaries::canary_step()), None);
    assert_eq!(problem("OneRunReport", &report.answered()), None);
    assert!(problem("CanariesAfter", &so_far).is_some());
    let (so_far, watched, overview, report) = crate::training_canaries::federated::examples();
    assert_eq!(problem("FederatedTrainingsSoFar", &so_far), None);
    assert_eq!(problem("NormalScoreBin", &so_far.bins[0]), None);
    assert_eq!(problem("FederatedAfter", &watched[0]), None);
    assert_eq!(problem("FederatedOverview", &overview), None);
    assert_eq!(problem("OneShotReport", &report.answered()), None);
}

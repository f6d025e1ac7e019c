//! Reports of every kind, edited.

use dpscope_core::accounting::{Phase, Schedule};
use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::bound::{Statement, ThresholdRule};
use dpscope_core::audit::claim::PrivacyClaim;
use dpscope_core::audit::one_run::{CanaryGame, GuessEvidence, Guesses, OneRunResult};
use dpscope_core::audit::one_shot::{CanaryDesign, NullTails, OneShotQuestion, OneShotResult};
use dpscope_core::audit::trade_off::Trials;
use dpscope_core::audit::{AuditOptions, Counts, Scores};
use dpscope_core::mechanism::BatchSampler;
use dpscope_core::training_check::{AssumedAccounting, LoaderBatches, TrainingSetup, diagnose};
use serde_json::{Value, json};

use super::*;
use crate::recompute::RecomputationOutcome;
use crate::record::{
    ClaimTest, ComparedQuantity, OtherParameters, PrivacyUnit, RecordSource, ratio_to_poisson,
};
use crate::words::{
    CanaryGameKind, CanaryNull, CoinsStatus, GuessRuleKind, OneRunDesign, OneShotAttacker,
    OneShotDesign, Subject,
};

const CLAIM: PrivacyClaim =
    PrivacyClaim { epsilon: 3.0, delta: 1e-5, adjacency: Adjacency::ZeroOut };
const TEST: ClaimTest = ClaimTest { claim: Some(CLAIM), fail_above: Some(2.0) };

fn json(report: impl serde::Serialize) -> Value {
    serde_json::to_value(report).unwrap()
}

fn counts() -> Value {
    let counts = Counts {
        false_positives: 12,
        zero_out_trials: 1000,
        false_negatives: 480,
        target_trials: 1000,
    };
    let result = counts.audit(Statement::default()).unwrap();
    json(Report::new(Subject::Counts, &result, counts.trials(), &TEST).unwrap())
}

fn scores(subject: Subject, threshold_rule: ThresholdRule) -> Value {
    let world = |shift: f64| -> Vec<f64> {
        (0..1000).map(|i| shift + f64::from(i * 7919 % 1000) / 300.0).collect()
    };
    let (target, zero_out) = (world(1.501), world(0.0));
    let options = AuditOptions { threshold_rule, ..AuditOptions::default() };
    let result = Scores::new(&target, &zero_out).audit(&options).unwrap();
    json(Report::new(subject, &result, Trials { target: 1000, zero_out: 1000 }, &TEST).unwrap())
}

fn one_run(correct: u64) -> Value {
    let game = CanaryGame::sets(1000, 2).unwrap();
    let evidence = GuessEvidence::fixed(Guesses::new(game, 500, correct).unwrap());
    let result = OneRunResult::new(evidence, &[1e-5, 1e-6], 0.05).unwrap();
    let design = OneRunDesign {
        game: CanaryGameKind::Coins,
        canaries: 1000,
        set_size: 2,
        adjacency: Adjacency::ZeroOut,
        rule: GuessRuleKind::Fixed,
        coins: CoinsStatus::Unseen,
    };
    json(OneRunReport::new(result, design, &TEST).unwrap())
}

fn one_shot() -> Value {
    let number = CanaryDesign::Poisson { mean: 1000.0 };
    let question = OneShotQuestion {
        design: number,
        inserted: 1010,
        delta: 1e-5,
        significance: 0.05,
        null_significance: 0.0,
        server_rounds: 1,
    };
    let tails = (1..=1010).map(|i| -f64::from(i) / 20.0).collect();
    let result = OneShotResult::new(&NullTails::new(tails).unwrap(), question).unwrap();
    let design = OneShotDesign {
        number,
        inserted: 1010,
        null: CanaryNull::Cosines { dimension: 1_000_000 },
        attacker: OneShotAttacker::FinalModel,
        unit: PrivacyUnit::User,
        adjacency: Adjacency::AddRemove,
        is_committed: true,
    };
    json(OneShotReport::new(result, design, None, &TEST).unwrap())
}

fn check() -> Value {
    let setup = TrainingSetup {
        dataset_size: 60_000,
        batch_size: 600,
        epochs: 3,
        partial_epoch_steps: 0,
        noise_multiplier: 0.8,
        drawn_noise: None,
        loader: LoaderBatches::Sampler(BatchSampler::Shuffle),
        drop_last: false,
        drawn_rate: None,
        draws_per_epoch: None,
    };
    let accounting = AssumedAccounting::default();
    let found = diagnose(&setup, &accounting, &CLAIM).unwrap();
    json(CheckReport::new(setup, accounting, (&CLAIM).into(), found))
}

fn comparison() -> Value {
    let setting = json!({ "noise_multiplier": 1.0, "steps": 100, "epochs": 1 });
    let setting: Schedule = serde_json::from_value(setting).unwrap();
    let other = OtherParameters::default();
    let mut rows: Vec<Value> = Vec::new();
    let mut values = Vec::new();
    for quantity in ComparedQuantity::all(other, false) {
        let cell = quantity.computed(&setting, other, 1e-5);
        let mut row = cell.map_or(json!({ "reason": "not drawn" }), json);
        let epsilon = row["epsilon"].as_f64();
        let poisson = rows.first().map_or(epsilon, |row| row["epsilon"].as_f64());
        row["what"] = json(quantity);
        row["ratio_to_poisson"] = json(ratio_to_poisson(epsilon, poisson));
        values.extend(epsilon.map(|epsilon| (quantity, epsilon)));
        rows.push(row);
    }
    let headline = ComparedQuantity::conclusion(&values, 0.05, None).sentence;
    let mut report = json(setting);
    for (name, value) in [
        ("schema", json!("dpscope.comparison/1")),
        ("headline", json!(headline)),
        ("delta", json!(1e-5)),
        ("significance", json!(0.05)),
        ("rows", json!(rows)),
    ] {
        report[name] = value;
    }
    report
}

fn imported() -> Value {
    let phases = vec![Phase { noise_multiplier: 1.1, sampling_rate: 0.01, steps: 500 }];
    json(ImportedReport::new(RecordSource::Opacus, phases, 1e-5, Some(CLAIM)).unwrap())
}

/// A report whose values follow; sentences follow from them in turn.
fn mended(mut report: Value) -> Value {
    for _ in 0..2 {
        for difference in recomputed(&report).unwrap().differences {
            let (place, name) = difference.pointer.rsplit_once('/').unwrap();
            report.pointer_mut(place).unwrap()[name] = difference.expected;
        }
    }
    report
}

fn pategan() -> Value {
    mended(json!({
        "schema": "dpscope.pategan/1", "epsilon": 0, "ceiling": 9, "accounted_epsilon": 1,
        "significance": 0.05, "delta": 1e-5, "checks": [], "fail_above": { "epsilon": 1, "verdict": {} },
        "counts": {
            "target": 400, "zero_out": 400, "false_positives": 3, "false_negatives": 30,
            "fpr_upper": 0, "fnr_upper": 0,
        },
    }))
}

fn generator() -> Value {
    let mut report = pategan();
    let attack = json!({ "counts": report["counts"], "epsilon": 0, "ceiling": 9 });
    for (name, value) in [
        ("schema", json!("dpscope.generator/1")),
        ("attack", attack),
        ("claimed_epsilon", json!(1)),
        ("runs", json!(800)),
        ("failed", json!([1, 2])),
        ("findings", json!([])),
    ] {
        report[name] = value;
    }
    let mut report = mended(report);
    report.as_object_mut().unwrap().remove("counts");
    report
}

/// A report of each kind.
fn all() -> Vec<Value> {
    vec![
        counts(),
        scores(Subject::Scores, ThresholdRule::Split),
        scores(Subject::Scores, ThresholdRule::MaxUncorrected),
        scores(Subject::RecordedOutputs, ThresholdRule::Simultaneous),
        one_run(400),
        one_shot(),
        check(),
        comparison(),
        imported(),
        pategan(),
        generator(),
    ]
}

fn outcome(report: &Value) -> RecomputationOutcome {
    recomputed(report).unwrap().outcome()
}

/// The pointers that differ after an edit.
fn differing(report: &Value, pointer: &str, value: Value) -> Vec<String> {
    let mut edited = report.clone();
    let (place, name) = pointer.rsplit_once('/').unwrap();
    edited.pointer_mut(place).unwrap()[name] = value;
    recomputed(&edited).unwrap().differences.into_iter().map(|it| it.pointer).collect()
}

#[test]
fn worlds_without_observations_and_rates_above_1_are_refused() {
    let report = scores(Subject::Scores, ThresholdRule::Split);
    for (pointer, edit) in [
        ("/observations/evaluated/target", 0),
        ("/observations/evaluated/zero_out", 0),
        ("/result/expected_rates/fpr", 2),
    ] {
        let mut edited = report.clone();
        *edited.pointer_mut(pointer).unwrap() = json!(edit);
        assert!(matches!(recomputed(&edited), Err(RecomputeError::Counts { .. })), "{pointer}");
    }
}

#[test]
fn tails_follow_from_the_significance() {
    for (subject, rule) in [
        (Subject::Scores, ThresholdRule::Split),
        (Subject::Scores, ThresholdRule::Simultaneous),
        (Subject::Scores, ThresholdRule::MaxUncorrected),
        (Subject::RecordedOutputs, ThresholdRule::Split),
        (Subject::RecordedOutputs, ThresholdRule::Simultaneous),
    ] {
        let report = scores(subject, rule);
        let forged = differing(&report, "/result/tail_per_rate", json!(0.45));
        assert!(forged.contains(&"/result/tail_per_rate".to_owned()), "{subject:?} {rule:?}");
        let forged = differing(&report, "/result/significance", json!(0.9));
        assert!(forged.contains(&"/result/tail_per_rate".to_owned()), "{subject:?} {rule:?}");
    }
}

#[test]
fn attacks_on_recorded_outputs_share_the_significance() {
    for rule in [ThresholdRule::Split, ThresholdRule::Simultaneous] {
        let mut report = scores(Subject::RecordedOutputs, rule);
        let tail = report["result"]["tail_per_rate"].as_f64().unwrap();
        let is_possible = |report: &Value, share: f64| {
            let forged = differing(report, "/result/tail_per_rate", json!(tail * share));
            !forged.contains(&"/result/tail_per_rate".to_owned())
        };
        assert!(is_possible(&report, 1.0) && is_possible(&report, 0.9), "{rule:?}");
        assert!(!is_possible(&report, 0.8) || rule == ThresholdRule::Simultaneous, "{rule:?}");
        report["fixed_step"] = json!(3);
        assert!(!is_possible(&report, 1.0), "{rule:?}");
        report["noiseless_steps_decide"] = json!(true);
        assert!(is_possible(&report, 0.9) && !is_possible(&report, 1.0), "{rule:?}");
    }
}

#[test]
fn lists_of_values_cannot_be_shortened() {
    for report in [counts(), scores(Subject::Scores, ThresholdRule::Split)] {
        assert!(differing(&report, "/bounds", json!([])).contains(&"/bounds".to_owned()));
        assert!(differing(&report, "/bounds", json!(null)).contains(&"/bounds".to_owned()));
    }
    let report = scores(Subject::Scores, ThresholdRule::MaxUncorrected);
    assert_eq!(differing(&report, "/estimates", json!([])), ["/estimates"]);
    let mut report = comparison();
    report["rows"].as_array_mut().unwrap().remove(1);
    assert!(recomputed(&report).unwrap().differences.iter().any(|it| it.pointer == "/rows"));
}

#[test]
fn findings_that_follow_cannot_be_deleted() {
    let report = one_run(500);
    let codes = |report: &Value| -> Vec<Value> {
        report["findings"].as_array().unwrap().iter().map(|it| it["code"].clone()).collect()
    };
    assert_eq!(codes(&report), ["all_correct"]);
    assert_eq!(differing(&report, "/findings", json!([])), ["/findings"]);
    let mut report = one_shot();
    report["design"]["number"]["mean"] = json!(9000.0);
    let found = recomputed(&report).unwrap();
    assert!(found.differences.iter().any(|it| it.pointer == "/findings"));
}

#[test]
fn that_nothing_else_was_found_is_open() {
    for report in all() {
        let list = match report["schema"].as_str().unwrap() {
            "dpscope.report/2"
            | "dpscope.one_run/1"
            | "dpscope.one_shot/1"
            | "dpscope.generator/1" => "/findings",
            "dpscope.pategan/1" => "/checks",
            _ => continue,
        };
        let open = recomputed(&report).unwrap().open;
        assert!(open.iter().any(|it| it.pointer == list), "{}", report["schema"]);
    }
}

#[test]
fn reports_without_the_basis_of_their_headline_are_not_consistent() {
    let not_compared = |report: &Value| {
        let found = recomputed(report).unwrap();
        assert_eq!(found.outcome(), RecomputationOutcome::NotCompared, "{}", report["schema"]);
        found.not_compared.into_iter().map(|it| it.pointer).collect::<Vec<_>>()
    };
    let mut report = one_run(400);
    report["runs"] = json!({ "made": 2, "planned": 2 });
    assert_eq!(not_compared(&report), ["/bounds/0/epsilon"]);
    report["runs"] = json!({ "made": 2 });
    assert!(recomputed(&report).is_err());
    let mut report = generator();
    report["attack"].as_object_mut().unwrap().remove("counts");
    assert_eq!(not_compared(&report), ["/attack/epsilon"]);
    let mut report = pategan();
    report.as_object_mut().unwrap().remove("counts");
    assert_eq!(not_compared(&report), ["/epsilon"]);
    let mut report = one_shot();
    for part in ["deciding", "evidence"] {
        report.as_object_mut().unwrap().remove(part);
    }
    assert_eq!(not_compared(&report), ["/bounds/epsilon"]);
    let mut report = generator();
    report.as_object_mut().unwrap().remove("attack");
    assert_eq!(outcome(&report), RecomputationOutcome::Nothing);
}

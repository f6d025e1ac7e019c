use std::path::Path;

use serde_json::{Value, json};

use super::library::{Answer, Bracket, Run};
use super::*;

const ACCOUNTING: &str = include_str!("../../oracles/data/accounting.json");
const ESTIMATORS: &str = include_str!("../../oracles/data/estimators.json");
const EPS_EMP: &str = include_str!("../../oracles/data/eps_emp.json");

fn data() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/oracles/data"))
}

fn findings(document: &Value) -> Vec<Finding> {
    evaluate(&document.to_string(), "x.json", data(), &Real).unwrap()
}

fn refusal(text: &str) -> String {
    evaluate(text, "x.json", data(), &Real).unwrap_err().to_string()
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Draws of the pair take seconds; its interval is shifted instead.
struct WithoutPair;

impl Library for WithoutPair {
    fn pair(&self, run: Run) -> Answer<PairValue> {
        let (lower, standard_error) = (0.0, 0.0);
        let all = parsed(ACCOUNTING);
        let cases = all["cases"].as_array().unwrap().iter();
        let mut same = cases.filter(|case| {
            let settings = &case["settings"];
            case["group"].as_str().unwrap().starts_with("f_exact")
                && settings["sigma"] == run.noise_multiplier
                && settings["steps_per_epoch"] == run.steps_per_epoch
                && settings["epochs"] == run.epochs
                && settings["delta"] == run.delta
        });
        let estimate = same.next().unwrap()["interval"][1].as_f64().unwrap();
        Ok(PairValue { lower, estimate, standard_error })
    }
}

#[test]
fn a_shifted_interval_fails() {
    let sound = evaluate(ACCOUNTING, "x.json", data(), &WithoutPair).unwrap();
    assert_eq!(Tally::of(&sound).failed, 0);
    let mut document = parsed(ACCOUNTING);
    let mut shifted = 0;
    for case in document["cases"].as_array_mut().unwrap() {
        let interval = case["interval"].clone();
        let shift = |ends: &Value| {
            json!([1.1 * ends[0].as_f64().unwrap(), 1.1 * ends[1].as_f64().unwrap()])
        };
        case["interval"] = match &interval {
            Value::Object(sides) => {
                sides.iter().map(|(side, ends)| (side.clone(), shift(ends))).collect()
            }
            ends => shift(ends),
        };
        shifted += interval.as_object().map_or(1, serde_json::Map::len);
    }
    let broken = evaluate(&document.to_string(), "x.json", data(), &WithoutPair).unwrap();
    assert_eq!(Tally::of(&broken).failed, shifted);
}

/// The value with every number changed by more than its tolerance.
fn corrupted(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(1.02 * number.as_f64().unwrap() + 0.05),
        Value::Array(list) => list.iter().map(corrupted).collect(),
        Value::Object(entries) => {
            entries.iter().map(|(name, value)| (name.clone(), corrupted(value))).collect()
        }
        other => other.clone(),
    }
}

#[test]
fn every_corrupted_estimate_fails() {
    let mut document = parsed(ESTIMATORS);
    let sound = Tally::of(&findings(&document));
    assert_eq!(sound.failed, 0);
    for case in document["cases"].as_array_mut().unwrap() {
        case["expected"] = corrupted(&case["expected"]);
    }
    let broken = Tally::of(&findings(&document));
    assert_eq!(broken, Tally { passed: 0, failed: sound.passed, skipped: sound.skipped });
}

#[test]
fn every_corrupted_value_of_one_shot_fails() {
    let text = include_str!("../../oracles/data/federated.json");
    let mut document = parsed(text);
    // large fits take seconds, and their arrays are the same check
    let is_small = |case: &Value| case["group"] != "cosine_array";
    document["cases"].as_array_mut().unwrap().retain(is_small);
    let sound = Tally::of(&findings(&document));
    assert_eq!(sound.failed, 0);
    for case in document["cases"].as_array_mut().unwrap() {
        case["expected"] = corrupted(&case["expected"]);
        // a value that does not exist is corrupted by one that does
        for value in case["expected"].as_object_mut().unwrap().values_mut() {
            *value = if value.is_null() { json!(0.5) } else { value.take() };
        }
    }
    let broken = Tally::of(&findings(&document));
    assert_eq!(broken, Tally { passed: 0, failed: sound.passed, skipped: sound.skipped });
}

#[test]
fn every_corrupted_row_fails() {
    let document = parsed(EPS_EMP);
    let sound = Tally::of(&findings(&document));
    assert_eq!((sound.failed, sound.skipped), (0, 0));
    for name in ["eps_cp_formula", "public_cp", "public_jeff", "eps_zb_joint_beta_own"] {
        let mut document = document.clone();
        for row in document["rows"].as_array_mut().unwrap() {
            row[name] = json!(row[name].as_f64().unwrap() + 5e-6);
        }
        for found in findings(&document) {
            let is_failed = matches!(found.outcome, Outcome::Failed(_));
            assert_eq!(is_failed, found.value == name, "{found}");
        }
    }
}

#[test]
fn corrected_values_are_named() {
    for (text, case) in [(ESTIMATORS, "f_bayesian_joint_beta-11"), (EPS_EMP, "row 9, n=1000")] {
        let all = findings(&parsed(text));
        let corrected: Vec<&Finding> =
            all.iter().filter(|found| found.value.contains("(corrected to ")).collect();
        assert_eq!(corrected.len(), 1, "{corrected:?}");
        assert!(corrected[0].case.starts_with(case), "{}", corrected[0]);
        assert!(corrected[0].distance < 1e-8, "{}", corrected[0]);
    }
    // the generator's roots
    for (table, value) in [
        (include_str!("../../oracles/data/bayesian_correction.csv"), 12.196_063_369_33),
        (include_str!("../../oracles/data/eps_emp_correction.csv"), 7.207_210_721_303),
    ] {
        let row = table.lines().nth(1).unwrap();
        assert_eq!(row.split(',').nth(1).unwrap().parse(), Ok(value));
    }
}

#[test]
fn a_refusal_of_the_library_fails() {
    struct Refusing;
    impl Library for Refusing {
        fn deterministic(&self, _: Run) -> Answer<Bracket> {
            Err("the library refuses: sigma".into())
        }
    }
    let settings = json!({"sigma": 1, "steps_per_epoch": 1, "epochs": 1, "delta": 1e-5});
    let case = json!({"id": "a", "group": "c_deterministic", "settings": settings,
        "interval": [4.0, 5.0]});
    let text = json!({ "cases": [case] }).to_string();
    let found = evaluate(&text, "x.json", data(), &Refusing).unwrap();
    assert_eq!(found[0].to_string(), "FAILED   a: interval: the library refuses: sigma");
}

#[test]
fn malformed_files_are_refused_with_the_place() {
    let case = |expected: Value, tol: Value| {
        json!([{"id": "g-1", "group": "g_eps_to_mu", "inputs": {"eps": 1.0, "delta": 1e-5},
            "expected": {"peer": expected}, "tol": tol, "unknown": [1]}])
        .to_string()
    };
    let sound = parsed(&case(json!(0.26805112321129454), json!({"rel": 1e-6})));
    assert_eq!(Tally::of(&findings(&sound)).passed, 1);
    for (text, message) in [
        (String::new(), "x.json: neither JSON nor a table"),
        ("{".into(), "x.json: EOF while parsing"),
        ("{}".into(), "x.json: neither a list of `cases` nor of `rows`"),
        ("[]".into(), "x.json: no cases"),
        ("[{}]".into(), "x.json: its cases have neither `settings` nor `inputs`"),
        (case(json!(true), json!({"rel": 1e-6})), "x.json: g-1: expected.peer: expected a number"),
        (case(json!([0.2]), json!({"rel": 1e-6})), "x.json: g-1: expected.peer: expected a number"),
        (case(json!(0.2), json!({})), "x.json: g-1: tol: expected `abs`"),
        (case(json!(0.2), json!({"rel": -1})), "x.json: g-1: tol.rel: is negative"),
        (case(json!(0.2), json!({"rel": "x"})), "x.json: g-1: tol.rel: expected a number"),
        (
            case(json!(0.2), json!({"rel": 1})).replace("delta", "d"),
            "x.json: g-1: inputs.delta: is",
        ),
        (
            case(json!(0.2), json!({"rel": 1})).replace("g_eps", "x_eps"),
            "g-1: group: `x_eps_to_mu`",
        ),
        (r#"[{"inputs": {}}]"#.into(), "x.json: case 1: id: is missing"),
        (r#"{"rows": [{}]}"#.into(), "x.json: row 1, n= FP= FN= alpha=: n_per_class: is missing"),
        ("trials,events,tail,upper,lower\n9,1,0.1".into(), "x.json: line 2: 3 cells"),
        ("trials,events,tail,upper,lower\n9,1,0.1,z,0".into(), "line 2: upper: expected a number"),
        ("trials,events,tail,upper,lower\n".into(), "x.json: no rows"),
    ] {
        let refused = refusal(&text);
        assert!(refused.contains(message), "`{message}` is not in `{refused}`");
    }
    let missing = evaluate_file(Path::new("absent.json"), &Real).unwrap_err().to_string();
    assert!(missing.starts_with("absent.json: "), "{missing}");
}

#[test]
fn a_missing_score_file_is_named() {
    let mut document = parsed(ESTIMATORS);
    let is_scores = |case: &Value| case["group"] == "h_scores";
    let cases = document["cases"].as_array_mut().unwrap();
    cases.retain(is_scores);
    cases[0]["inputs"]["scores_in"] = json!("scores/absent.npy");
    let refused = refusal(&document.to_string());
    assert!(refused.contains("inputs.scores_in") && refused.contains("absent.npy"), "{refused}");
}

#[test]
fn malformed_votes_are_named() {
    let case = json!({"name": "k=2", "votes_for_1": [3], "k": 2, "L": 1, "lambda": 1.0,
        "delta": 1e-5, "q_two_noise": {}, "variants": {"another": {}}});
    let refused = refusal(&json!({ "cases": [case.clone()] }).to_string());
    assert!(refused.contains("variants.another"), "{refused}");
    let mut document = json!({ "cases": [case] });
    document["cases"][0]["variants"] =
        json!({"exact_two_noise": {"alpha": [0.0], "eps": 1.0, "l_at_min": 1}});
    let refused = refusal(&document.to_string());
    assert!(refused.contains("votes is 3"), "{refused}");
}

#[test]
fn a_peer_without_a_number_is_skipped() {
    let document = json!([{"id": "g-1", "group": "g_eps_to_mu", "inputs": {"eps": 1, "delta": 1e-5},
        "expected": {"a": "TIMEOUT >150 s", "b": null, "c": "nan"}, "tol": {"rel": 1e-6}}]);
    let tally = Tally::of(&findings(&document));
    assert_eq!((tally.skipped, tally.passed, tally.failed), (3, 0, 0));
}

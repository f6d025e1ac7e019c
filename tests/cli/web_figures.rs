//! The figures that browser tests expect of audits are those of the command line.

use std::path::Path;

use serde_json::Value;

use crate::{Folder, dpscope};

const FIGURES: &str = include_str!("../../web/tests/native.json");

fn figures() -> Vec<Value> {
    serde_json::from_str(FIGURES).unwrap()
}

fn command(row: &Value) -> String {
    let words: Vec<&str> =
        row["arguments"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    words.join(" ")
}

fn agrees(row: &Value, report: &Value) -> bool {
    let of_result = ["epsilon", "false_positives", "false_negatives"];
    report["histogram_digest"] == row["histogram_digest"]
        && of_result.iter().all(|name| report["result"][name] == row[name])
}

#[test]
fn browser_figures_match_the_command_line() {
    for row in figures() {
        let command = command(&row);
        let report = dpscope(&format!("{command} --device cpu --json")).exits(0).json();
        assert!(agrees(&row, &report), "{command}: {report}");
    }
}

#[test]
fn another_seed_is_detected() {
    let row = &figures()[0];
    let command = command(row).replace("--seed 1", "--seed 2");
    let report = dpscope(&format!("{command} --device cpu --json")).exits(0).json();
    assert!(!agrees(row, &report));
}

const FILES: &str = include_str!("../../web/tests/files.json");

const PLAN: [&str; 3] = ["plan.json", "seed.secret", "commitment.txt"];

/// The files of the browser tests, with the plan of two models in a folder of its own.
fn files() -> Folder {
    let folder = Folder::new();
    copy(&folder, "", "", |name| name.ends_with("csv"));
    copy(&folder, "federated", "", |name| name.ends_with("safetensors"));
    copy(&folder, "federated", "plan/", |name| PLAN.contains(&name));
    folder
}

fn copy(folder: &Folder, source: &str, below: &str, is_wanted: impl Fn(&str) -> bool) {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("../web/tests/files");
    for entry in std::fs::read_dir(files.join(source)).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if is_wanted(&name) {
            folder.write(&format!("{below}{name}"), std::fs::read(entry.path()).unwrap());
        }
    }
}

/// The browser tests expect these reports of the bundle, which has no disk: each question of a page.
#[test]
fn browser_reports_of_files_match_the_command_line() {
    let rows: Vec<Value> = serde_json::from_str(FILES).unwrap();
    for row in &rows {
        let mut report = files().run(&format!("{} --json", command(row))).json();
        for of_this_run in ["elapsed_ms", "input"] {
            report.as_object_mut().unwrap().remove(of_this_run);
        }
        assert_eq!(report, row["report"], "{}", command(row));
    }
    let asked = |name: &str| rows.iter().any(|row| row["arguments"][1] == name);
    let commands =
        ["scores", "outputs", "counts", "split", "one-run", "secrets", "guesses", "federated"];
    assert!(commands.into_iter().all(asked));
}

const ONE_SHOT: &str = include_str!("../../web/tests/one_shot.json");

fn shown(report: &Value) -> Value {
    let mut found = report["bounds"].clone();
    found.as_object_mut().unwrap().remove("gdp_mu");
    found["inserted"] = report["design"]["inserted"].clone();
    found["epsilon_by_gaussian_curve"] = report["epsilon_by_gaussian_curve"].clone();
    found["mean_estimate"] = report["estimates"][0]["epsilon"].clone();
    found["truth"] = report["simulation"]["epsilon"].clone();
    found
}

#[test]
fn browser_figures_of_noisy_sums_match_the_command_line() {
    let rows: Vec<Value> = serde_json::from_str(ONE_SHOT).unwrap();
    for row in rows {
        let report = dpscope(&format!("{} --json", command(&row))).exits(0).json();
        assert_eq!(shown(&report), row["found"], "{}", command(&row));
    }
}

const TRAINING: &str = include_str!("../../web/tests/training.json");

#[test]
fn trainings_of_the_browser_match_the_command_line() {
    let rows: Vec<Value> = serde_json::from_str(TRAINING).unwrap();
    let result = |command: &str| {
        let report = dpscope(&format!("{command} --device cpu --json")).json();
        let of_result = ["epsilon", "false_positives", "false_negatives"];
        of_result.map(|name| report["result"][name].as_f64())
    };
    for row in &rows {
        let stored = ["epsilon", "false_positives", "false_negatives"];
        let stored = stored.map(|name| row["result"][name].as_f64());
        assert_eq!(result(&command(row)), stored, "{}", command(row));
    }
    let other = command(&rows[0]).replace("--noise-multiplier 0.3", "--noise-multiplier 3");
    assert_ne!(result(&other)[0], rows[0]["result"]["epsilon"].as_f64());
}

const CANARIES: &str = include_str!("../../web/tests/training_canaries.json");

#[test]
fn trainings_with_canaries_of_the_browser_match_the_command_line() {
    let rows: Vec<Value> = serde_json::from_str(CANARIES).unwrap();
    let bound = |command: &str| {
        let report = dpscope(&format!("{command} --device cpu --json")).json();
        let bound = report["bounds"][0].clone();
        ["epsilon", "guesses", "correct"].map(|name| bound[name].as_f64())
    };
    for row in &rows {
        let stored = ["epsilon", "guesses", "correct"].map(|name| row["bound"][name].as_f64());
        assert_eq!(bound(&command(row)), stored, "{}", command(row));
    }
    let other = command(&rows[0]).replace("--noise-multiplier 0.3", "--noise-multiplier 3");
    assert_ne!(bound(&other)[0], rows[0]["bound"]["epsilon"].as_f64());
}

const FEDERATED: &str = include_str!("../../web/tests/training_federated.json");

#[test]
fn federated_trainings_of_the_browser_match_the_command_line() {
    let rows: Vec<Value> = serde_json::from_str(FEDERATED).unwrap();
    let found = |command: &str| {
        let report = dpscope(&format!("{command} --device cpu --json")).json();
        let epsilon = report["bounds"]["epsilon"].as_f64().unwrap();
        (report["design"]["inserted"].clone(), epsilon)
    };
    for row in &rows {
        let (inserted, epsilon) = found(&command(row));
        assert_eq!(inserted, row["inserted"], "{}", command(row));
        // sums of gradients are rounded as the machine does
        assert!((epsilon - row["epsilon"].as_f64().unwrap()).abs() < 1e-2, "{}", command(row));
    }
    let other = command(&rows[0]).replace("--noise-multiplier 0.3", "--noise-multiplier 0.6");
    assert!((found(&other).1 - rows[0]["epsilon"].as_f64().unwrap()).abs() > 0.1);
}

const OPTIMISED: &str = include_str!("../../web/tests/training_optimised.json");

#[test]
fn canaries_that_the_browser_optimises_match_the_command_line() {
    let stored: Value = serde_json::from_str(OPTIMISED).unwrap();
    let (optimisation, audit) = (&stored["optimisation"], &stored["audit"]);
    let files = Folder::new();
    let report = files.run(&format!("{} --json", command(optimisation))).json();
    let objectives = report["objectives"].as_array().unwrap();
    let expected = optimisation["objectives"].as_array().unwrap();
    assert!(objectives.len() == expected.len() && !expected.is_empty(), "{objectives:?}");
    for (found, expected) in objectives.iter().zip(expected) {
        // machines round sums differently, and a sign may follow
        let away = found.as_f64().unwrap() + expected.as_f64().unwrap();
        assert!(away.abs() < 0.05, "{objectives:?}");
    }
    let lenet = &stored["lenet"];
    let report = Folder::new().run(&format!("{} --json", command(lenet))).json();
    let objective = -report["objectives"][0].as_f64().unwrap();
    let expected = lenet["objectives"][0].as_f64().unwrap();
    assert!((objective / expected - 1.0).abs() < 0.02, "{objective}, not {expected}");
    let report = files.run(&format!("{} --device cpu --json", command(audit))).json();
    let epsilon = report["bounds"][0]["epsilon"].as_f64().unwrap();
    assert!((epsilon - audit["epsilon"].as_f64().unwrap()).abs() < 0.3, "{epsilon}");
}

const PATEGAN: &str = include_str!("../../web/tests/pategan.json");
const STORED_PATEGAN: &str = include_str!("../../web/app/src/synthetic/stored.json");

/// A report without what differs from run to run, its numbers as JavaScript knows them: 1 is 1.0.
fn comparable(mut report: Value) -> Value {
    report.as_object_mut().unwrap().remove("elapsed_ms");
    fn floats(value: &mut Value) {
        match value {
            Value::Number(number) => *value = number.as_f64().unwrap().into(),
            Value::Array(values) => values.iter_mut().for_each(floats),
            Value::Object(fields) => fields.values_mut().for_each(floats),
            Value::Null | Value::Bool(_) | Value::String(_) => {}
        }
    }
    floats(&mut report);
    report
}

fn report_of(command: &str) -> Value {
    comparable(dpscope(&format!("{command} --json")).json())
}

#[test]
fn browser_reports_of_pategan_match_the_command_line() {
    let rows: Vec<Value> = serde_json::from_str(PATEGAN).unwrap();
    for row in &rows {
        assert_eq!(report_of(&command(row)), comparable(row["report"].clone()), "{}", command(row));
    }
    let other = command(&rows[0]).replace("--seed 1", "--seed 2");
    let mut other = report_of(&other);
    other["seed"] = "1".into();
    assert_ne!(other, comparable(rows[0]["report"].clone()));
}

#[test]
fn the_stored_audit_of_pategan_matches_the_command_line() {
    let stored: Value = serde_json::from_str(STORED_PATEGAN).unwrap();
    let report = stored["answer"]["report"].clone();
    assert_eq!(report_of("audit pategan --seed 1"), comparable(report));
}

const GENERATOR: &str = include_str!("../../web/tests/generator.json");

#[test]
fn browser_reports_of_generators_match_the_command_line() {
    let folder: Value = serde_json::from_str(GENERATOR).unwrap();
    let files = Folder::new();
    files.write("manifest.toml", folder["manifest"].as_str().unwrap());
    for world in ["with", "without"] {
        for (run, text) in folder[world].as_array().unwrap().iter().enumerate() {
            files.write(&format!("{world}/{run:04}.csv"), text.as_str().unwrap());
        }
    }
    let report = files.run("audit generator . --json").json();
    assert_eq!(comparable(report), comparable(folder["report"].clone()));
}

const ACCOUNTING: &str = include_str!("../../web/tests/accounting.json");

#[test]
fn browser_accounting_matches_the_command_line() {
    let rows: Value = serde_json::from_str(ACCOUNTING).unwrap();
    for row in rows["bounds"].as_array().unwrap() {
        let report = dpscope(&format!("{} --json", command(row))).exits(0).json();
        assert_eq!(report["epsilon"], row["epsilon"], "{}", command(row));
    }
    for row in rows["reports"].as_array().unwrap() {
        let report = report_of(&command(row));
        assert_eq!(report, comparable(row["report"].clone()), "{}", command(row));
    }
}

//! The figures that browser tests expect of audits are those of the command line.

use std::path::Path;

use serde_json::Value;

use crate::dpscope;

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

const ONE_RUN: &str = include_str!("../../web/tests/one_run.json");

#[test]
fn browser_reports_of_one_run_match_the_command_line() {
    let rows: Vec<Value> = serde_json::from_str(ONE_RUN).unwrap();
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("../web/tests/files");
    for row in rows {
        let command = command(&row).replace("one_run_", &format!("{}/one_run_", files.display()));
        let mut report = dpscope(&format!("{command} --json")).json();
        for of_this_run in ["elapsed_ms", "input"] {
            report.as_object_mut().unwrap().remove(of_this_run);
        }
        assert_eq!(report, row["report"], "{command}");
    }
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

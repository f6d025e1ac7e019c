//! Can a user's own trainer be audited as the example shows?
//!
//! Runs `crates/cli/examples/own_trainer/own_trainer.py`, right and broken, and audits what it
//! recorded. Without a Python that imports numpy the tests show as ignored, with the reason; with
//! `REQUIRE_NUMPY=1` they fail.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::process::{Command, ExitCode};

use dpscope_tests::cli::{Ended, run, text};
use libtest_mimic::{Arguments, Failed, Trial};

const SCRIPT: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/cli/examples/own_trainer/own_trainer.py");

const PYTHON: &str = if cfg!(windows) { "python" } else { "python3" };

/// The claim of the example: proven for its noise whatever the order of the records.
const AUDIT: &str = "audit outputs runs.npz --threat-model partially-informed --claim 2.0 --seed 5";

fn main() -> ExitCode {
    let mut trials = vec![
        Trial::test("a_right_trainer_keeps_its_claim", right_trainer),
        Trial::test("noise_that_is_divided_twice_is_refuted", || refuted("noise-divided-twice")),
        Trial::test("a_loader_without_shuffle_is_found_out", || found_out("no-shuffle")),
        Trial::test("the_claim_is_proven", claim_is_proven),
    ];
    if let Some(reason) = missing() {
        let required = std::env::var("REQUIRE_NUMPY").is_ok_and(|value| value == "1");
        trials = trials.into_iter().map(|trial| unable(&trial, &reason, required)).collect();
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Why the example cannot run here.
fn missing() -> Option<String> {
    let output = Command::new(PYTHON).args(["-c", "import numpy"]).output();
    match output {
        Ok(output) if output.status.success() => None,
        Ok(_) => Some(format!("{PYTHON} cannot import numpy")),
        Err(error) => Some(format!("{PYTHON} cannot be started: {error}")),
    }
}

/// A test of that name that fails with the reason; ignored unless it is required.
fn unable(trial: &Trial, reason: &str, required: bool) -> Trial {
    let message = reason.to_string();
    Trial::test(trial.name(), move || Err(Failed::from(message)))
        .with_kind(reason)
        .with_ignored_flag(!required)
}

/// What the trainer said, and what the audit of its runs says as JSON.
fn audited(broken: Option<&str>) -> (String, Ended) {
    let folder = tempfile::tempdir().unwrap();
    let mut trainer = Command::new(PYTHON);
    trainer.current_dir(folder.path()).args([SCRIPT, "runs.npz", "--framework", "numpy"]);
    trainer.args(broken.map(|broken| ["--broken", broken]).into_iter().flatten());
    let trained: Ended = trainer.output().unwrap().into();
    let trained = trained.exits(0);
    (trained.stdout, run(folder.path(), &format!("{AUDIT} --json")))
}

fn check(right: bool, what: impl Into<Failed>) -> Result<(), Failed> {
    if right { Ok(()) } else { Err(what.into()) }
}

fn right_trainer() -> Result<(), Failed> {
    let (said, audit) = audited(None);
    check(said.matches("as expected").count() == 2, said)?;
    let report = audit.exits(0).json();
    check(text(&report, "/result/kind") == "bound", format!("{report:#}"))?;
    check(report["findings"] == serde_json::json!([]), format!("{:#}", report["findings"]))?;
    check(report["input"]["clip_norm"] == 0.5, format!("{:#}", report["input"]))?;
    check(report["input"]["runs"] == serde_json::json!([200, 200]), "runs")
}

fn refuted(broken: &str) -> Result<(), Failed> {
    let (said, audit) = audited(Some(broken));
    check(said.contains("DIFFERS"), said)?;
    let report = audit.exits(3).json();
    check(text(&report, "/result/kind") == "bound", format!("{report:#}"))
}

fn found_out(broken: &str) -> Result<(), Failed> {
    let (_, audit) = audited(Some(broken));
    let report = audit.exits(0).json();
    let findings = format!("{:#}", report["findings"]);
    check(text(&report, "/result/kind") == "estimate", format!("{report:#}"))?;
    check(findings.contains("may share the seed of their loader"), findings)
}

fn claim_is_proven() -> Result<(), Failed> {
    let folder = tempfile::tempdir().unwrap();
    let bound = run(folder.path(), "bound deterministic --noise-multiplier 2 --steps 10 --json");
    let report = bound.exits(0).json();
    let proven = report.pointer("/epsilon").and_then(serde_json::Value::as_f64);
    check(proven.is_some_and(|proven| (1.9..=2.0).contains(&proven)), format!("{report:#}"))
}

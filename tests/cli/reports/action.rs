//! The script of the GitHub Action, in a made environment of a job.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

use dpscope_tests::cli::{CommandResult, dpscope};

use crate::Folder;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../.github/action/run.sh");

/// Runs the script with these inputs.
fn run(folder: &Folder, inputs: &[(&str, &str)]) -> CommandResult {
    let program = dpscope(folder.path()).get_program().to_owned();
    let place = Path::new(&program).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let paths = [place.to_owned()].into_iter().chain(std::env::split_paths(&path));
    let mut output = Command::new("bash")
        .arg(SCRIPT)
        .current_dir(folder.path())
        .env("PATH", std::env::join_paths(paths).unwrap())
        .env("DPSCOPE_DEVICE", "cpu")
        .env("GITHUB_STEP_SUMMARY", folder.path().join("summary.md"))
        .env("GITHUB_OUTPUT", folder.path().join("output"))
        .envs(inputs.iter().map(|(name, value)| (format!("DPSCOPE_{name}"), *value)))
        .output()
        .unwrap();
    // the one command of a workflow that the script writes itself; no other may be in its output
    let text = String::from_utf8(output.stdout).unwrap();
    let is_own = |line: &&str| line.starts_with("::error title=dpscope::");
    let others = text.split_inclusive('\n').filter(|line| !is_own(line));
    output.stdout = others.collect::<String>().into_bytes();
    output.into()
}

fn outputs(folder: &Folder) -> HashMap<String, String> {
    let text = String::from_utf8(folder.read("output")).unwrap();
    let pair = |line: &str| {
        let (name, value) = line.split_once('=').unwrap();
        (name.to_owned(), value.to_owned())
    };
    text.lines().map(pair).collect()
}

#[test]
fn a_training_is_checked_and_reported() {
    let folder = Folder::new();
    folder.write("training.toml", folder.run("check --example").stdout);
    run(&folder, &[("TRAINING", "training.toml"), ("ARGUMENTS", "--claim\n0.01")]).exits(3);
    let summary = String::from_utf8(folder.read("summary.md")).unwrap();
    assert!(summary.starts_with("### Check of a described training"), "{summary}");
    let outputs = outputs(&folder);
    assert_eq!(outputs["exit-code"], "3");
    assert_eq!((&*outputs["sarif"], &*outputs["report"]), ("dpscope.sarif", "dpscope.html"));
    let log: serde_json::Value = serde_json::from_slice(&folder.read("dpscope.sarif")).unwrap();
    assert_eq!(log["runs"][0]["results"][0]["ruleId"], "claim-refuted");
    folder.run("recompute dpscope.html").exits(0);
}

#[test]
fn an_audit_fails_above_a_limit() {
    let audit = "audit\ncounts\n--false-positives\n12\n--zero-out-trials\n1000\n--false-negatives\n\
                 480\n--target-trials\n1000";
    for (limit, code) in [("2", 3), ("5", 0), ("20", 6), ("x", 2)] {
        let folder = Folder::new();
        run(&folder, &[("ARGUMENTS", audit), ("FAIL_ABOVE", limit)]).exits(code);
        assert_eq!(outputs(&folder)["exit-code"], code.to_string());
        assert_eq!(outputs(&folder).contains_key("sarif"), code != 2);
    }
}

#[test]
fn an_open_claim_can_be_accepted() {
    let audit = "audit\nbgm\n--noise-multiplier=1\n--steps=10\n--observations=3e4\n--seed=7\n\
                 --claim=9\n--threshold-rule=max-uncorrected";
    for (fails, code) in [("true", 6), ("false", 0)] {
        let folder = Folder::new();
        run(&folder, &[("ARGUMENTS", audit), ("FAIL_ON_INCONCLUSIVE", fails)]).exits(code);
        assert_eq!(outputs(&folder)["exit-code"], "6");
    }
}

#[test]
fn inputs_are_never_code() {
    let folder = Folder::new();
    for inputs in [
        [("TRAINING", "$(touch hacked).toml"), ("VERSION", "path")],
        [("ARGUMENTS", "check\n; touch hacked\n`touch hacked`"), ("VERSION", "path")],
        [("TRAINING", "a.toml"), ("VERSION", "1; touch hacked")],
        [("TRAINING", "a.toml"), ("SARIF", "a\nexit-code=0")],
        [("TRAINING", "--help"), ("VERSION", "path")],
    ] {
        run(&folder, &inputs).exits(2);
    }
    assert!(!folder.names().iter().any(|name| name.contains("hacked")), "{:?}", folder.names());
    run(&folder, &[]).exits(2);
    // within a script, an expression of an input would be code
    let action = include_str!("../../../action.yml");
    let (_, script) = action.split_once("run: ").unwrap();
    assert!(!script.contains("${{"), "{script}");
}

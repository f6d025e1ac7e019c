//! `bound`, `calibrate`, `compare`, `sweep`: theory, through the program.

mod bound;
mod calibrate;
mod compare;
mod lengths;
mod matrix;
mod pate;
mod refused;
mod samplers;
mod sweep;

use dpscope_tests::cli::number;
use serde_json::Value;

use crate::dpscope;

/// The document that a command prints.
#[track_caller]
fn json(words: &str) -> Value {
    dpscope(&format!("{words} --json")).exits(0).json()
}

/// Names of all fields of an object, sorted.
#[track_caller]
fn fields(document: &Value) -> Vec<&str> {
    let object = document.as_object();
    assert!(object.is_some(), "no object: {document:#}");
    let mut names: Vec<&str> = object.unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

/// A case of the golden file of accountants.
struct Golden(Value);

/// All cases of a group; at least one.
fn golden(group: &str) -> Vec<Golden> {
    let all: Value =
        serde_json::from_str(include_str!("../../oracles/data/accounting.json")).unwrap();
    let all = all["cases"].as_array().unwrap().clone();
    let kept: Vec<Golden> =
        all.into_iter().filter(|case| case["group"] == group).map(Golden).collect();
    assert!(!kept.is_empty(), "{group}");
    kept
}

impl Golden {
    fn id(&self) -> &str {
        self.0["id"].as_str().unwrap()
    }

    /// Its training as options.
    fn words(&self) -> String {
        let settings = &self.0["settings"];
        format!(
            "--noise-multiplier {} --steps {} --epochs {} --delta {}",
            settings["sigma"], settings["steps_per_epoch"], settings["epochs"], settings["delta"]
        )
    }

    fn interval(&self, key: Option<&str>) -> [f64; 2] {
        let interval = key.map_or(&self.0["interval"], |key| &self.0["interval"][key]);
        [number(interval, "/0"), number(interval, "/1")]
    }
}

//! What other accountants claim for batches of fixed size, beside what is proven here.

use dpscope_core::accounting::{Accountant, FixedSize, Given, Kind, Query, Training};
use dpscope_core::adjacency::Adjacency;
use serde_json::Value;

const CLAIMS: &str = include_str!("peers/values.json");
const README: &str = include_str!("../../crates/core/README.md");

/// A case of the file, and the proven lower and upper ε of an adjacency.
struct Case(Value);

impl Case {
    fn number(&self, name: &str) -> f64 {
        self.0[name].as_f64().expect("a number")
    }

    fn proven(&self, adjacency: Adjacency) -> [f64; 2] {
        let training = Training {
            noise_multiplier: self.number("noise_multiplier"),
            steps_per_epoch: self.number("steps") as u64,
            epochs: 1,
            sampling_rate: Some(self.number("batch_size") / self.number("dataset_size")),
        };
        [Kind::Lower, Kind::Upper].map(|kind| {
            let delta = Given::Delta(self.number("delta"));
            let query = Query { kind, ..Query::upper(training, delta) };
            FixedSize { adjacency }.account(&query).expect("in the domain").epsilon
        })
    }

    /// The row of the table in the README of the core.
    fn row(&self) -> String {
        let down = |value: f64| (value * 100.0).floor() / 100.0;
        let up = |value: f64| (value * 100.0).ceil() / 100.0;
        let [zero_out, replace] = [Adjacency::ZeroOut, Adjacency::Replace].map(|adjacency| {
            let [lower, upper] = self.proven(adjacency);
            format!("{:.2} to {:.2}", down(lower), up(upper))
        });
        let setting = ["noise_multiplier", "dataset_size", "batch_size", "steps"];
        let setting = setting.map(|name| self.number(name).to_string()).join(" | ");
        let claims = ["poisson", "fixed_size", "fixed_size_replace"];
        let claims = claims.map(|name| format!("{:.2}", self.number(name))).join(" | ");
        format!("| {setting} | {claims} | {zero_out} | {replace} |")
    }
}

fn cases() -> Vec<Case> {
    let claims: Vec<Value> = serde_json::from_str(CLAIMS).expect("JSON");
    assert_eq!(claims.len(), 2);
    claims.into_iter().map(Case).collect()
}

#[test]
fn claims_for_the_doubled_noise_are_below_what_leaks() {
    for case in cases() {
        let [zero_out, replace] = [Adjacency::ZeroOut, Adjacency::Replace].map(|a| case.proven(a));
        assert!(case.number("poisson") < zero_out[0]);
        assert!(case.number("fixed_size") < replace[0]);
        // The same accountant at the noise that its event means: an upper value, and not the tightest.
        assert!(case.number("fixed_size_replace") > replace[1]);
    }
}

#[test]
fn the_documented_table_has_these_values() {
    for case in cases() {
        let row = case.row();
        assert!(README.contains(&row), "{row}");
    }
}

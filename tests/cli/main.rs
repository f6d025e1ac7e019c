//! What does the user see? Commands, output, exit codes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod anytime;
mod arguments;
mod ascii;
mod beside;
mod canaries_optimise;
mod check;
mod check_import;
mod check_loaders;
mod checkpoints;
mod counts;
mod damaged_files;
mod devices;
mod documentation;
mod dpsgd;
mod dpsgd_one_run;
mod faults;
mod fedavg;
mod federated;
mod federated_classes;
#[cfg(target_os = "linux")]
mod federated_memory;
mod federated_plan;
mod federated_server;
mod federated_updates;
mod full_disk;
mod gaussian;
mod generated;
mod generator;
mod generator_fresh_null;
mod generator_lock;
mod generator_utility;
mod help;
mod hostile;
mod interrupts;
mod launch;
mod long_runs;
mod one_run;
mod one_run_designs;
mod one_run_mistakes;
mod one_run_null_scores;
mod one_run_projections;
mod outputs;
mod outputs_faults;
mod outputs_sampler;
mod page_files;
mod page_questions;
mod pategan;
mod pategan_runs;
mod pategan_utility;
mod planning;
mod plots;
mod privacy_statement;
mod pure_dp;
mod reports;
mod reproduce;
mod reproduce_fedavg;
mod reproduce_metagradient_canaries;
mod reproduce_one_run_validity;
mod reproduce_one_shot_table_2;
mod reproduce_pategan;
mod schemas;
mod scores;
mod secrets;
mod serve;
mod shards;
mod simulate;
mod snapshots;
mod split;
mod theory;
mod trainer;
mod web_figures;
mod written_files;

use std::fs;
use std::path::{Path, PathBuf};

use dpscope_core::audit::one_run::{CanaryError, CanaryScores, GuessRule, OneRunQuestion};
use dpscope_formats::{Array, Limits, read_npy};
use dpscope_recorded::{CanaryFile, File};
use dpscope_report::recomputed;
use dpscope_tests::cli::{CommandResult, run, run_with_input};
use serde_json::Value;
use tempfile::TempDir;

/// A folder of its own for the files of one test.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn at(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.at(name)).unwrap()
    }

    fn run(&self, words: &str) -> CommandResult {
        run(self.path(), words)
    }

    fn run_with_input(&self, words: &str, input: &[u8]) -> CommandResult {
        run_with_input(self.path(), words, input)
    }

    /// Commits coins of canaries.npz, and returns them. An audit refuses coins that follow what is known of the
    /// canaries, by chance once in 10⁴ draws; these are drawn again.
    fn commit(&self, words: &str) -> Array {
        let limits = Limits::default();
        let bytes = self.read("canaries.npz");
        let canaries =
            CanaryFile::read(&File { name: "canaries.npz", bytes: &bytes, limits: &limits });
        let canaries = canaries.unwrap();
        let features = canaries.features();
        let features: Vec<_> = features.iter().map(|(name, of)| (*name, of.as_slice())).collect();
        let scores: Vec<f64> = (0..canaries.len()).map(|place| place as f64).collect();
        let is_independent = |coins: &[f64]| {
            let coins: Vec<bool> = coins.iter().map(|&coin| coin == 1.0).collect();
            let (deltas, rule) = (&[1e-5], GuessRule::Most(5));
            let question = OneRunQuestion { deltas, significance: 0.05, rule, is_committed: true };
            let scores = CanaryScores::coins(&scores, &coins).unwrap();
            let bounds = scores.bounds(&question, &features, |place| place);
            !matches!(bounds, Err(CanaryError::DifferBefore { .. }))
        };
        loop {
            self.run(&format!("plan one-run --canaries canaries.npz --out plan {words}")).exits(0);
            let coins = read_npy(&self.read("plan/coins.npy"), &limits).unwrap();
            if coins.data().chunks(canaries.len()).all(is_independent) {
                return coins;
            }
            fs::remove_dir_all(self.at("plan")).unwrap();
        }
    }

    /// Names of everything in it, sorted.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Runs in a folder that nothing is written to.
fn dpscope(words: &str) -> CommandResult {
    let folder = Folder::new();
    let ended = folder.run(words);
    assert_eq!(folder.names(), Vec::<String>::new(), "{words}");
    ended
}

/// Codes of the findings of a report, whose verdicts and sentences follow from them and its counts.
fn codes(report: &Value) -> Vec<&str> {
    assert_eq!(recomputed(report).unwrap().differences, []);
    let findings = report["findings"].as_array().unwrap();
    findings.iter().map(|finding| finding["code"].as_str().unwrap()).collect()
}

/// A small simulation with a fixed seed.
const SMALL: &str = "audit bgm --noise-multiplier 1 --steps 10 --observations 3e4 --seed 7";

//! Protocols of one run with a mistake, as the program reports them.

use dpscope_tests::Draws;
use dpscope_tests::cli::text;
use serde_json::Value;

use crate::Folder;
use crate::trainer::npy_f8;

fn audited(folder: &Folder, files: &str, claim: &str) -> Value {
    folder.run(&format!("audit one-run {files} --claim {claim} --json")).json()
}

fn outcome(report: &Value) -> &str {
    text(report, "/claim/verdict/outcome")
}

/// Each insertion publishes its canary's coin by randomised response, which is 1-DP.
#[test]
fn canaries_that_are_inserted_twice_leak_twice() {
    const CANARIES: usize = 1_000;
    let audited = |insertions: usize| {
        let mut draws = Draws::new(11);
        let coins: Vec<f64> = (0..CANARIES).map(|_| draws.below(2) as f64).collect();
        let mut published = |coin: f64| {
            let is_right = draws.uniform() < 1.0 / (1.0 + dpscope_core::math::exp(-1.0));
            if is_right { coin } else { 1.0 - coin }
        };
        let scores: Vec<f64> =
            coins.iter().map(|&coin| (0..insertions).map(|_| published(coin)).sum()).collect();
        let folder = Folder::new();
        folder.write("coins.npy", npy_f8(&[CANARIES], &coins));
        folder.write("scores.npy", npy_f8(&[CANARIES], &scores));
        audited(&folder, "--scores scores.npy --coins coins.npy", "1")
    };
    assert_eq!(outcome(&audited(1)), "not-refuted");
    assert_eq!(outcome(&audited(2)), "refuted");
}

/// A training that no canary reaches, with noise whose stream the score knows.
#[test]
fn coins_of_the_training_seed_are_guessed() {
    const CANARIES: usize = 200;
    let noise = || {
        let mut draws = Draws::new(5);
        (0..CANARIES).map(|_| draws.uniform()).collect::<Vec<f64>>()
    };
    let coins: Vec<f64> = noise().iter().map(|&word| f64::from(u8::from(word < 0.5))).collect();
    let scores: Vec<f64> = noise().iter().map(|word| -word).collect();
    let folder = Folder::new();
    folder.write("coins.npy", npy_f8(&[CANARIES], &coins));
    folder.write("scores.npy", npy_f8(&[CANARIES], &scores));
    let leaked = audited(&folder, "--scores scores.npy --coins coins.npy", "1");
    assert_eq!(outcome(&leaked), "refuted");
    assert!(text(&leaked, "/claim/says").contains("Look for a leak"), "{leaked:#}");
    // committed coins come from a seed of their own
    folder.write("canaries.npy", npy_f8(&[CANARIES, 1], &noise()));
    folder.run("plan one-run --canaries canaries.npy --out plan").exits(0);
    let committed = audited(&folder, "--scores scores.npy --plan plan", "1");
    assert_eq!(outcome(&committed), "not-refuted");
}

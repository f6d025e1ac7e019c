//! Protocols of one run with a mistake, as the program reports them.

use dpscope_tests::Draws;
use dpscope_tests::cli::text;
use serde_json::Value;

use crate::Folder;
use crate::one_run::canaries;
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

/// Scores and coins of canaries that take part, or not.
fn scored(canaries: usize, shift: f64, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut draws = Draws::new(seed);
    let coins: Vec<f64> = (0..canaries).map(|_| draws.below(2) as f64).collect();
    let scores = coins.iter().map(|coin| shift * coin + draws.normal()).collect();
    (scores, coins)
}

fn written(scores: &[f64], coins: &[f64]) -> Folder {
    let folder = Folder::new();
    folder.write("scores.npy", npy_f8(&[scores.len()], scores));
    folder.write("coins.npy", npy_f8(&[coins.len()], coins));
    folder
}

const FILES: &str = "--scores scores.npy --coins coins.npy";

#[test]
fn canaries_that_are_added_twice_decide_no_claim() {
    let (scores, coins) = scored(201, 1.5, 21);
    let report = audited(&written(&scores.repeat(2), &coins.repeat(2)), FILES, "0.5");
    assert_eq!(outcome(&report), "inconclusive");
    let codes: Vec<&str> =
        report["findings"].as_array().unwrap().iter().map(|found| text(found, "/code")).collect();
    assert!(codes.contains(&"repeated_scores") && !codes.contains(&"tied_scores"), "{codes:?}");
    let once = audited(&written(&scores, &coins), FILES, "0.1");
    assert_eq!(outcome(&once), "refuted");
    // few digits are ties
    let rounded: Vec<f64> = scores.iter().map(|score| (10.0 * score).round() / 10.0).collect();
    assert_eq!(outcome(&audited(&written(&rounded, &coins), FILES, "0.1")), "refuted");
}

#[test]
fn guesses_no_better_than_chance_are_no_evidence() {
    let (scores, coins) = scored(401, 0.0, 22);
    let report = audited(&written(&scores, &coins), FILES, "2");
    assert_eq!((outcome(&report), report["has_arrived"].as_bool()), ("not-refuted", Some(false)));
    assert!(text(&report, "/claim/says").contains("no evidence that the canaries took part"));
    let (scores, coins) = scored(401, 1.5, 22);
    let report = audited(&written(&scores, &coins), FILES, "3.5");
    assert_eq!((outcome(&report), report["has_arrived"].as_bool()), ("not-refuted", Some(true)));
    assert!(text(&report, "/claim/says").contains("did not find more leakage"));
}

#[test]
fn a_claim_above_the_ceiling_is_not_tested() {
    let counts =
        |claim: &str| audited(&Folder::new(), "--correct 8 --canaries 10 --guesses 10", claim);
    let open = counts("2");
    assert_eq!(outcome(&open), "inconclusive");
    assert_eq!(text(&open, "/claim/verdict/reason"), "ceiling_within_claim");
    assert!(text(&open, "/claim/says").contains("could not refute the claim"));
    assert_eq!(outcome(&counts("0.9")), "not-refuted");
}

#[test]
fn a_table_in_place_of_scores_is_named() {
    let folder = Folder::new();
    let rows =
        (0..50).fold("id,value\n".to_owned(), |rows, row| rows + &format!("{row},0.{row}\n"));
    folder.write("scores.csv", rows);
    folder.write("coins.npy", npy_f8(&[50], &[1.0; 50]));
    let words = "audit one-run --scores scores.csv --coins coins.npy";
    folder.run(words).refuses(2, &["scores.csv", "50 rows and 2 columns", "one score per canary"]);
}

#[test]
fn refusals_of_pairs_say_why_there_are_pairs() {
    // fair coins fall on exactly half of 20 in 18 % of the draws
    let coins: Vec<f64> = (0..20).map(|i| f64::from(u8::from(i * 7 % 20 < 10))).collect();
    let scores: Vec<f64> = (0..20).map(|i| f64::from(i * 11 % 20)).collect();
    let folder = written(&scores, &coins);
    let half = "exactly half of the 20 canaries are included, so they are audited as 10 pairs";
    for (words, problem) in [
        ("--guesses 15", "--guesses = 15: must lie in 1 … 10"),
        ("--guesses-in 8", "names its included canary"),
        ("--guesses 3", "3 guesses of 10 canaries show nothing"),
        ("--guesses-in 8 --inclusion-probability 0.5", "names its included canary"),
    ] {
        folder
            .run(&format!("audit one-run {FILES} {words}"))
            .refuses(2, &[half, problem, "pass --independent-coins"]);
    }
    for words in ["--guesses 15", "--guesses-in 8"] {
        let report = folder
            .run(&format!("audit one-run {FILES} {words} --independent-coins --json"))
            .exits(0);
        assert_eq!(text(&report.json(), "/design/game"), "coins", "{words}");
    }
    let zero_out = format!("audit one-run {FILES} --guesses 8 --adjacency zero-out");
    let half = "exactly half of the canaries are included, so they are audited as pairs";
    folder.run(&zero_out).refuses(2, &["--adjacency is zero-out", half, "--independent-coins"]);
    folder.run(&format!("{zero_out} --independent-coins")).exits(0);
    let plan = "audit one-run --scores scores.npy --plan plan --independent-coins";
    folder.run(plan).refuses(2, &["--independent-coins"]);
}

#[test]
fn columns_of_other_tools_are_found_by_their_names() {
    let (coins, scores) = canaries(50, 1.0, 10);
    let folder = written(&scores, &coins);
    let rows = coins.iter().zip(&scores).enumerate();
    let rows = rows.map(|(index, (coin, score))| format!("{index},{score},{coin}\n"));
    folder.write("both.csv", ",score,member\n".to_owned() + &rows.collect::<String>());
    let found = folder.run("audit one-run --scores both.csv --coins both.csv --json").json();
    let expected = folder.run(&format!("audit one-run {FILES} --json")).json();
    assert_eq!((&found["bounds"], &found["auc"]), (&expected["bounds"], &expected["auc"]));

    // coins that follow the order of a file were not drawn, unless the file is a list of two kinds
    let mut order: Vec<usize> = (0..50).collect();
    order.sort_by(|&one, &other| coins[other].total_cmp(&coins[one]));
    for (name, numbers) in [("sorted_coins.npy", &coins), ("sorted.npy", &scores)] {
        let sorted: Vec<f64> = order.iter().map(|&it| numbers[it]).collect();
        folder.write(name, npy_f8(&[50], &sorted));
    }
    folder.run("audit one-run --scores sorted.npy --coins sorted_coins.npy").refuses(
        2,
        &["their place in the file", "in the order that they had when the coins were drawn"],
    );
}

//! Designs of `audit one-run` beyond fair coins of one run, and claims beyond one (ε, δ).

use dpscope_core::audit::one_run::{CanaryGame, Guesses};
use dpscope_formats::{Array, Limits, read_npy, write_npz};
use dpscope_tests::Draws;
use dpscope_tests::cli::{number, text};
use serde_json::{Value, json};

use crate::codes;
use crate::one_run::canaries;
use crate::trainer::npy_f8;
use crate::{Folder, dpscope};

/// A folder with `count` canaries of two values each, and a plan.
fn planned(count: usize, words: &str) -> Folder {
    let folder = Folder::new();
    write_canaries(&folder, "canaries.npz", 0, count);
    folder.commit(words);
    folder
}

/// Records `first` to `first + count − 1`, all different.
fn write_canaries(folder: &Folder, name: &str, first: usize, count: usize) {
    let inputs = (first..first + count).flat_map(|i| [i as f64, (i * 7919 % 997) as f64]);
    let inputs = Array::new(vec![count, 2], inputs.collect()).unwrap();
    let labels = (first..first + count).map(|i| (i % 7) as f64).collect();
    let labels = Array::new(vec![count], labels).unwrap();
    folder.write(name, write_npz(&[("inputs", &inputs), ("labels", &labels)]).unwrap());
}

fn coins_of(folder: &Folder) -> Array {
    read_npy(&folder.read("plan/coins.npy"), &Limits::default()).unwrap()
}

/// scores_0.npy, scores_1.npy, …: one per row of coins, larger by `shift` for included canaries.
fn score_runs(folder: &Folder, canaries: usize, shift: f64) {
    let mut draws = Draws::new(5);
    for (run, coins) in coins_of(folder).data().chunks(canaries).enumerate() {
        let scores: Vec<f64> = coins.iter().map(|coin| shift * coin + draws.normal()).collect();
        folder.write(&format!("scores_{run}.npy"), npy_f8(&[canaries], &scores));
    }
}

#[test]
fn a_training_is_refuted_by_its_own_curve() {
    let words = "audit one-run --canaries 1000 --guesses 100 --correct 75";
    let poisson = "--noise-multiplier 9 --steps 20";
    let report = dpscope(&format!("{words} {poisson} --claim 2 --json")).exits(3).json();
    assert_eq!(text(&report, "/claim/verdict/outcome"), "not-refuted", "ε = 2 at one δ");
    assert_eq!(text(&report, "/claimed_training/test/verdict/outcome"), "refuted");
    assert_eq!(text(&report, "/verdict/outcome"), "refuted");
    let shown = dpscope(&format!("{words} {poisson}")).exits(3).stdout;
    for part in ["σ = 9, q = 0.05, 20 steps", "REFUTED", "Noise, sampling or number of steps"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    // every record in every step leaks far more
    let whole = "--noise-multiplier 9 --sampler deterministic --steps 1 --epochs 20";
    let report = dpscope(&format!("{words} {whole} --json")).exits(0).json();
    assert_eq!(text(&report, "/claimed_training/test/verdict/outcome"), "not-refuted");
    let at = |report: &Value| number(report, "/claimed_training/test/p_value");
    let same =
        dpscope(&format!("{words} --noise-multiplier 9 --steps 20 --sampling-rate 1 --json"));
    assert!((at(&same.exits(0).json()) / at(&report) - 1.0).abs() < 0.1, "{report:#}");
    // pairs test what the curve implies for a replacement
    let pairs = dpscope(&format!("{words} --pairs {poisson} --json")).json();
    let one = dpscope(&format!("{words} {poisson} --json")).json();
    assert!(at(&pairs) > at(&one));
}

#[test]
fn theory_of_the_claimed_training_comes_first() {
    let shuffled = "--noise-multiplier 0.8 --steps 100 --epochs 10 --sampler shuffle";
    let words = format!("audit one-run --canaries 1000 --guesses 100 --correct 60 {shuffled}");
    let run = dpscope(&format!("{words} --claim 2"));
    let first = run.exits(3).stdout.lines().next().unwrap_or_default().to_owned();
    assert!(first.starts_with("Theory proves ε ≥ 17.56"), "{first}");
    let report = dpscope(&format!("{words} --claim 18 --json")).exits(6).json();
    assert!(number(&report, "/claimed_training/proven/epsilon") < 18.0, "{report:#}");
    // a pair of a record and nothing says nothing about replacing a record
    let replaced = format!("{words} --pairs --claim 2 --claim-adjacency replace --json");
    let report = dpscope(&replaced).exits(0).json();
    assert_eq!(text(&report, "/claim/verdict/outcome"), "not-refuted", "{report:#}");
    // nothing has to be fixed for what is proven
    let (coins, scores) = canaries(200, 0.0, 1);
    let folder = Folder::new();
    folder.write("coins.npy", npy_f8(&[200], &coins));
    folder.write("scores.npy", npy_f8(&[200], &scores));
    let words = format!("audit one-run --scores scores.npy --coins coins.npy {shuffled} --claim 2");
    let report = folder.run(&format!("{words} --independent-coins --json")).exits(3).json();
    assert_eq!(text(&report, "/claim/verdict/reason"), "proven_lower_bound", "{report:#}");
    assert!(report.pointer("/claimed_training/test").is_none(), "{report:#}");
}

#[test]
fn a_claimed_training_needs_a_fixed_number_of_guesses() {
    let (coins, scores) = canaries(200, 1.0, 1);
    let folder = Folder::new();
    folder.write("coins.npy", npy_f8(&[200], &coins));
    folder.write("scores.npy", npy_f8(&[200], &scores));
    let files =
        "audit one-run --scores scores.npy --coins coins.npy --noise-multiplier 9 --steps 5";
    folder.run(files).refuses(2, &["one number of guesses", "--guesses"]);
    folder.run(&format!("{files} --guesses 40")).exits(3);
    let rate = format!("{files} --guesses 40 --sampler shuffle --sampling-rate 0.1");
    folder.run(&rate).refuses(2, &["--sampling-rate", "poisson"]);
    folder
        .run("audit one-run --canaries 100 --guesses 20 --correct 15 --steps 5")
        .refuses(2, &["--noise-multiplier"]);
    let missing = folder.run("audit one-run --scores scores.npy");
    missing.refuses(2, &["--coins", "--plan"]);
}

#[test]
fn unfair_coins_need_guesses_of_one_side() {
    let mut draws = Draws::new(3);
    let coins: Vec<f64> =
        (0..1_000).map(|_| if draws.below(10) == 0 { 1.0 } else { 0.0 }).collect();
    let scores: Vec<f64> = coins.iter().map(|coin| 3.0 * coin + draws.normal()).collect();
    let folder = Folder::new();
    folder.write("coins.npy", npy_f8(&[1_000], &coins));
    folder.write("scores.npy", npy_f8(&[1_000], &scores));
    let run = |words: &str| {
        folder.run(&format!("audit one-run --scores scores.npy --coins coins.npy {words}"))
    };
    run("").refuses(2, &["the coins were not fair"]);
    for both in ["", "--guesses 40", "--guesses-in 20 --guesses-out 20"] {
        let refused = run(&format!("--inclusion-probability 0.1 {both}"));
        refused.refuses(2, &["one-sided guesses", "--guesses-in"]);
    }
    run("--inclusion-probability 0.5 --guesses-in 40").refuses(2, &["not fair"]);
    run("--inclusion-probability 0.3 --guesses-in 40").refuses(2, &["probability 0.3"]);
    let report = run("--inclusion-probability 0.1 --guesses-in 40 --json").exits(0).json();
    assert_eq!(text(&report, "/design/game"), "unfair_coins");
    let correct = number(&report, "/bounds/0/correct") as u64;
    let counts = Guesses::new(CanaryGame::coins(1_000).unwrap(), 40, correct).unwrap();
    let expected = counts.with_inclusion_probability(0.1).unwrap();
    let expected = expected.epsilon_lower(1e-5, 0.05).unwrap();
    assert_eq!(number(&report, "/bounds/0/epsilon"), expected);
    let words = format!("--canaries 1000 --guesses-in 40 --correct {correct}");
    let counted = format!("audit one-run {words} --inclusion-probability 0.1 --json");
    assert_eq!(number(&dpscope(&counted).exits(0).json(), "/bounds/0/epsilon"), expected);
    let shown = run("--inclusion-probability 0.1 --guesses-in 40 --claim 0.5").exits(3).stdout;
    assert!(shown.contains("the stated probability"), "{shown}");
}

/// A draw of exactly 800 of 1,000 canaries, as by scikit-learn's `train_test_split`.
#[test]
fn a_draw_of_a_fixed_number_is_allowed_for() {
    let mut draws = Draws::new(8);
    let mut coins: Vec<f64> = (0..1_000).map(|i| f64::from(u8::from(i < 800))).collect();
    draws.shuffle(&mut coins);
    let scores: Vec<f64> = coins.iter().map(|coin| 2.0 * coin + draws.normal()).collect();
    let folder = Folder::new();
    folder.write("coins.npy", npy_f8(&[1_000], &coins));
    folder.write("scores.npy", npy_f8(&[1_000], &scores));
    let words = "audit one-run --scores scores.npy --coins coins.npy --guesses-out 60";
    let run = |words: &str| folder.run(words);
    let fixed = format!("{words} --inclusion-probability 0.8");
    let report = run(&format!("{fixed} --json")).exits(0).json();
    assert_eq!(codes(&report), ["fixed_size_inclusion"]);
    assert_eq!(text(&report, "/design/game"), "fixed_size");
    assert_eq!(text(&report, "/design/adjacency"), "add-remove");
    let chance = number(&report, "/findings/0/data/chance_with_coins");
    assert!((chance - 0.031_525_361_173_257_6).abs() < 1e-12, "{chance}");
    let correct = number(&report, "/bounds/0/correct") as u64;
    let counts = Guesses::new(CanaryGame::coins(1_000).unwrap(), 60, correct).unwrap();
    let counts = counts.with_inclusion_probability(0.2).unwrap();
    let expected = counts.epsilon_lower(1e-5, 0.05 * chance).unwrap();
    assert!((number(&report, "/bounds/0/epsilon") - expected).abs() < 1e-9);
    let shown = run(&format!("{fixed} --claim 0.5")).exits(3).stdout;
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "800 of 1,000 canaries are included, which suggests a draw of a fixed number",
        "the number included suggests a draw of a fixed number",
        "if the included canaries were drawn uniformly over all subsets of this size",
        "if each canary had a coin of its own, state it (--independent-coins)",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains("audit split"), "{shown}");
    // the test of coins, at the stated probability
    let coins = run(&format!("{fixed} --independent-coins --json")).exits(0).json();
    let uncorrected = counts.epsilon_lower(1e-5, 0.05).unwrap();
    assert!((number(&coins, "/bounds/0/epsilon") - uncorrected).abs() < 1e-9);
    assert!(uncorrected > expected + 0.1 && codes(&coins).is_empty(), "{coins:#}");
    assert_eq!(text(&coins, "/design/game"), "unfair_coins");
    let shown = run(&format!("{fixed} --independent-coins")).exits(0).stdout;
    assert!(shown.contains("stated to be independent (--independent-coins)"), "{shown}");
    let tested = run(&format!("{fixed} --self-test --json")).exits(0).json();
    assert!(number(&tested, "/self_test/rejections") < 50.0, "{tested:#}");
    run(&format!("{words} --inclusion-probability 0.5")).refuses(2, &["not fair"]);
    run(&format!("{fixed} --report report.html")).exits(0);
    let recomputed = run("recompute report.html").exits(0).stdout;
    assert!(recomputed.contains("consistent"), "{recomputed}");
}

/// With 20 canaries and two guesses, a draw of a fixed number leaves no bound.
#[test]
fn fixed_numbers_without_power_say_so() {
    let coins: Vec<f64> = (0..20).map(|i| f64::from(u8::from(i * 7 % 20 < 16))).collect();
    let scores: Vec<f64> = (0..20).map(|i| f64::from(i * 11 % 20)).collect();
    let folder = Folder::new();
    folder.write("coins.npy", npy_f8(&[20], &coins));
    folder.write("scores.npy", npy_f8(&[20], &scores));
    let words = "audit one-run --scores scores.npy --coins coins.npy --inclusion-probability 0.8";
    let draw = "16 of 20 canaries are included, which suggests a draw of a fixed number";
    folder.run(&format!("{words} --guesses-out 2")).refuses(2, &[draw, "--independent-coins"]);
    folder.run(&format!("{words} --guesses-out 2 --independent-coins")).exits(0);
}

#[test]
fn runs_of_one_plan_are_audited_together() {
    let folder = planned(200, "--runs 3 --delta 1e-4");
    assert_eq!(coins_of(&folder).shape(), [3, 200]);
    score_runs(&folder, 200, 2.0);
    let run =
        |files: &str| folder.run(&format!("audit one-run --plan plan --scores {files} --json"));
    run("scores_0.npy scores_2.npy scores_1.npy")
        .refuses(2, &["the scores of run 2 follow the coins of run 3", "in the order of the runs"]);
    let [one, three] = ["scores_0.npy", "scores_0.npy scores_1.npy scores_2.npy"]
        .map(|files| run(files).exits(0).json());
    let epsilon = |report: &Value| number(report, "/bounds/0/epsilon");
    assert!(epsilon(&three) > epsilon(&one) + 0.1, "{} {}", epsilon(&one), epsilon(&three));
    assert_eq!(three["runs"], json!({ "made": 3, "planned": 3 }));
    assert_eq!(number(&three, "/design/canaries"), 600.0);
    assert_eq!(codes(&three), Vec::<&str>::new(), "the same scores again, and more runs");
    let other = run("scores_1.npy").exits(0).json();
    assert_eq!(codes(&other), ["second_scores"], "runs in another order");
    run("scores_0.npy scores_0.npy").refuses(2, &["scores_0.npy", "has the scores of run 1"]);
    let four = "scores_0.npy scores_1.npy scores_2.npy scores_0.npy";
    run(four).refuses(2, &["--scores has 4 files", "--runs"]);
    let shown = folder.run("audit one-run --plan plan --scores scores_0.npy").exits(0).stdout;
    assert!(shown.contains("1 of 3 planned runs") && shown.contains("e-values"), "{shown}");
    let plot = "audit one-run --plan plan --scores scores_0.npy scores_1.npy --plot run.svg";
    folder.run(plot).refuses(2, &["--plot"]);
}

#[test]
fn fixed_guesses_of_all_runs_are_one_count() {
    let folder = planned(100, "--runs 2 --guesses 30");
    score_runs(&folder, 100, 1.5);
    let run =
        |files: &str| folder.run(&format!("audit one-run --plan plan --scores {files} --json"));
    run("scores_0.npy").refuses(2, &["1 of 2 planned runs", "all of them"]);
    let report = run("scores_0.npy scores_1.npy").exits(0).json();
    let correct = number(&report, "/bounds/0/correct") as u64;
    let counts = Guesses::new(CanaryGame::coins(200).unwrap(), 60, correct).unwrap();
    let expected = counts.epsilon_lower(1e-5, 0.05).unwrap();
    assert_eq!(number(&report, "/bounds/0/epsilon"), expected);
    let alone = "audit one-run --coins plan/coins.npy --scores scores_0.npy scores_1.npy";
    folder.run(alone).refuses(2, &["plan one-run --runs 2"]);
}

#[test]
fn planned_sets_have_one_included_canary_each() {
    let folder = planned(300, "--set-size 3");
    let coins = coins_of(&folder);
    assert!(coins.data().chunks(3).all(|set| set.iter().sum::<f64>() == 1.0));
    score_runs(&folder, 300, 3.0);
    let words = "audit one-run --scores scores_0.npy --plan plan --canaries canaries.npz --json";
    let report = folder.run(words).exits(0).json();
    let at = |name: &str| number(&report, &format!("/design/{name}"));
    assert_eq!((at("canaries"), at("set_size")), (100.0, 3.0));
    assert_eq!(text(&report, "/design/adjacency"), "replace");
    assert!(number(&report, "/bounds/0/epsilon") > 1.0);
    let uneven = "plan one-run --canaries canaries.npz --out other --set-size 7";
    folder.run(uneven).refuses(2, &["canaries.npz", "into sets of 7"]);
    let single = "plan one-run --canaries canaries.npz --out other --set-size 1";
    folder.run(single).refuses(2, &["--set-size", "at least 2"]);
    let words = "audit one-run --canaries 100 --set-size 3 --guesses 50 --correct 45 --json";
    let counts = Guesses::new(CanaryGame::sets(100, 3).unwrap(), 50, 45).unwrap();
    let expected = counts.epsilon_lower(1e-5, 0.05).unwrap();
    assert_eq!(number(&dpscope(words).exits(0).json(), "/bounds/0/epsilon"), expected);
}

#[test]
fn canaries_in_the_base_data_are_counted() {
    let folder = planned(100, "");
    score_runs(&folder, 100, 1.0);
    write_canaries(&folder, "base.npz", 90, 200);
    let words = "audit one-run --scores scores_0.npy --plan plan --canaries canaries.npz";
    let report = folder.run(&format!("{words} --base-data base.npz --json")).exits(0).json();
    assert_eq!(codes(&report), ["canaries_in_base_data"]);
    assert_eq!(report["findings"][0]["data"], json!({ "copies": 10, "canaries": 100 }));
    write_canaries(&folder, "apart.npz", 100, 200);
    let report = folder.run(&format!("{words} --base-data apart.npz --json")).exits(0).json();
    assert_eq!(codes(&report), Vec::<&str>::new());
    let verify = "canaries verify canaries.npz --base-data base.npz";
    assert_eq!(number(&folder.run(&format!("{verify} --json")).json(), "/in_base_data"), 10.0);
    assert!(folder.run(verify).exits(0).stdout.contains("10 canaries are also records"));
    folder.write("wide.npy", npy_f8(&[5, 3], &[0.5; 15]));
    let wide = folder.run(&format!("{words} --base-data wide.npy"));
    wide.refuses(2, &["wide.npy", "has 3 values per record", "canaries have 2"]);
    let number = "audit one-run --scores scores_0.npy --plan plan --canaries 100";
    folder.run(&format!("{number} --base-data base.npz")).refuses(2, &["--canaries FILE"]);
}

#[test]
fn redrawn_coins_show_nothing() {
    let folder = planned(200, "");
    score_runs(&folder, 200, 2.0);
    let words = "audit one-run --scores scores_0.npy --plan plan --self-test";
    let report = folder.run(&format!("{words} --json")).exits(0).json();
    assert!(number(&report, "/bounds/0/epsilon") > 0.5);
    let rejections = number(&report, "/self_test/rejections");
    assert!(rejections > 0.0 && rejections <= 77.0, "{rejections} of 1,000 at 5 %");
    assert!(folder.run(words).exits(0).stdout.contains("redraws of the coins"));
}

#[test]
fn plan_without_a_subject_is_plan_bgm() {
    let [bare, named] =
        ["plan --epsilon 3", "plan bgm --epsilon 3"].map(|words| dpscope(words).exits(0).stdout);
    assert_eq!(bare, named);
    dpscope("plan --epsilon 3 bgm").refuses(2, &["bgm"]);
}

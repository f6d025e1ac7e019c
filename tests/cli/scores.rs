//! `dpscope audit scores`.

use dpscope_tests::Draws;
use dpscope_tests::cli::{number, text};
use serde_json::Value;

use crate::Folder;
use crate::trainer::{csv, npy_f8};

/// Scores of an attack: Gaussian, `shift` apart, rounded to steps of `step`.
fn scores(n: usize, shift: f64, step: f64, seed: u64) -> [Vec<f64>; 2] {
    let mut draws = Draws::new(seed);
    [shift, 0.0]
        .map(|mean| (0..n).map(|_| ((mean + draws.normal()) / step).round() * step).collect())
}

fn write(folder: &Folder, worlds: &[Vec<f64>; 2]) {
    for (name, world) in ["in.npy", "out.npy"].iter().zip(worlds) {
        folder.write(name, npy_f8(&[world.len()], world));
    }
}

fn audit(folder: &Folder, more: &str) -> Value {
    let words = "audit scores --target in.npy --zero-out out.npy --seed 3 --json";
    folder.run(&format!("{words} {more}")).exits(0).json()
}

fn epsilon(folder: &Folder, more: &str) -> f64 {
    number(&audit(folder, more), "/result/epsilon")
}

/// Scores of all records and membership labels, as scikit-learn's metrics take them.
#[test]
fn labels_are_no_world() {
    let folder = Folder::new();
    let [members, others] = scores(250, 1.0, 1e-9, 14);
    let labels = [vec![1.0; 250], vec![0.0; 250]].concat();
    folder.write("scores.npy", npy_f8(&[500], &[members.clone(), others.clone()].concat()));
    folder.write("labels.npy", npy_f8(&[500], &labels));
    let call = "audit_scores(target=scores[labels == 1], zero_out=scores[labels == 0])";
    for more in ["", "--threshold-rule simultaneous", "--higher-means zero-out"] {
        let words = format!("audit scores --target scores.npy --zero-out labels.npy {more}");
        folder.run(&words).refuses(2, &["zero-out world", "labels", call, "audit one-run"]);
    }
    let swapped = folder.run("audit scores --target labels.npy --zero-out scores.npy");
    swapped.refuses(2, &["target world", call]);
    write(&folder, &[members, others]);
    let shown = folder.run("audit scores --target in.npy --zero-out out.npy").exits(0).stdout;
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("Each score must come from its own training run"), "{shown}");
}

/// 500 runs of each world; a lost score of a run is a missing value in every format.
#[test]
fn missing_values_are_no_smaller_number_of_runs() {
    let folder = Folder::new();
    let [target, zero_out] = scores(500, 2.5, 1e-9, 15);
    let mut sorted = target.clone();
    sorted.sort_by(f64::total_cmp);
    let is_lost = |score: &f64| *score < sorted[85];
    let lines = |blank: &str, end: &str| {
        let header = format!("target{end}");
        let line = |score: &f64| match is_lost(score) {
            true => format!("{blank}{end}"),
            false => format!("{score:?}{end}"),
        };
        target.iter().map(line).fold(header, |text, line| text + &line)
    };
    let missing: Vec<f64> =
        target.iter().map(|score| if is_lost(score) { f64::NAN } else { *score }).collect();
    write(&folder, &[missing, zero_out]);
    let words = |name: &str| format!("audit scores --target {name} --zero-out out.npy --seed 3");
    let counted = |name: &str| {
        let report = folder.run(&format!("{} --count-non-finite --json", words(name))).exits(0);
        let report = report.json();
        assert_eq!(number(&report, "/non_finite/target"), 85.0, "{name}");
        number(&report, "/result/epsilon")
    };
    folder.run(&words("in.npy")).refuses(2, &["in.npy", "85 values", "--count-non-finite"]);
    let expected = counted("in.npy");
    let first = 2 + target.iter().position(is_lost).unwrap();
    for (blank, end) in [("", "\n"), ("  ", "\n"), ("", "\r\n"), ("\"\"", "\n")] {
        folder.write("in.csv", lines(blank, end));
        let place = format!("line {first}");
        folder.run(&words("in.csv")).refuses(2, &["in.csv", &place, "is empty", "nan"]);
        assert_eq!(counted("in.csv"), expected, "{blank:?} {end:?}");
    }
    folder.write("in.csv", lines("nan", "\n"));
    folder.run(&words("in.csv")).refuses(2, &["in.csv", "85 values"]);
    assert_eq!(counted("in.csv"), expected);
    // the last value is missing
    folder.write("in.csv", csv(&target, 1) + "\n");
    folder.run(&words("in.csv")).refuses(2, &["in.csv", "line 501 is empty"]);
}

/// Every score 50 times refutes what the scores themselves do not, and half of the target's scores in both
/// worlds hide a leak.
#[test]
fn copied_scores_decide_no_claim() {
    let folder = Folder::new();
    let no_leak = scores(100, 0.0, 1e-9, 11);
    write(&folder, &no_leak.clone().map(|world| world.repeat(50)));
    let words = "audit scores --target in.npy --zero-out out.npy --seed 3";
    let report = folder.run(&format!("{words} --claim 0.1 --json")).exits(6).json();
    let finding = &report["findings"][0];
    assert_eq!(report["findings"].as_array().unwrap().len(), 1);
    assert_eq!(text(finding, "/code"), "dependence");
    assert_eq!(text(finding, "/data/dependence/kind"), "repeated_scores");
    assert_eq!(number(finding, "/data/dependence/times"), 50.0);
    assert_eq!(text(&report, "/result/kind"), "estimate");
    let shown = folder.run(&format!("{words} --claim 0.1")).exits(6).stdout;
    assert!(shown.contains("5,000 of 5,000 runs are 100 different scores"), "{shown}");

    let [target, zero_out] = scores(400, 2.0, 1e-9, 12);
    let mixed = [&target[..200], &zero_out[..]].concat();
    write(&folder, &[target, mixed]);
    let report = folder.run(&format!("{words} --claim 8 --json")).exits(6).json();
    assert_eq!(text(&report, "/findings/0/data/dependence/kind"), "shared_scores");
    // ties of rounded scores, of few and of many values
    for step in [2.0, 0.1, 0.01, 1e-3] {
        write(&folder, &scores(4000, 0.0, step, 13));
        assert_eq!(audit(&folder, "--claim 0.1")["findings"], serde_json::json!([]), "{step}");
    }
}

#[test]
fn scores_are_bounded_by_every_rule() {
    let folder = Folder::new();
    // Two unit Gaussians 2 apart: ε = 9.8 at δ = 1e-5.
    write(&folder, &scores(4000, 2.0, 1e-9, 1));
    let report = audit(&folder, "--claim 5");
    for (path, expected) in [
        ("/subject", "scores"),
        ("/result/kind", "bound"),
        ("/result/threshold_rule", "split"),
        ("/claim/verdict/outcome", "not-refuted"),
        ("/seed", "3"),
    ] {
        assert_eq!(text(&report, path), expected, "{path}");
    }
    for rule in ["split", "simultaneous"] {
        let bound = epsilon(&folder, &format!("--threshold-rule {rule}"));
        assert!((2.0..9.8).contains(&bound), "{rule}: {bound}");
    }
    let all = audit(&folder, "--threshold-rule max-uncorrected");
    assert_eq!(text(&all, "/result/kind"), "estimate");
    let words = "audit scores --target in.npy --zero-out out.npy --claim 1";
    folder.run(words).exits(3);
    folder.run(&format!("{words} --threshold-rule max-uncorrected")).exits(6);
}

#[test]
fn equal_worlds_yield_zero_epsilon_and_identical_files_are_rejected() {
    let folder = Folder::new();
    write(&folder, &scores(2000, 0.0, 1e-9, 2));
    assert!(epsilon(&folder, "") < 0.3);
    let words = "audit scores --target in.npy --zero-out out.npy";
    write(&folder, &[vec![1.0; 500], vec![1.0; 499]]);
    folder.run(words).refuses(2, &["every score is 1"]);
    let [same, _] = scores(500, 0.0, 1e-9, 2);
    write(&folder, &[same.clone(), same]);
    folder.run(words).refuses(2, &["identical in all 500 runs"]);
}

#[test]
fn ties_are_on_one_side_of_the_threshold() {
    let folder = Folder::new();
    let worlds = scores(4000, 2.0, 1.0, 3);
    write(&folder, &worlds);
    let report = audit(&folder, "");
    // The threshold separates the scores above it, as the counts confirm.
    let threshold = number(&report, "/result/threshold");
    let share = |world: &[f64]| world.iter().filter(|&&s| s > threshold).count() as f64;
    let evaluated = number(&report, "/observations/evaluated/zero_out");
    let seen = number(&report, "/result/false_positives") / evaluated;
    assert!((seen - share(&worlds[1]) / 4000.0).abs() < 0.02, "{seen} {threshold}");
    let bound = number(&report, "/result/epsilon");
    assert!((1.0..9.8).contains(&bound), "{bound}");
    // A binary score.
    let coarse = worlds.map(|world| world.iter().map(|s| f64::from(*s > 2.0)).collect());
    write(&folder, &coarse);
    let bound = epsilon(&folder, "");
    assert!((0.5..9.8).contains(&bound), "{bound}");
}

#[test]
fn reversed_scores_yield_the_mirrored_result() {
    let folder = Folder::new();
    let worlds = scores(3000, 2.0, 0.25, 4);
    write(&folder, &worlds);
    let plain = audit(&folder, "");
    write(&folder, &worlds.clone().map(|world| world.iter().map(|s| -s).collect()));
    let mirrored = audit(&folder, "--higher-means zero-out");
    let mut expected = plain["result"].clone();
    expected["threshold"] = (-number(&plain, "/result/threshold")).into();
    expected["target_if_score"] = "below".into();
    assert_eq!(mirrored["result"], expected);
    assert_eq!(text(&mirrored, "/input/higher_means"), "zero-out");
}

/// Halves by file order would compare the highest scores with the lowest ones.
#[test]
fn the_order_of_scores_does_not_matter() {
    let folder = Folder::new();
    let [mut target, mut zero_out] = scores(3000, 0.0, 1e-9, 5);
    target.sort_unstable_by(f64::total_cmp);
    zero_out.sort_unstable_by(|a, b| b.total_cmp(a));
    write(&folder, &[target, zero_out]);
    for rule in ["split", "simultaneous"] {
        assert!(epsilon(&folder, &format!("--threshold-rule {rule}")) < 0.3, "{rule}");
    }
}

#[test]
fn columns_rows_and_unequal_worlds_are_accepted() {
    let folder = Folder::new();
    let [target, zero_out] = scores(900, 2.0, 1e-9, 6);
    let zero_out = zero_out[..600].to_vec();
    write(&folder, &[target.clone(), zero_out.clone()]);
    let reference = audit(&folder, "");
    assert_eq!(number(&reference, "/observations/zero_out"), 600.0);
    folder.write("in.csv", format!("score\n{}", csv(&target, 1)));
    folder.write("row.npy", npy_f8(&[1, 600], &zero_out));
    let words = "audit scores --target in.csv --zero-out row.npy --seed 3 --json";
    assert_eq!(folder.run(words).exits(0).json()["result"], reference["result"]);

    folder.write("grid.npy", npy_f8(&[30, 20], &zero_out));
    let words = "audit scores --target in.csv --zero-out grid.npy";
    folder.run(words).refuses(2, &["grid.npy: ", "[30, 20]", "audit outputs"]);
}

#[test]
fn failed_runs_count_against_the_attack() {
    let folder = Folder::new();
    let [mut target, mut zero_out] = scores(2000, 3.0, 1e-9, 7);
    write(&folder, &[target.clone(), zero_out.clone()]);
    let whole = epsilon(&folder, "");
    target[7] = f64::NAN;
    zero_out.iter_mut().take(50).for_each(|score| *score = f64::NEG_INFINITY);
    write(&folder, &[target, zero_out]);
    let words = "audit scores --target in.npy --zero-out out.npy";
    folder.run(words).refuses(2, &["in.npy: ", "NaN", "[7]", "--count-non-finite"]);
    let report = audit(&folder, "--count-non-finite");
    assert_eq!(number(&report, "/non_finite/target"), 1.0);
    assert_eq!(number(&report, "/non_finite/zero_out"), 50.0);
    assert!(number(&report, "/result/epsilon") < whole);
}

#[test]
fn too_few_scores_are_rejected() {
    let folder = Folder::new();
    write(&folder, &[vec![1.0], vec![0.0, 1.0]]);
    let words = "audit scores --target in.npy --zero-out out.npy";
    folder.run(words).refuses(2, &["1 runs in the target world", "at least 2"]);
    // Two are little, and not nothing.
    write(&folder, &[vec![1.0, 2.0], vec![0.0, 1.0]]);
    assert_eq!(epsilon(&folder, ""), 0.0);
    folder.run("audit scores --target in.npy").refuses(2, &["--zero-out"]);
}

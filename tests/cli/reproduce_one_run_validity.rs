//! `dpscope reproduce one-run-validity`: procedures with a proof cover, others are seen to fail.

use dpscope_core::interval::{clopper_pearson_lower, clopper_pearson_upper};
use dpscope_tests::cli::{number, text};
use serde_json::Value;

use crate::snapshots::assert_shown;
use crate::{Folder, dpscope};

const RUNS: u64 = 400;

/// Procedures whose coverage is proven for every (ε, δ)-DP or μ-GDP training.
const PROVEN: [&str; 4] = ["count", "walk", "steinke", "recursion"];

/// Procedures and trainings in which bounds exceed the truth too often.
const EXCEEDED: [(&str, &str); 9] = [
    ("largest-over-guesses", "no-leakage"),
    ("largest-over-guesses", "randomised-response"),
    ("largest-over-sides", "no-leakage"),
    ("largest-over-sides", "randomised-response"),
    ("independent-canaries", "public-coin"),
    ("gaussian-fit", "name-and-shame"),
    ("gaussian-fit", "public-coin"),
    ("gaussian-fit", "randomised-response"),
    ("clopper-pearson", "name-and-shame"),
];

/// Each training, procedure and result of a report.
fn results(report: &Value) -> Vec<(&str, &str, &Value)> {
    let sections = report["sections"].as_array().unwrap().iter();
    let tables = sections.filter(|section| section["name"] == "results");
    let rows = tables.flat_map(|section| section["rows"].as_array().unwrap());
    rows.map(|row| (text(row, "/training"), text(row, "/procedure"), row)).collect()
}

#[test]
fn proven_procedures_cover_and_others_exceed_the_truth() {
    let words = format!("reproduce one-run-validity --canaries 600 --runs {RUNS} --seed 2 --json");
    let report = dpscope(&words).exits(0).json();
    assert_eq!(report["facts"]["procedures"].as_array().map(Vec::len), Some(10));
    // no μ bounds name and shame
    assert_eq!(results(&report).len(), 58);
    for (training, procedure, result) in results(&report) {
        let share = number(result, "/share");
        let events = number(result, "/runs_above") as u64;
        assert_eq!(share, events as f64 / RUNS as f64);
        let limits = [clopper_pearson_lower, clopper_pearson_upper]
            .map(|limit| limit(events, RUNS, 0.025).unwrap());
        let interval = ["/share_interval/0", "/share_interval/1"];
        assert_eq!(interval.map(|end| number(result, end)), limits);
        let error = (0.05_f64 * 0.95 / RUNS as f64).sqrt();
        let is_covered = share <= 0.05 + 4.0 * error;
        if PROVEN.contains(&procedure) {
            assert!(is_covered, "{procedure}, {training}: {share}");
            assert_ne!(text(result, "/coverage"), "exceeded");
        }
        if EXCEEDED.contains(&(procedure, training)) {
            assert!(!is_covered, "{procedure}, {training}: {share}");
            assert_eq!(text(result, "/coverage"), "exceeded", "{procedure}, {training}");
        }
    }
    // the probability that an exact calculation yields for m = 1000 is 0.72
    let independent = results(&report)
        .into_iter()
        .find(|found| found.0 == "public-coin" && found.1 == "independent-canaries")
        .map(|(_, _, result)| number(result, "/share"));
    assert!(independent.is_some_and(|share| share > 0.5 && share < 0.8), "{independent:?}");
}

#[test]
fn results_depend_on_the_seed_alone() {
    let words = "reproduce one-run-validity --canaries 100 --runs 30 --json";
    let [one, two, other] = ["--seed 1 --threads 1", "--seed 1 --threads 2", "--seed 3"]
        .map(|more| dpscope(&format!("{words} {more}")).exits(0).stdout);
    assert_eq!(one, two);
    assert_ne!(one, other);
}

#[test]
fn texts_and_drawings_match_their_snapshots() {
    let folder = Folder::new();
    let words = "reproduce one-run-validity --canaries 200 --runs 100 --seed 1 --plot shares.svg";
    let ended = folder.run(words).exits(0);
    assert_eq!(ended.stderr, "");
    assert_shown("reproduce_one_run_validity.txt", &ended.stdout);
    let svg = String::from_utf8(folder.read("shares.svg")).unwrap();
    assert_eq!(crate::plots::problem(&svg), None);
    assert_shown("reproduce_one_run_validity.svg", &svg);
}

#[test]
fn options_without_effect_and_sizes_out_of_range_are_refused() {
    for (words, parts) in [
        ("one-run-validity --canaries 99", &["--canaries is 99", "from 100 to 100000"][..]),
        ("one-run-validity --runs 0", &["--runs is 0", "from 1 to"]),
        ("one-run-validity --delta 0", &["--delta", "between 0 and 1"]),
        ("one-run-validity --plot shares.png", &["shares.png", "must end in .svg"]),
        ("one-run-validity --observations 10", &["--observations", "no effect"]),
        ("one-run-validity --device gpu", &["--device", "no effect"]),
        ("figure-3 --canaries 100", &["--canaries", "no effect", "one-run-validity"]),
        ("figure-3 --plot a.svg", &["--plot", "no effect", "one-run-validity"]),
    ] {
        dpscope(&format!("reproduce {words} --seed 1")).refuses(2, parts);
    }
}

//! Theory shown with a bound: accountants, proven bounds, the exact pair.

use dpscope_tests::cli::{number, rows_of, text};
use serde_json::Value;

use crate::{Folder, dpscope};

fn json(words: &str) -> Value {
    dpscope(&format!("{words} --json")).exits(0).json()
}

const SETTING: &str = "--noise-multiplier 1 --steps 100";

#[test]
fn audits_show_claimed_and_proven_epsilon() {
    let audit = format!("audit bgm {SETTING} --observations 2000 --seed 1");
    let report = json(&audit);
    let poisson = number(&report, "/theory/poisson/epsilon");
    let bounds = |subject: &str| number(&json(&format!("bound {subject} {SETTING}")), "/epsilon");
    assert_eq!(poisson, bounds("poisson"));
    assert_eq!(number(&report, "/theory/gap"), number(&report, "/result/epsilon") - poisson);
    assert_eq!(number(&report, "/theory/lower/epsilon"), bounds("shuffle"));
    assert_eq!(number(&report, "/theory/upper/epsilon"), bounds("deterministic"));
    let shown = dpscope(&audit).exits(0).stdout;
    assert!(shown.contains("accountant  ε ≤ 0.7181 if batches were Poisson sampled"), "{shown}");
    assert!(shown.contains("proven      ε ≥ 4.0631 and ε ≤ 4.3772"), "{shown}");
}

#[test]
fn proven_bounds_match_the_sampler() {
    for (sampler, lower, upper) in [
        ("persistent-shuffle", Some("persistent-shuffle --side lower"), true),
        ("batch-then-shuffle --batch-size 8", Some("shuffle"), true),
        ("deterministic", Some("deterministic --side lower"), true),
        ("partial-shuffle --buffer-examples 16 --batch-size 8", None, true),
        ("poisson", None, false),
        ("balls-in-bins", None, false),
    ] {
        let setting = "--noise-multiplier 2 --steps 10 --epochs 3";
        let audit = format!("audit bgm {setting} --sampler {sampler} --observations 200 --seed 1");
        let report = json(&audit);
        let at = |path: &str| report.pointer(path).and_then(Value::as_f64);
        let expected =
            lower.map(|subject| number(&json(&format!("bound {subject} {setting}")), "/epsilon"));
        assert_eq!(at("/theory/lower/epsilon"), expected, "{sampler}");
        assert_eq!(at("/theory/upper/epsilon").is_some(), upper, "{sampler}");
        if let (Some(lower), Some(upper)) = (expected, at("/theory/upper/epsilon")) {
            assert!(lower <= upper, "{sampler}: {lower} {upper}");
        }
    }
}

#[test]
fn a_bound_is_shown_above_a_claim_that_it_refutes() {
    let counts = "audit counts --false-positives 12 --zero-out-trials 1000 --false-negatives 480 \
                  --target-trials 1000";
    let epsilon = number(&json(counts), "/result/epsilon");
    for option in ["--claim", "--fail-above"] {
        for below in [1e-3, 1e-5, 1e-8] {
            let near = epsilon - below;
            let shown = dpscope(&format!("{counts} {option} {near}")).exits(3).stdout;
            let headline = shown.strip_prefix("ε ≥ ").unwrap().split(' ').next().unwrap();
            let bound: f64 = headline.parse().unwrap();
            assert!(bound > near && bound <= epsilon, "{shown}");
        }
    }
    let far = dpscope(&format!("{counts} --claim 0.1")).exits(3).stdout;
    assert_eq!(far.split(' ').nth(2).unwrap().len(), "1.2345".len(), "{far}");
}

#[test]
fn scores_and_counts_accept_a_training_for_accounting() {
    let counts = "audit counts --false-positives 12 --zero-out-trials 1000 --false-negatives 480 \
                  --target-trials 1000";
    assert!(json(counts).pointer("/theory").is_some_and(Value::is_null));
    let report = json(&format!("{counts} {SETTING} --epochs 2"));
    let poisson = number(&json(&format!("bound poisson {SETTING} --epochs 2")), "/epsilon");
    assert_eq!(number(&report, "/theory/poisson/epsilon"), poisson);
    assert!(report.pointer("/theory/upper").is_none());
    // where Poisson accounting claims nothing, no number times that
    let none = dpscope(&format!("{counts} {SETTING} --delta 0.06")).exits(0).stdout;
    assert!(none.contains("accountant  ε ≤ 0.0000") && !none.contains("times)"), "{none}");
    let ended = dpscope(&format!("{counts} --noise-multiplier 1"));
    assert!(ended.exits(2).stderr.contains("--steps"));
    let many = format!("{counts} --noise-multiplier 1 --steps 1e9 --epochs 1e6");
    let reason = json(&many);
    assert!(text(&reason, "/theory/poisson/reason").contains("steps"));
    assert!(reason.pointer("/theory/gap").is_some_and(Value::is_null));

    let folder = Folder::new();
    for (name, shift) in [("a.csv", 1), ("b.csv", 0)] {
        folder.write(name, (0..40).map(|i| format!("{}\n", i + shift)).collect::<String>());
    }
    let scores = format!("audit scores --target a.csv --zero-out b.csv --seed 1 {SETTING} --json");
    let report = folder.run(&scores).exits(0).json();
    assert_eq!(number(&report, "/theory/poisson/epsilon"), {
        number(&json(&format!("bound poisson {SETTING}")), "/epsilon")
    });
}

#[test]
fn reproduced_rows_explain_differences_and_show_the_pair() {
    let report = json("reproduce figure-3 --observations 400 --seed 1");
    let rows = rows_of(&report, "settings");
    let row = &rows[1];
    let claimed = number(row, "/claimed_epsilon") - number(row, "/poisson/epsilon");
    assert_eq!(number(row, "/claimed_difference"), claimed);
    let (lower, estimate) = (number(row, "/pair_lower/epsilon"), "/pair_estimate/epsilon");
    assert!((4.05..4.0689).contains(&lower), "{lower}");
    assert!((4.06..4.07).contains(&number(row, estimate)));
    assert!(number(row, "/our_estimate") < lower);
    let reasons = |row: &Value| row.pointer("/why_they_differ").unwrap().to_string();
    assert_eq!(reasons(row), r#"["upper-end","observations"]"#);
    // nothing was printed for the fifth
    assert_eq!(reasons(&rows[4]), "[]");
    let shown = dpscope("reproduce figure-3 --observations 400 --seed 1").exits(0).stdout;
    assert!(shown.contains("why: u") && !shown.contains("why: c"), "{shown}");
}

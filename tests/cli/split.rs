//! `dpscope audit split`: random hold-outs, in files and as counts.

use dpscope_tests::Draws;
use dpscope_tests::cli::{number, text};

use crate::trainer::npy_f8;
use crate::{Folder, dpscope};

/// A split as counts.
const COUNTS: &str = "audit split --member-rows 1000 --non-member-rows 1000 --guesses-in 100 --correct-in 100 \
                      --guesses-out 100 --correct-out 78";

/// Scores of 400 members, shifted, and of 400 rows that were held out.
fn written(shift: f64) -> Folder {
    let folder = Folder::new();
    let mut draws = Draws::new(7);
    for (name, shift) in [("in.npy", shift), ("out.npy", 0.0)] {
        let scores: Vec<f64> = (0..400).map(|_| draws.normal() + shift).collect();
        folder.write(name, npy_f8(&[400], &scores));
    }
    folder
}

#[test]
fn a_claim_is_compared_with_the_bound_of_its_adjacency() {
    let report = dpscope(&format!("{COUNTS} --claim 3 --json")).exits(6).json();
    assert!((number(&report, "/bounds/add_remove") - 2.489_495_937).abs() < 1e-8);
    assert!((number(&report, "/bounds/replace") - 3.380_742_725).abs() < 1e-8);
    assert_eq!(text(&report, "/claim/verdict/outcome"), "inconclusive", "above the ceiling");
    dpscope(&format!("{COUNTS} --claim 3 --claim-adjacency replace")).exits(3);
    dpscope(&format!("{COUNTS} --claim 2")).exits(3);
    dpscope(&format!("{COUNTS} --fail-above 2.4")).exits(3);
}

#[test]
fn scores_of_members_are_told_from_others_in_both_directions() {
    let folder = written(1.5);
    let files = "audit split --members in.npy --non-members out.npy";
    let report = folder.run(&format!("{files} --claim 0.5 --json")).exits(3).json();
    assert!(number(&report, "/bounds/add_remove") > 0.5, "{report:#}");
    let sets = folder.run(&format!("{files} --rule sets --json")).exits(0).json();
    assert_eq!(text(&sets, "/guesses/rule"), "sets");
    assert!(number(&sets, "/bounds/replace") > 1.0, "{sets:#}");
    let reversed = folder.run(&format!("{files} --direction lower --claim 1 --json"));
    let reversed = reversed.exits(6).json();
    assert_eq!(text(&reversed, "/findings/0/code"), "scores_reversed");
    assert_eq!(number(&reversed, "/bounds/replace"), 0.0);
    let none = written(0.0);
    let report = none.run(&format!("{files} --claim 1 --json")).exits(0).json();
    assert_eq!(number(&report, "/bounds/replace"), 0.0, "{report:#}");
}

#[test]
fn a_table_that_copies_rows_is_refuted_and_a_fitted_one_is_not() {
    let folder = Folder::new();
    let mut draws = Draws::new(9);
    let mut table = |rows: usize| -> Vec<f64> { (0..4 * rows).map(|_| draws.normal()).collect() };
    let (members, others, fresh) = (table(600), table(600), table(600));
    folder.write("train.npy", npy_f8(&[600, 4], &members));
    folder.write("held-out.npy", npy_f8(&[600, 4], &others));
    folder.write("fresh.npy", npy_f8(&[600, 4], &fresh));
    let copied: Vec<f64> = members[..4 * 120].iter().chain(&fresh[4 * 120..]).copied().collect();
    folder.write("copied.npy", npy_f8(&[600, 4], &copied));
    let files = "audit split --members train.npy --non-members held-out.npy --claim 1";
    folder.run(&format!("{files} --synthetic copied.npy")).exits(3);
    let fresh = folder.run(&format!("{files} --synthetic fresh.npy --json")).exits(0).json();
    assert_eq!(text(&fresh, "/claim/verdict/outcome"), "not-refuted", "{fresh:#}");
    folder.write("narrow.npy", npy_f8(&[600, 3], &copied[..1800]));
    folder.run(&format!("{files} --synthetic narrow.npy")).refuses(2, &["3 columns", "4"]);
    folder.run(files).refuses(2, &["[600, 4]", "--synthetic"]);
}

#[test]
fn strata_of_a_split_are_tested_within() {
    let folder = Folder::new();
    // the score is the class, and classes were divided unevenly
    let class = |ones: usize, zeros: usize| -> Vec<f64> {
        (0..ones).map(|_| 1.0).chain((0..zeros).map(|_| 0.0)).collect()
    };
    let (members, others) = (class(180, 20), class(20, 180));
    let mut draws = Draws::new(11);
    let mut jitter = |values: &[f64]| -> Vec<f64> {
        values.iter().map(|it| it + 1e-3 * draws.normal()).collect()
    };
    for (name, values) in [
        ("in.npy", jitter(&members)),
        ("out.npy", jitter(&others)),
        ("in-class.npy", members),
        ("out-class.npy", others),
    ] {
        folder.write(name, npy_f8(&[200], &values));
    }
    let files = "audit split --members in.npy --non-members out.npy --json";
    let blind = folder.run(files).exits(0).json();
    assert!(number(&blind, "/bounds/replace") > 1.0, "{blind:#}");
    let strata = "--member-strata in-class.npy --non-member-strata out-class.npy";
    let known = folder.run(&format!("{files} {strata}")).exits(0).json();
    assert_eq!(number(&known, "/bounds/replace"), 0.0, "{known:#}");
    folder.write("short.npy", npy_f8(&[3], &[1.0, 2.0, 3.0]));
    let short = format!("{files} --member-strata short.npy --non-member-strata out-class.npy");
    folder.run(&short).refuses(2, &["3 strata for 200 rows"]);
}

#[test]
fn impossible_splits_are_refused_with_what_to_change() {
    let split = "audit split";
    for (words, parts) in [
        (String::new(), &["--members"][..]),
        (
            "--member-rows 3 --non-member-rows 9 --guesses-in 2 --correct-in 2".into(),
            &["at least 5"],
        ),
        (
            "--member-rows 9 --non-member-rows 9 --guesses-in 9 --correct-in 9 --delta 0.5".into(),
            &["smaller δ"],
        ),
        ("--member-rows 10 --non-member-rows 9".into(), &["--guesses-in"]),
        ("--member-rows 10 --non-member-rows 9 --guesses-in 2".into(), &["--correct-in"]),
        ("--member-rows 10 --non-member-rows 9 --guesses-in 2 --correct-in 3".into(), &["0 … 2"]),
        ("--member-rows 10 --non-member-rows 9 --guesses-in 20 --correct-in 9".into(), &["1 … 19"]),
        ("--rule sets --member-rows 10 --non-member-rows 9".into(), &["--guesses"]),
        (
            "--rule sets --member-rows 10 --non-member-rows 9 --guesses-in 2 --correct-in 2".into(),
            &["--rule sets"],
        ),
    ] {
        dpscope(&format!("{split} {words}")).refuses(2, parts);
    }
    let folder = Folder::new();
    folder.write("in.npy", npy_f8(&[6], &[1.0, 2.0, f64::NAN, 4.0, 5.0, 6.0]));
    folder.write("out.npy", npy_f8(&[6], &[1.0; 6]));
    let files = "audit split --members in.npy --non-members out.npy";
    folder.run(files).refuses(2, &["in.npy", "finite"]);
}

#[test]
fn a_hold_out_that_was_used_bounds_training_and_selection_together() {
    let alone = dpscope(&format!("{COUNTS} --delta 0 --json")).exits(0).json();
    let report = dpscope(&format!("{COUNTS} --delta 0 --holdout-used --json")).exits(0).json();
    // replacing a row in each side is two replacements
    let [before, after] = [&alone, &report].map(|report| number(report, "/bounds/replace"));
    assert!((before - 2.0 * after).abs() < 1e-8, "{before} {after}");
    assert!(number(&report, "/bounds/add_remove") < number(&alone, "/bounds/add_remove"));
    let text = dpscope(&format!("{COUNTS} --holdout-used --claim 1")).exits(3).stdout;
    assert!(text.contains("Training and selection together are not"), "{text}");
    let strata =
        "--member-strata a.npy --non-member-strata a.npy --members a.npy --non-members a.npy";
    dpscope(&format!("audit split --holdout-used {strata}")).refuses(2, &["--holdout-used"]);
}

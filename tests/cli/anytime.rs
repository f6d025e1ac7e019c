//! `dpscope audit scores --anytime`.

use dpscope_tests::Draws;
use dpscope_tests::cli::{number, text};

use crate::Folder;
use crate::trainer::npy_f8;

/// Scores of both worlds, shifted in the target's.
fn written(runs: usize) -> Folder {
    let folder = Folder::new();
    let mut draws = Draws::new(45);
    for (name, shift) in [("in.npy", 1.5), ("out.npy", 0.0)] {
        let scores: Vec<f64> = (0..runs).map(|_| draws.normal() + shift).collect();
        folder.write(name, npy_f8(&[runs], &scores));
    }
    folder
}

#[test]
fn bets_on_pairs_of_runs_refute_a_claim() {
    let folder = written(900);
    let audit = "audit scores --target in.npy --zero-out out.npy --anytime";
    let report = folder.run(&format!("{audit} --claim 0.5 --json")).exits(3).json();
    let (epsilon, fixed) = (number(&report, "/epsilon"), number(&report, "/fixed_epsilon"));
    assert!(epsilon > 0.5 && fixed > epsilon, "{report:#}");
    assert_eq!((number(&report, "/pairs"), number(&report, "/pilot_pairs")), (880.0, 20.0));
    assert!(number(&report, "/reached_after") <= 880.0);
    assert_eq!(text(&report, "/answer/headline"), text(&report, "/headline"));
    folder.run(&format!("{audit} --fail-above 0.4")).exits(3);
    folder.run(&format!("{audit} --claim 3")).exits(0);
    folder.run(&format!("{audit} --claim 90")).exits(6);
    folder.run(&format!("{audit} --threshold-rule simultaneous")).refuses(2, &["--anytime"]);
}

#[test]
fn unpaired_runs_are_refused() {
    let folder = written(100);
    let few: Vec<f64> = (0..90).map(f64::from).collect();
    folder.write("few.npy", npy_f8(&[90], &few));
    folder
        .run("audit scores --target in.npy --zero-out few.npy --anytime")
        .refuses(2, &["100 and 90", "give both as many"]);
    let short = written(20);
    short
        .run("audit scores --target in.npy --zero-out out.npy --anytime")
        .refuses(2, &["20 pairs", "add runs"]);
}

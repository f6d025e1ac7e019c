//! `dpscope audit gaussian`.

use dpscope_core::audit::one_shot::{AnyMechanism, CanaryDesign, CosineNull};
use dpscope_simulation::noisy_sum::CosineDraws;
use dpscope_tests::cli::{number, text};
use serde_json::Value;

use crate::{Folder, dpscope};

const SMALL: &str = "audit gaussian --noise-multiplier 0.5 --dimension 1e5 --delta 1e-6 --seed 4 \
                     --design fixed:80 --repeats 12";

fn medians(report: &Value) -> Vec<(&str, f64)> {
    let summaries = report["simulation"]["summaries"].as_array().unwrap();
    let summary = |summary| (text(summary, "/quantity"), number(summary, "/median"));
    summaries.iter().map(summary).collect()
}

#[test]
fn the_first_run_is_audited_and_all_are_summarised() {
    let report = dpscope(&format!("{SMALL} --json")).exits(0).json();
    let mut cosines = Vec::new();
    CosineDraws::new(100_000, 0.5, 4).cosines(0, 80, &mut cosines);
    let tails = CosineNull::new(100_000).unwrap().tails(&cosines).unwrap();
    let any = AnyMechanism::new(CanaryDesign::Fixed { canaries: 80 }).unwrap();
    let expected = any.epsilon_lower(&tails, 1e-6, 0.05).unwrap();
    assert_eq!(number(&report, "/bounds/epsilon"), expected);
    assert_eq!(number(&report, "/simulation/gdp_mu"), 2.0);
    let truth = number(&report, "/simulation/epsilon");
    let medians = medians(&report);
    assert_eq!(medians.len(), 6);
    for (quantity, median) in medians {
        let truth = if quantity.ends_with("mu") { 2.0 } else { truth };
        let most = if quantity.ends_with("estimate") { 2.0 * truth } else { truth };
        assert!(median > 0.1 && median < most, "{quantity} {median}");
    }
    let shown = dpscope(SMALL).exits(0).stdout;
    for part in ["noise multiplier 0.5: μ = 2.0000", "12 independent runs", "above the truth"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn claims_below_the_truth_are_refuted_and_no_noise_has_no_ceiling() {
    let words = "audit gaussian --noise-multiplier 0.2 --dimension 1e5 --delta 1e-6 --seed 1 \
                 --design poisson:200";
    let refuted = dpscope(&format!("{words} --claim 5")).exits(3).stdout;
    assert!(refuted.contains("The simulated mechanism is not (ε, δ)-DP as claimed."), "{refuted}");
    dpscope(&format!("{words} --claim 39")).exits(0);
    let words = words.replace("0.2", "0").replace("poisson:200", "poisson:400");
    let report = dpscope(&format!("{words} --json")).exits(0).json();
    assert!(number(&report, "/bounds/epsilon") > 80.0);
    assert_eq!(report["simulation"]["epsilon"], Value::Null);
    assert!(dpscope(&words).exits(0).stdout.contains("noise multiplier 0: no privacy"));
}

#[test]
fn shards_and_resumed_runs_equal_the_undivided_run() {
    for form in ["", " --full"] {
        let small = SMALL.replace("1e5", "5e3") + form;
        let folder = Folder::new();
        let whole = folder.run(&format!("{small} --json")).exits(0).json();
        for i in 1..=3 {
            let shown = folder.run(&format!("{small} --shard {i}/3 --out {i}.json")).exits(0);
            let is_first = shown.stdout.contains("ε ≥");
            assert_eq!((is_first, shown.stderr.contains("without the first")), (i == 1, i != 1));
        }
        let merged = folder.run("merge 3.json 1.json 2.json --json").exits(0).json();
        assert_eq!(merged["bounds"], whole["bounds"]);
        assert_eq!(merged["simulation"]["summaries"], whole["simulation"]["summaries"]);
        folder.run("merge 1.json 3.json").refuses(5, &["missing"]);
        folder.run("merge 1.json 3.json --allow-gaps --out part.json").exits(0);
        let filled = folder.run("resume part.json --json").exits(0).json();
        assert_eq!(filled["bounds"], whole["bounds"]);
        assert_eq!(filled["simulation"]["summaries"], whole["simulation"]["summaries"]);
        let other = small.replace("--delta 1e-6", "--delta 1e-7");
        folder.run(&format!("{other} --checkpoint part.json")).refuses(5, &["delta"]);
    }
}

#[test]
fn drawings_show_the_scores_against_their_null() {
    let folder = Folder::new();
    folder.run(&format!("{SMALL} --plot scores.svg")).exits(0);
    let drawn = String::from_utf8(folder.read("scores.svg")).unwrap();
    assert!(drawn.contains("canaries that are not in: N(0, 1)"), "{drawn}");
}

#[test]
fn bad_arguments_are_refused() {
    let words = "audit gaussian --delta 1e-6 --seed 1";
    for (options, part) in [
        ("--noise-multiplier 1 --dimension 500", "--dimension is 500; it must be from 1000"),
        ("--noise-multiplier 0.001 --dimension 1e4 --design fixed:9", "pass --full"),
        ("--noise-multiplier 1 --dimension 1e4 --design fixed", "pass fixed:NUMBER"),
        ("--noise-multiplier 1e9 --dimension 1e4", "--noise-multiplier is"),
        ("--noise-multiplier 1 --dimension 1e4 --design poisson:1e8", "--design"),
        ("--noise-multiplier 1 --dimension 1e4 --repeats 1e6", "--repeats is 1000000"),
        ("--noise-multiplier 1 --dimension 1e4 --metrics", "--metrics"),
        ("--noise-multiplier 1 --dimension 1e4 --threshold-rule split", "--threshold-rule"),
    ] {
        dpscope(&format!("{words} {options}")).refuses(2, &[part]);
    }
    let gpu = format!("{words} --noise-multiplier 1 --dimension 1e4 --device gpu");
    dpscope(&gpu).refuses(4, &["--device cpu"]);
}

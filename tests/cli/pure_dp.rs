//! δ = 0: audits of mechanisms whose ε is known, and Gaussian noise, which has none.

use dpscope_core::math::{exp, ln};
use dpscope_tests::Draws;
use dpscope_tests::cli::number;
use serde_json::Value;

use crate::trainer::npy_f8;
use crate::{Folder, dpscope};

const RUNS: usize = 4000;

/// Laplace noise of scale 1 on sums that differ by 1: ε = 1.
fn laplace(draws: &mut Draws, is_target: bool) -> f64 {
    let u = draws.uniform();
    let noise = if u < 0.5 { ln(2.0 * u) } else { -ln(2.0 * (1.0 - u)) };
    noise + f64::from(is_target)
}

/// A bit that is true to the world with probability e/(1 + e): ε = 1.
fn randomised_response(draws: &mut Draws, is_target: bool) -> f64 {
    let is_true = draws.uniform() < exp(1.0) / (1.0 + exp(1.0));
    f64::from(is_true == is_target)
}

fn write(folder: &Folder, score: fn(&mut Draws, bool) -> f64) {
    let mut draws = Draws::new(77);
    for (name, is_target) in [("in.npy", true), ("out.npy", false)] {
        let scores: Vec<f64> = (0..RUNS).map(|_| score(&mut draws, is_target)).collect();
        folder.write(name, npy_f8(&[RUNS], &scores));
    }
}

const AUDIT: &str = "audit scores --target in.npy --zero-out out.npy --seed 3";

#[test]
fn a_mechanism_of_epsilon_1_has_a_bound_just_below_1() {
    let folder = Folder::new();
    for score in [laplace, randomised_response] {
        write(&folder, score);
        for rule in ["split", "simultaneous"] {
            let words = format!("{AUDIT} --delta 0 --threshold-rule {rule}");
            let report = folder.run(&format!("{words} --claim 1 --json")).exits(0).json();
            let epsilon = number(&report, "/result/epsilon");
            assert!((0.8..=1.0).contains(&epsilon), "{rule}: {epsilon}");
            assert_eq!(number(&report, "/result/delta"), 0.0);
            folder.run(&format!("{words} --claim 0.5")).exits(3);
        }
        let shown = folder.run(&format!("{AUDIT} --delta 0 --claim 1 --metrics")).exits(0).stdout;
        for part in ["at δ = 0, with", "claim ε = 1 at δ = 0: not refuted", "∞  from μ ≥ "]
        {
            assert!(shown.contains(part), "{part}: {shown}");
        }
    }
}

#[test]
fn metrics_of_a_mechanism_without_a_gaussian_curve_have_none() {
    let folder = Folder::new();
    write(&folder, laplace);
    let metrics = |more: &str| folder.run(&format!("{AUDIT} --json {more}")).exits(0).json();
    let report = metrics("--delta 0");
    assert_eq!(report["metrics"]["gdp"]["epsilon"], Value::Null);
    assert_eq!(report["metrics"]["gdp"]["assumes"], "gaussian_curve");
    // the value that assumes a Gaussian curve exceeds the true ε, and decides nothing
    let report = metrics("--delta 1e-5 --claim 1");
    assert!(number(&report, "/metrics/gdp/epsilon") > 2.0);
    assert_eq!(report["claim"]["verdict"]["outcome"], "not-refuted");
    // P(S > S′) = 1 − (2 + ε) e^(−ε)/4, and the characteristic is e α at α = 0.1
    let auc = 1.0 - 0.75 * exp(-1.0);
    assert!(
        number(&report, "/metrics/auc/lower") < auc && auc < number(&report, "/metrics/auc/upper")
    );
    let tpr = &report["metrics"]["tpr_at_fpr"][2];
    assert_eq!(number(tpr, "/fpr"), 0.1);
    let truth = 0.1 * exp(1.0);
    assert!(number(tpr, "/lower") < truth && truth < number(tpr, "/upper"), "{tpr}");
}

#[test]
fn gaussian_noise_is_refused_with_the_reason() {
    let training = "--noise-multiplier 1 --steps 10 --delta 0";
    for command in [
        "audit bgm --observations 1e4",
        "plan",
        "bound poisson",
        "bound shuffle",
        "bound pair",
        "bound deterministic",
        "bound balls-in-bins",
        "compare",
    ] {
        dpscope(&format!("{command} {training}"))
            .refuses(2, &["--delta is 0", "no finite epsilon"]);
    }
    let noise = dpscope("calibrate noise --epsilon 1 --steps 10 --delta 0");
    noise.refuses(2, &["--delta is 0", "no finite epsilon"]);
}

#[test]
fn counts_and_plans_accept_it() {
    let counts = "audit counts --false-positives 12 --zero-out-trials 1000 --false-negatives 480 \
                  --target-trials 1000 --delta 0";
    let shown = dpscope(&format!("{counts} --noise-multiplier 1 --steps 10")).exits(0).stdout;
    for part in ["ε ≥ 3.1531 at δ = 0, with", "no finite epsilon is proven"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(dpscope("plan --epsilon 2 --delta 0").exits(0).stdout.starts_with("At δ = 0, "));
}

//! `dpscope plan`.

use dpscope_core::math::ln;
use dpscope_tests::cli::{number, text};
use serde_json::Value;

use crate::dpscope;

fn plan(words: &str) -> Value {
    dpscope(&format!("plan {words} --json")).exits(0).json()
}

#[test]
fn the_ceiling_is_the_bound_of_an_error_free_attack() {
    let report = plan("--observations 2000 --threshold-rule split");
    assert_eq!(text(&report, "/schema"), "dpscope.plan/1");
    let (delta, tail) = (number(&report, "/delta"), number(&report, "/tail_per_rate"));
    // No error in 500 trials of the half that is evaluated: the limit is 1 − tail^(1/500).
    let limit = -dpscope_core::math::exp_m1(ln(tail) / 500.0);
    let expected = ln((1.0 - limit - delta) / limit);
    let ceiling = number(&report, "/rows/0/ceiling");
    assert!((ceiling - expected).abs() < 1e-9, "{ceiling} {expected}");
    assert!(report.pointer("/rows/0/predicted_epsilon").unwrap().is_null());
}

#[test]
fn planned_observations_are_the_fewest_that_reach_the_target() {
    for epsilon in [1.0, 4.5, 9.0] {
        for rule in ["simultaneous", "split", "max-uncorrected"] {
            let words = format!("--threshold-rule {rule}");
            let target = plan(&format!("{words} --epsilon {epsilon}"));
            let least = number(&target, "/target/observations_for_ceiling") as u64;
            let ceiling = |observations: u64| {
                let report = plan(&format!("{words} --observations {observations}"));
                number(&report, "/rows/0/ceiling")
            };
            assert!(ceiling(least) >= epsilon, "{rule} {epsilon}");
            assert!(ceiling(least - 4) < epsilon, "{rule} {epsilon}");
        }
    }
}

#[test]
fn predictions_are_close_to_audits() {
    let words = "--noise-multiplier 0.6 --steps 20";
    let predicted = plan(&format!("{words} --observations 1e6 --seed 5"));
    let predicted = number(&predicted, "/rows/0/predicted_epsilon");
    let audit = dpscope(&format!("audit bgm {words} --observations 1e6 --seed 6 --json"));
    let found = number(&audit.exits(0).json(), "/result/epsilon");
    // A pilot covers less of the tail than the audit: it may predict too little.
    assert!((-0.8..0.3).contains(&(predicted - found)), "{predicted} {found}");
    // A seed repeats a prediction, and the report names it.
    let again = format!("{words} --observations 1e6 --seed 5");
    assert_eq!(plan(&again), plan(&again));
    assert_eq!(text(&plan(&again), "/seed"), "5");
    let target = plan(&format!("{words} --epsilon 2 --seed 5"));
    let least = number(&target, "/target/observations_for_ceiling");
    assert!(number(&target, "/target/observations_predicted") > least);
}

#[test]
fn predictions_name_their_seed() {
    let predicted = dpscope("plan --noise-multiplier 1 --steps 10 --seed 4").exits(0).stdout;
    assert!(predicted.contains("predicted (estimate)") && predicted.contains("seed 4"));
}

#[test]
fn an_epsilon_above_what_is_proven_is_impossible() {
    let words = "--noise-multiplier 1 --steps 100 --observations 1e4 --seed 1";
    for (epsilon, is_impossible) in [(5.0, true), (4.3, false)] {
        let target = plan(&format!("{words} --epsilon {epsilon}"));
        assert_eq!(target["target"]["is_impossible"], is_impossible);
        assert!((number(&target, "/target/proven_maximum") - 4.3772).abs() < 1e-4);
        let shown = dpscope(&format!("plan {words} --epsilon {epsilon}")).exits(0).stdout;
        let says =
            shown.contains("ε = 5 is impossible: this mechanism leaks at most 4.38 (proven)");
        assert_eq!(says, is_impossible, "{shown}");
    }
    assert!(plan("--epsilon 5")["target"]["proven_maximum"].is_null());
}

#[test]
fn impossible_plans_are_rejected() {
    for (words, part) in [
        ("", "nothing to plan"),
        ("--epsilon -1", "`-1` is not an epsilon"),
        ("--epsilon 0", "epsilon is 0"),
        ("--epsilon nan", "`nan` is not an epsilon"),
        ("--epsilon 41", "(0, 40]"),
        ("--observations 3", "--observations is 3; it must be even"),
        ("--observations 0", "--observations is 0"),
        ("--epsilon 1 --delta nan", "delta"),
        ("--epsilon 1 --significance 0", "significance"),
        ("--epsilon 1 --significance nan", "significance"),
        ("--steps 10", "--noise-multiplier"),
        ("--noise-multiplier 1", "--steps"),
        ("--noise-multiplier nan --steps 10", "--noise-multiplier = NaN"),
        ("--noise-multiplier 1 --steps 0", "--steps is 0"),
        ("--noise-multiplier 1 --steps 10 --total-steps 25", "--epochs 2 or --epochs 3"),
        ("--noise-multiplier 1 --steps 10 --seed 9007199254740992", "2^53"),
    ] {
        dpscope(&format!("plan {words}")).refuses(2, &[part]);
    }
}

//! From four counts to ε, as published implementations do it; here only to test the limits.

use dpscope_core::interval::{clopper_pearson_upper, jeffreys_upper};
use dpscope_core::math;
use dpscope_tests::{Case, cases};

const ESTIMATORS: &str = include_str!("data/estimators.json");

type Upper = fn(u64, u64, f64) -> f64;

fn clopper_pearson(events: u64, trials: u64, tail: f64) -> f64 {
    clopper_pearson_upper(events, trials, tail).expect("arguments are in the domain")
}

/// The convention of privacy-estimates: 1 where every trial is an event.
fn jeffreys(events: u64, trials: u64, tail: f64) -> f64 {
    if events == trials {
        1.0
    } else {
        jeffreys_upper(events, trials, tail).expect("arguments are in the domain")
    }
}

fn upper_rates(case: &Case, tail: f64, upper: Upper) -> (f64, f64) {
    let [tp, misses, alarms, tn] = ["TP", "FN", "FP", "TN"].map(|name| case.count(name));
    (upper(alarms, alarms + tn, tail), upper(misses, misses + tp, tail))
}

/// Largest change of ε from the peer's value, for attacks that are better than guessing.
fn worst(peer: &str, upper: Upper, both_directions: bool) -> f64 {
    let mut largest = 0.0_f64;
    for case in cases(ESTIMATORS, "a_clopper_pearson_counts") {
        let reversed = case.count("FP") > case.count("TP");
        let Some(value) = case.expected_float(peer).filter(|_| !reversed) else { continue };
        let (fpr, fnr) = upper_rates(&case, 0.5 * case.input("alpha"), upper);
        let delta = case.input("delta");
        let log_ratio = |kept: f64, other: f64| {
            let numerator = 1.0 - delta - kept;
            if numerator > 0.0 { math::ln(numerator / other).max(0.0) } else { 0.0 }
        };
        let forward = log_ratio(fnr, fpr);
        let backward = if both_directions { log_ratio(fpr, fnr) } else { 0.0 };
        let change = (forward.max(backward) - value).abs();
        largest = largest.max(if change.is_nan() { f64::INFINITY } else { change });
    }
    largest
}

#[test]
fn upper_limits_of_the_rates() {
    for case in cases(ESTIMATORS, "a_clopper_pearson_counts") {
        let alpha = case.input("alpha");
        for (key, tail) in [("tail alpha/2", 0.5 * alpha), ("tail alpha (", alpha)] {
            let expected = case.expected(&format!("rates_upper_bounds {key}")).expect("rates");
            let (fpr, fnr) = upper_rates(&case, tail, clopper_pearson);
            for (name, seen) in [("fpr_ub", fpr), ("fnr_ub", fnr)] {
                let value = expected[name].as_f64().expect("rate");
                assert!((seen / value - 1.0).abs() < 1e-10, "{} {name}: {seen} {value}", case.id());
            }
        }
    }
}

#[test]
fn peers_with_the_same_definition_agree() {
    let change = worst("jax_privacy one_sided=True", clopper_pearson, false);
    assert!(change < 1e-8, "{change:e}");
    let change = worst("privacy-estimates beta compute_eps_lo (", clopper_pearson, true);
    assert!(change < 1e-8, "{change:e}");
    let change = worst("privacy-estimates jeffreys compute_eps_lo (", jeffreys, true);
    assert!(change < 1e-8, "{change:e}");
}

#[test]
fn other_definitions_are_told_apart() {
    let change = worst("privacy-estimates jeffreys compute_eps_lo (", clopper_pearson, true);
    assert!(change > 1e-3, "{change:e}");
    let change =
        worst("jax_privacy one_sided=True", |k, n, t| clopper_pearson(k, n, 2.0 * t), false);
    assert!(change > 1e-2, "{change:e}");
}

//! From four counts to ε, as published implementations do it; here only to test the limits.

use std::path::Path;

use dpscope_tests::golden::{Answer, Counts, Finding, Library, Real, evaluate};

const ESTIMATORS: &str = include_str!("data/estimators.json");

/// Largest distance from the values of a peer, for attacks that are better than guessing.
fn worst(peer: &str, library: &dyn Library) -> f64 {
    let found = evaluate(ESTIMATORS, "estimators.json", Path::new("oracles/data"), library);
    let found = found.expect("the file is well-formed");
    let is_peer = |found: &&Finding| {
        found.case.starts_with("a_clopper_pearson_counts") && found.value.starts_with(peer)
    };
    let distances: Vec<f64> = found.iter().filter(is_peer).map(|found| found.distance).collect();
    assert!(distances.len() >= 12, "{peer}");
    let as_infinite = |distance: &f64| if distance.is_nan() { f64::INFINITY } else { *distance };
    distances.iter().map(as_infinite).fold(0.0, f64::max)
}

#[test]
fn upper_limits_of_the_rates_agree() {
    for tail in ["tail alpha/2", "tail alpha ("] {
        let distance = worst(&format!("rates_upper_bounds {tail}"), &Real);
        assert!(distance < 1e-10, "{tail}: {distance:e}");
    }
}

#[test]
fn peers_with_the_same_definition_agree() {
    for peer in [
        "jax_privacy one_sided=True",
        "privacy-estimates beta compute_eps_lo (",
        "privacy-estimates jeffreys compute_eps_lo (",
    ] {
        let distance = worst(peer, &Real);
        assert!(distance < 1e-8, "{peer}: {distance:e}");
    }
}

/// Clopper–Pearson limits with whole tails, and in the place of Jeffreys limits.
struct OtherLimits;

impl Library for OtherLimits {
    fn clopper_pearson(&self, events: u64, trials: u64, tail: f64) -> Answer<(f64, f64)> {
        Real.clopper_pearson(events, trials, 2.0 * tail)
    }

    fn jeffreys_upper(&self, events: u64, trials: u64, tail: f64) -> Answer {
        Real.clopper_pearson(events, trials, tail).map(|(_, upper)| upper)
    }

    fn epsilon_at_fixed_cut(&self, counts: Counts, delta: f64, significance: f64) -> Answer {
        Real.epsilon_at_fixed_cut(counts, delta, 2.0 * significance)
    }
}

#[test]
fn other_definitions_disagree() {
    let distance = worst("privacy-estimates jeffreys compute_eps_lo (", &OtherLimits);
    assert!(distance > 1e-3, "{distance:e}");
    let distance = worst("privacy-estimates beta compute_eps_lo (", &OtherLimits);
    assert!(distance > 1e-2, "{distance:e}");
    let distance = worst("jax_privacy one_sided=True", &OtherLimits);
    assert!(distance > 1e-2, "{distance:e}");
}

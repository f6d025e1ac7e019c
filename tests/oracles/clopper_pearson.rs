//! Clopper–Pearson limits against 40-digit values, an independent method and enumeration.

use std::path::Path;

use dpscope_core::interval::{clopper_pearson_lower, clopper_pearson_upper};
use dpscope_tests::golden::{Answer, Library, Outcome, evaluate};
use proptest::prelude::*;

type Limit = fn(u64, u64, f64) -> f64;

fn upper(events: u64, trials: u64, tail: f64) -> f64 {
    clopper_pearson_upper(events, trials, tail).expect("arguments are in the domain")
}

fn lower(events: u64, trials: u64, tail: f64) -> f64 {
    clopper_pearson_lower(events, trials, tail).expect("arguments are in the domain")
}

struct Limits {
    upper: Limit,
    lower: Limit,
}

impl Library for Limits {
    fn clopper_pearson(&self, events: u64, trials: u64, tail: f64) -> Answer<(f64, f64)> {
        Ok(((self.lower)(events, trials, tail), (self.upper)(events, trials, tail)))
    }
}

/// Evaluates both limits over a file; the wrong limits, the largest relative change, all limits.
fn run(text: &str, upper: Limit, lower: Limit) -> (Vec<String>, f64, usize) {
    let findings = evaluate(text, "limits", Path::new("."), &Limits { upper, lower });
    let findings = findings.expect("the file is well-formed");
    let largest = findings.iter().map(|found| found.relative).fold(0.0, f64::max);
    let wrong = findings.iter().filter(|found| found.outcome != Outcome::Passed);
    (wrong.map(ToString::to_string).collect(), largest, findings.len())
}

const GOLDEN: &str = include_str!("data/clopper_pearson.csv");
const INDEPENDENT: &str = include_str!("data/clopper_pearson_independent.csv");

#[test]
fn golden_limits_agree() {
    let (wrong, largest, limits) = run(GOLDEN, upper, lower);
    println!("{limits} limits, largest relative change {largest:.2e}");
    assert!(wrong.is_empty(), "{} of {limits}: {:#?}", wrong.len(), &wrong[..wrong.len().min(9)]);
    assert_eq!(limits, 2 * 512);
    assert!(largest < 1e-10);
}

#[test]
fn independent_limits_agree() {
    let (wrong, largest, limits) = run(INDEPENDENT, upper, lower);
    println!("{limits} limits, largest relative change {largest:.2e}");
    assert!(wrong.is_empty(), "{} of {limits}: {:#?}", wrong.len(), &wrong[..wrong.len().min(9)]);
    assert!(limits >= 2 * 400);
    assert!(largest < 1e-10);
}

#[test]
fn broken_twins_are_rejected() {
    let twins: [(&str, Limit, Limit); 5] = [
        ("two-sided tail", |k, n, t| upper(k, n, 0.5 * t), |k, n, t| lower(k, n, 0.5 * t)),
        ("doubled tail", |k, n, t| upper(k, n, 2.0 * t), |k, n, t| lower(k, n, 2.0 * t)),
        (
            "one event fewer",
            |k, n, t| upper(k.max(1) - 1, n, t),
            |k, n, t| lower(k.max(1) - 1, n, t),
        ),
        (
            "one event more",
            |k, n, t| upper((k + 1).min(n), n, t),
            |k, n, t| lower((k + 1).min(n), n, t),
        ),
        ("one trial more", |k, n, t| upper(k, n + 1, t), |k, n, t| lower(k, n + 1, t)),
    ];
    for text in [GOLDEN, INDEPENDENT] {
        for (name, upper, lower) in twins {
            let (wrong, _, limits) = run(text, upper, lower);
            // only the trivial limits (0 and 1) may survive
            assert!(2 * wrong.len() > limits, "{name}: {} of {limits}", wrong.len());
        }
    }
}

#[test]
fn rounding_inward_is_rejected() {
    let inward = |k, n, t| upper(k, n, t) * (1.0 - 1e-12);
    let (wrong, _, limits) = run(GOLDEN, inward, lower);
    assert!(4 * wrong.len() > limits, "{} of {limits}", wrong.len());
}

/// P[Bin(n, p) ≤ k] from the definition, smallest terms first.
fn binomial_cdf(events: u64, trials: u64, p: f64) -> f64 {
    (0..=events)
        .map(|k| {
            let ways = (0..k).fold(1.0, |c, i| c * (trials - i) as f64 / (i + 1) as f64);
            let hits = (0..k).fold(1.0, |product, _| product * p);
            (k..trials).fold(ways * hits, |product, _| product * (1.0 - p))
        })
        .sum()
}

/// Largest chance over all rates that the limit lies below the rate, in units of the tail. The
/// worst rates lie just above a limit, so no others need checking.
fn worst_miss(limit: Limit, trials: u64, tail: f64) -> f64 {
    let limits: Vec<f64> = (0..=trials).map(|k| limit(k, trials, tail)).collect();
    let mut worst = 0.0_f64;
    for &p in limits.iter().filter(|&&p| p < 1.0) {
        let p = p.next_up();
        let missed = limits.iter().filter(|&&limit| limit < p).count() as u64;
        worst = worst.max(binomial_cdf(missed - 1, trials, p));
    }
    worst / tail
}

#[test]
fn coverage_by_enumeration() {
    for trials in [1, 2, 3, 7, 20, 60] {
        for tail in [1e-6, 0.005, 0.025, 0.3] {
            let worst = worst_miss(upper, trials, tail);
            assert!(worst <= 1.0 + 1e-14, "{trials} {tail}: {worst}");
            assert!(worst >= 1.0 - 1e-9, "{trials} {tail}: not tight, {worst}");
            // P[X ≥ k] at the lower limit is the same statement about the misses n − X
            let mirrored: Limit = |k, n, t| 1.0 - lower(n - k, n, t);
            let worst = worst_miss(mirrored, trials, tail);
            assert!((worst - 1.0).abs() <= 1e-9, "{trials} {tail}: {worst}");
        }
    }
}

#[test]
fn coverage_rejects_broken_twins() {
    let twins: [(&str, Limit); 3] = [
        ("doubled tail", |k, n, t| upper(k, n, 2.0 * t)),
        ("one event fewer", |k, n, t| upper(k.max(1) - 1, n, t)),
        ("Jeffreys", |k, n, t| dpscope_core::interval::jeffreys_upper(k, n, t).expect("valid")),
    ];
    for (name, twin) in twins {
        let worst = worst_miss(twin, 20, 0.025);
        assert!(worst > 1.05, "{name}: {worst}");
    }
}

fn any_case() -> impl Strategy<Value = (u64, u64, f64)> {
    (0.0..10.0_f64, 0.0..1.0_f64, 0.0..1.0_f64, -12.0..-0.302_f64).prop_map(
        |(size, kind, place, tail)| {
            let trials = power_of_ten(size).max(1.0) as u64;
            let events = if kind < 0.5 {
                (power_of_ten(size * place) as u64).min(trials)
            } else {
                (trials as f64 * place) as u64
            };
            (events, trials, power_of_ten(tail))
        },
    )
}

fn power_of_ten(exponent: f64) -> f64 {
    dpscope_core::math::powf(10.0, exponent)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn monotone_and_mirrored((k, n, tail) in any_case()) {
        let (high, low) = (upper(k, n, tail), lower(k, n, tail));
        let rate = k as f64 / n as f64;
        prop_assert!((0.0..=1.0).contains(&high) && (0.0..=1.0).contains(&low));
        prop_assert!(tail > 0.4 || (low <= rate && rate <= high));
        // equal to 1 − the other limit of the misses
        prop_assert!((high + lower(n - k, n, tail) - 1.0).abs() < 1e-12);
        // one event more moves both up, a smaller tail moves both out
        if k < n {
            prop_assert!(upper(k + 1, n, tail) >= high);
            prop_assert!(lower(k + 1, n, tail) >= low);
        }
        prop_assert!(upper(k, n, 0.9 * tail) >= high);
        prop_assert!(lower(k, n, 0.9 * tail) <= low);
        // another miss moves both down
        prop_assert!(upper(k, n + 1, tail) <= high);
        prop_assert!(lower(k, n + 1, tail) <= low);
    }
}

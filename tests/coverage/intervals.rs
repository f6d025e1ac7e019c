//! Limits of one rate: the chance of a miss at every rate, by enumeration.

use dpscope_core::interval::{
    IntervalError, clopper_pearson_lower, clopper_pearson_upper, jeffreys_lower, jeffreys_upper,
};

use crate::enumeration::BinomialDistribution;

type Limit = fn(u64, u64, f64) -> Result<f64, IntervalError>;

const SIZES: [u64; 7] = [1, 2, 5, 17, 100, 333, 1000];
const TAILS: [f64; 5] = [0.2, 0.05, 0.025, 0.025 / 16.0, 1e-6];

/// Largest chance that an upper limit lies below the rate, over all rates in (0, 1).
///
/// Between two neighbouring limits the same counts miss and their probability falls with the rate,
/// so the suprema are just above the limits: a grid that leaves nothing out.
fn worst_upper_miss(trials: u64, limit: impl Fn(u64) -> f64) -> f64 {
    let at = |k: u64| {
        let rate = limit(k);
        if rate < 1.0 { BinomialDistribution::new(trials, rate).at_most(k) } else { 0.0 }
    };
    (0..=trials).map(at).fold(0.0, f64::max)
}

/// As [`worst_upper_miss`], for a lower limit above the rate.
fn worst_lower_miss(trials: u64, limit: impl Fn(u64) -> f64) -> f64 {
    let at = |k: u64| {
        let rate = limit(k);
        if rate > 0.0 { BinomialDistribution::new(trials, rate).at_least(k) } else { 0.0 }
    };
    (0..=trials).map(at).fold(0.0, f64::max)
}

/// Room for the rounding of the enumeration itself: 1,000 terms, each of a product of as many
/// factors.
const ROUNDING: f64 = 1e-9;

#[test]
fn clopper_pearson_covers_and_its_twin_does_not() {
    for trials in SIZES {
        for tail in TAILS {
            let upper = |tail: f64| move |k| clopper_pearson_upper(k, trials, tail).unwrap();
            let lower = |tail: f64| move |k| clopper_pearson_lower(k, trials, tail).unwrap();
            let above = worst_upper_miss(trials, upper(tail)) / tail;
            let below = worst_lower_miss(trials, lower(tail)) / tail;
            for worst in [above, below] {
                assert!(worst <= 1.0 + ROUNDING, "n {trials} tail {tail}: misses {worst} tails");
                assert!(worst >= 1.0 - ROUNDING, "n {trials} tail {tail}: loose, {worst} tails");
            }

            let doubled = worst_upper_miss(trials, upper(2.0 * tail));
            assert!(doubled > 1.5 * tail, "n {trials} tail {tail}: twin misses {doubled}");
            let doubled = worst_lower_miss(trials, lower(2.0 * tail));
            assert!(doubled > 1.5 * tail, "n {trials} tail {tail}: twin misses {doubled}");
            let off_by_one = |k: u64| clopper_pearson_upper(k.max(1) - 1, trials, tail).unwrap();
            assert!(worst_upper_miss(trials, off_by_one) > 1.5 * tail, "n {trials} tail {tail}");
            let off_by_one = |k: u64| clopper_pearson_lower(k + 1, trials, tail).unwrap_or(1.0);
            assert!(worst_lower_miss(trials, off_by_one) > 1.5 * tail, "n {trials} tail {tail}");
        }
    }
}

#[test]
fn a_limit_one_event_too_wide_is_loose() {
    let wide = |k: u64| clopper_pearson_upper((k + 1).min(100), 100, 0.025).unwrap();
    assert!(worst_upper_miss(100, wide) < 0.9 * 0.025);
}

#[test]
fn coverage_holds_between_the_worst_rates() {
    let (trials, tail) = (200, 0.025);
    let limits: Vec<f64> =
        (0..=trials).map(|k| clopper_pearson_upper(k, trials, tail).unwrap()).collect();
    let missed = |limits: &[f64], rate: f64| {
        let terms = BinomialDistribution::new(trials, rate).terms().to_vec();
        limits.iter().zip(terms).filter(|&(&limit, _)| limit < rate).map(|(_, p)| p).sum::<f64>()
    };
    let rates = || (1..1000).map(|i| f64::from(i) / 1000.0);
    assert!(rates().all(|rate| missed(&limits, rate) <= tail * (1.0 + ROUNDING)));
    let twin: Vec<f64> =
        (0..=trials).map(|k| clopper_pearson_upper(k, trials, 2.0 * tail).unwrap()).collect();
    assert!(rates().any(|rate| missed(&twin, rate) > 1.5 * tail));
}

/// Jeffreys limits are credible, not confident: for some rate they miss more often than their tail,
/// even where k = n is left out, at which the plain upper limit always lies below a rate near 1.
#[test]
fn jeffreys_misses_more_often_than_its_tail() {
    let pairs: [(Limit, Limit); 2] =
        [(jeffreys_upper, jeffreys_lower), (clopper_pearson_upper, clopper_pearson_lower)];
    let [jeffreys, conservative] = pairs.map(|(upper, lower)| {
        let mut worst = Vec::new();
        for trials in [5_u64, 17, 100, 1000] {
            let inner = |k: u64| if k < trials { upper(k, trials, 0.025).unwrap() } else { 1.0 };
            let above = worst_upper_miss(trials, inner);
            let inner = |k: u64| if k > 0 { lower(k, trials, 0.025).unwrap() } else { 0.0 };
            let below = worst_lower_miss(trials, inner);
            assert!((above / below - 1.0).abs() < 1e-6, "they mirror each other");
            worst.push(above);
        }
        worst
    });
    assert!(jeffreys.iter().all(|&miss| miss > 0.025 * 1.5), "{jeffreys:?}");
    assert!(conservative.iter().all(|&miss| miss <= 0.025 * (1.0 + ROUNDING)), "{conservative:?}");
    let all_events = |k: u64| jeffreys_upper(k, 17, 0.025).unwrap();
    assert!(worst_upper_miss(17, all_events) > 0.999);
}

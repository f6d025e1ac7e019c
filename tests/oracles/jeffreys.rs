//! Jeffreys limits against an independent method, and why they are no confidence limits.

use dpscope_core::interval::{jeffreys_lower, jeffreys_upper};
use dpscope_core::special::ln_binomial_pmf;
use dpscope_tests::Table;

const INDEPENDENT: &str = include_str!("data/jeffreys_independent.csv");

type Limit = fn(u64, u64, f64) -> f64;

fn upper(events: u64, trials: u64, tail: f64) -> f64 {
    jeffreys_upper(events, trials, tail).expect("arguments are in the domain")
}

fn lower(events: u64, trials: u64, tail: f64) -> f64 {
    jeffreys_lower(events, trials, tail).expect("arguments are in the domain")
}

/// Limits that are inside the value, or outside by more than 3e-13 of its smaller side.
fn wrong(upper: Limit, lower: Limit) -> Vec<String> {
    let table = Table::parse(INDEPENDENT);
    let mut wrong = Vec::new();
    for row in table.rows() {
        let (k, n, tail) = (row.count("events"), row.count("trials"), row.float("tail"));
        let (high, low) = (row.float("upper"), row.float("lower"));
        let above = upper(k, n, tail) - high;
        let below = low - lower(k, n, tail);
        for (outward, value) in [(above, high), (below, low)] {
            let most = 3e-13 * value.min(1.0 - value) + 2.0 * f64::EPSILON * value;
            if !(outward >= 0.0 && outward <= most) {
                wrong.push(format!("{k} of {n} at {tail:e}: {value:e}, off by {outward:e}"));
            }
        }
    }
    wrong
}

#[test]
fn independent_limits_agree() {
    let wrong = wrong(upper, lower);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn broken_twins_are_rejected() {
    let clopper_pearson: Limit =
        |k, n, t| dpscope_core::interval::clopper_pearson_upper(k, n, t).expect("valid");
    assert!(wrong(clopper_pearson, lower).len() > 100);
    assert!(wrong(|k, n, t| upper(k, n, 0.5 * t), lower).len() > 100);
    assert!(wrong(upper, |k, n, t| lower(k, n, 2.0 * t)).len() > 100);
}

#[test]
fn misses_more_often_than_its_tail() {
    let (trials, tail) = (20, 0.025);
    let p = upper(0, trials, tail).next_up();
    let miss = dpscope_core::math::exp(ln_binomial_pmf(0, trials, p).expect("valid"));
    assert!(miss > 1.5 * tail, "{miss}");
}

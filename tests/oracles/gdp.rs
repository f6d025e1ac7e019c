//! Gaussian DP against 400-digit values and peers.

use std::path::Path;

use dpscope_core::gdp::{gdp_delta, gdp_epsilon, gdp_mu_for, gdp_mu_lower_bound};
use dpscope_core::special::{normal_cdf, normal_quantile};
use dpscope_tests::golden::{Finding, Outcome, Real, evaluate};
use dpscope_tests::{Table, cases, relative_change};

const ESTIMATORS: &str = include_str!("data/estimators.json");
const INDEPENDENT: &str = include_str!("data/gdp_independent.csv");

type Profile = fn(f64, f64) -> f64;

fn delta(gdp_mu: f64, epsilon: f64) -> f64 {
    gdp_delta(gdp_mu, epsilon).expect("arguments are in the domain")
}

/// Relative change that rounding of A = ε/μ − μ/2 alone explains, with a factor for the rest.
fn allowed(gdp_mu: f64, epsilon: f64) -> f64 {
    let a = (epsilon / gdp_mu - gdp_mu / 2.0).abs();
    let parts = epsilon / gdp_mu + gdp_mu / 2.0;
    1e-13 + 4.0 * f64::EPSILON * parts * (1.0 + a)
}

fn wrong(delta: Profile) -> Vec<String> {
    let table = Table::parse(INDEPENDENT);
    let mut wrong = Vec::new();
    for row in table.rows() {
        let (gdp_mu, epsilon) = (row.float("gdp_mu"), row.float("epsilon"));
        let (seen, value) = (delta(gdp_mu, epsilon), row.float("delta"));
        if value < 1e-300 {
            continue;
        }
        let change = relative_change(seen, value);
        if change.is_nan() || change > allowed(gdp_mu, epsilon) {
            wrong.push(format!("mu {gdp_mu} epsilon {epsilon}: {seen:e} {value:e} {change:e}"));
        }
    }
    wrong
}

#[test]
fn independent_values_agree() {
    let wrong = wrong(delta);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn broken_twins_are_rejected() {
    // the textbook difference cancels, a swapped sign is wrong outright
    let plain: Profile = |gdp_mu, epsilon| {
        let (middle, half) = (epsilon / gdp_mu, gdp_mu / 2.0);
        let growth = dpscope_core::math::exp(epsilon);
        normal_cdf(half - middle) - growth * normal_cdf(-half - middle)
    };
    assert!(wrong(plain).len() > 20);
    assert!(wrong(|gdp_mu, epsilon| delta(gdp_mu * 1.000_001, epsilon)).len() > 60);
}

#[test]
fn epsilon_inverts_the_independent_values() {
    let table = Table::parse(INDEPENDENT);
    let mut checked = 0;
    for row in table.rows() {
        let (gdp_mu, epsilon, delta) =
            (row.float("gdp_mu"), row.float("epsilon"), row.float("delta"));
        if !(delta > 1e-300 && delta < 0.999 && epsilon > 0.01 * gdp_mu) {
            continue;
        }
        checked += 1;
        let seen = gdp_epsilon(gdp_mu, delta).expect("valid");
        assert!(relative_change(seen, epsilon) < 1e-11, "mu {gdp_mu}: {seen} {epsilon}");
        let seen = gdp_mu_for(epsilon, delta).expect("valid");
        assert!(relative_change(seen, gdp_mu) < 1e-11, "epsilon {epsilon}: {seen} {gdp_mu}");
    }
    assert!(checked >= 40, "{checked}");
}

/// Values of a group in the golden file, as the library computes them.
fn golden(group: &str) -> Vec<Finding> {
    let found = evaluate(ESTIMATORS, "estimators.json", Path::new("oracles/data"), &Real);
    let mut found = found.expect("the file is well-formed");
    found.retain(|found| found.case.starts_with(group));
    assert!(found.iter().all(|found| found.outcome == Outcome::Passed), "{found:#?}");
    found
}

#[test]
fn epsilon_from_mu() {
    let found = golden("g_gdp_mu_to_eps");
    assert_eq!(found.len(), 21);
    for found in found.iter().filter(|found| found.value == "mpmath") {
        assert!(found.relative < 1e-13, "{found}: {:e}", found.relative);
    }
}

#[test]
fn mu_from_epsilon() {
    assert_eq!(golden("g_eps_to_mu").len(), 4);
    for case in cases(ESTIMATORS, "g_eps_to_mu") {
        let seen = gdp_mu_for(case.input("eps"), case.input("delta")).expect("valid");
        let back = gdp_epsilon(seen, case.input("delta")).expect("valid");
        assert!(relative_change(back, case.input("eps")) < 1e-12, "{}: {back}", case.id());
    }
}

#[test]
fn mu_from_rates() {
    assert_eq!(golden("g_mu_lower_from_rates").len(), 5);
    for case in cases(ESTIMATORS, "g_mu_lower_from_rates") {
        let (fpr, fnr) = (case.input("fpr_ub"), case.input("fnr_ub"));
        let seen = gdp_mu_lower_bound(fpr, fnr).expect("valid");
        let nearest = -normal_quantile(fpr).expect("valid") - normal_quantile(fnr).expect("valid");
        assert!(seen < nearest || seen == 0.0, "{}: not rounded down", case.id());
        // the absolute value, a known mistake, is not what is computed
        assert!(seen <= nearest.max(0.0));
    }
}

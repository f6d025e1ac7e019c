//! Gaussian DP against 400-digit values and peers.

use dpscope_core::gdp::{gdp_delta, gdp_epsilon, gdp_mu_for, gdp_mu_lower_bound};
use dpscope_core::special::{normal_cdf, normal_quantile};
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
fn independent() {
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

#[test]
fn epsilon_from_mu() {
    for case in cases(ESTIMATORS, "g_gdp_mu_to_eps") {
        let seen = gdp_epsilon(case.input("mu"), case.input("delta")).expect("valid");
        let value = case.expected_float("mpmath").expect("our reference value");
        assert!(relative_change(seen, value) < 1e-13, "{}: {seen} {value}", case.id());
        for peer in ["dp_accounting", "opacus"] {
            let value = case.expected_float(peer).expect("peer value");
            assert!(relative_change(seen, value) < case.tolerance("rel"), "{} {peer}", case.id());
        }
    }
}

#[test]
fn mu_from_epsilon() {
    for case in cases(ESTIMATORS, "g_eps_to_mu") {
        let seen = gdp_mu_for(case.input("eps"), case.input("delta")).expect("valid");
        let value = case.expected_float("1/dp_accounting").expect("peer value");
        assert!(relative_change(seen, value) < case.tolerance("rel"), "{}: {seen}", case.id());
        let back = gdp_epsilon(seen, case.input("delta")).expect("valid");
        assert!(relative_change(back, case.input("eps")) < 1e-12, "{}: {back}", case.id());
    }
}

#[test]
fn mu_from_rates() {
    for case in cases(ESTIMATORS, "g_mu_lower_from_rates") {
        let (fpr, fnr) = (case.input("fpr_ub"), case.input("fnr_ub"));
        let seen = gdp_mu_lower_bound(fpr, fnr).expect("valid");
        let value = case.expected_float("jax_privacy").expect("peer value");
        assert!((seen - value).abs() <= case.tolerance("rel") * value, "{}: {seen}", case.id());
        let nearest = -normal_quantile(fpr).expect("valid") - normal_quantile(fnr).expect("valid");
        assert!(seen < nearest || seen == 0.0, "{}: not rounded down", case.id());
        // the absolute value, a known mistake, is not what is computed
        assert!(seen <= nearest.max(0.0));
    }
}

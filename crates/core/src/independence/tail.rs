//! Tail probabilities of the checks.

use statrs::{
    distribution::{ContinuousCDF, StudentsT},
    function::{erf::erfc, gamma::ln_gamma},
};

use crate::math;

/// P(|Z| ≥ |z|) for a standard normal Z, to a relative error of 1e-10.
pub(super) fn normal_two_sided(z: f64) -> f64 {
    erfc(z.abs() / std::f64::consts::SQRT_2)
}

/// P(|t| ≥ |x|) for Student's t; the normal tail from 2,000 degrees of freedom.
pub(super) fn student_two_sided(x: f64, degrees: f64) -> f64 {
    if degrees >= 2_000.0 {
        return normal_two_sided(x);
    }
    StudentsT::new(0.0, 1.0, degrees).map_or(1.0, |law| 2.0 * law.cdf(-x.abs()))
}

/// P(X ≥ `hits`) for X binomial(`trials`, `chance`).
///
/// # Numerics
/// Terms are summed away from the mean, where they fall, until they no longer count; relative error
/// about trials·10⁻¹⁵, which is that of the largest logarithm.
pub(super) fn binomial_at_least(hits: u64, trials: u64, chance: f64) -> f64 {
    if hits == 0 || chance >= 1.0 {
        return 1.0;
    }
    if hits > trials || chance <= 0.0 {
        return 0.0;
    }
    let odds = chance / (1.0 - chance);
    let n = trials as f64;
    if hits as f64 > n * chance {
        let mut term = binomial_term(hits, trials, chance);
        let mut total = 0.0;
        for k in hits..=trials {
            total += term;
            term *= (n - k as f64) / (k as f64 + 1.0) * odds;
            if term < 1e-17 * total {
                break;
            }
        }
        return total.min(1.0);
    }
    let mut term = binomial_term(hits - 1, trials, chance);
    let mut total = 0.0;
    for k in (0..hits).rev() {
        total += term;
        term *= k as f64 / (n - k as f64 + 1.0) / odds;
        if term < 1e-17 * total {
            break;
        }
    }
    (1.0 - total).max(0.0)
}

fn binomial_term(hits: u64, trials: u64, chance: f64) -> f64 {
    let (k, n) = (hits as f64, trials as f64);
    let ways = ln_gamma(n + 1.0) - ln_gamma(k + 1.0) - ln_gamma(n - k + 1.0);
    math::exp(ways + k * math::ln(chance) + (n - k) * math::ln_1p(-chance))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binomial_tail_by_hand() {
        // Three coins: P(≥ 2) = 1/2, P(3) = 1/8, P(≥ 1) = 7/8.
        for (hits, expected) in [(0, 1.0), (1, 0.875), (2, 0.5), (3, 0.125), (4, 0.0)] {
            assert!((binomial_at_least(hits, 3, 0.5) - expected).abs() < 1e-14);
        }
        assert_eq!(binomial_at_least(5, 5, 1.0), 1.0);
    }

    #[test]
    fn binomial_tail_is_the_incomplete_beta_function() {
        for (hits, trials, chance) in
            [(3, 400, 0.01), (40, 1_000, 0.02), (15, 1_000, 0.02), (1_050, 100_000, 0.01)]
        {
            let (k, n) = (hits as f64, trials as f64);
            let expected = statrs::function::beta::beta_reg(k, n - k + 1.0, chance);
            let found = binomial_at_least(hits, trials, chance);
            assert!((found / expected - 1.0).abs() < 1e-9, "{found} for {expected}");
            let twin = binomial_at_least(hits + 1, trials, chance);
            assert!((twin / expected - 1.0).abs() > 1e-3);
        }
    }

    #[test]
    fn symmetric_tails() {
        assert!((normal_two_sided(1.959_963_984_540_054) - 0.05).abs() < 1e-11);
        // Cauchy: P(|t| ≥ 1) = 1/2.
        assert!((student_two_sided(-1.0, 1.0) - 0.5).abs() < 1e-9);
        let (near, normal) = (student_two_sided(3.0, 1_999.0), normal_two_sided(3.0));
        assert!((near / normal - 1.0).abs() < 0.02);
    }
}

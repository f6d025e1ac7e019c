//! Tail probabilities of the checks.

use crate::math;
use crate::special::{BetaLaw, Tail, UnitPoint, ln_binomial_pmf};

/// P(|Z| ≥ |z|) for a standard normal Z.
pub(super) fn normal_two_sided(z: f64) -> f64 {
    math::erfc(z.abs() / std::f64::consts::SQRT_2)
}

/// P(|t| ≥ |x|) for Student's t; the normal tail from 2,000 degrees of freedom.
///
/// t²/(ν + t²) follows the beta law with shapes ½ and ν/2, of ν degrees of freedom.
pub(super) fn student_two_sided(x: f64, degrees: f64) -> f64 {
    if degrees >= 2_000.0 || !x.is_finite() {
        return normal_two_sided(x);
    }
    let (square, whole) = (x * x, degrees + x * x);
    let point = if square < degrees {
        UnitPoint::from_value(square / whole)
    } else {
        UnitPoint::from_complement(degrees / whole)
    };
    BetaLaw::new(0.5, 0.5 * degrees).map_or(1.0, |law| law.tail(Tail::Upper, point))
}

/// P(X ≥ `hits`) for X binomial(`trials`, `chance`).
///
/// # Numerics
/// Terms are summed away from the mean, where they fall, until they no longer count; relative error
/// about 10⁻¹⁵ times the logarithm of the first term.
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
    ln_binomial_pmf(hits, trials, chance).map_or(0.0, math::exp)
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
        // Two degrees of freedom: 1 − x/√(2 + x²).
        for x in [1e-9_f64, 1e-3, 0.2, 0.7, 1.0, 1.3, 1.414, 1.5, 2.0, 5.0, 30.0] {
            let expected = 1.0 - x / (2.0 + x * x).sqrt();
            let found = student_two_sided(x, 2.0);
            assert!((found - expected).abs() < 1e-14, "{x}: {found} for {expected}");
        }
        // mpmath's betainc at 30 digits.
        for (x, degrees, expected) in [
            (1e-7, 3.0, 0.999_999_926_489_480_6),
            (0.4, 17.0, 0.694_137_862_139_595_9),
            (2.5, 17.0, 0.022_947_806_986_384_93),
            (9.0, 40.0, 3.680_164_471_706_179e-11),
            (4.0, 1_500.0, 6.642_790_175_189_835e-5),
        ] {
            let found = student_two_sided(x, degrees);
            assert!((found / expected - 1.0).abs() < 1e-12, "{found} for {expected}");
            let twin = student_two_sided(x, degrees - 1.0);
            assert!((twin / expected - 1.0).abs() > 1e-9, "{twin}");
        }
        for (x, expected) in [(f64::INFINITY, 0.0), (1e200, 0.0), (0.0, 1.0)] {
            assert_eq!(student_two_sided(x, 5.0), expected);
        }
        assert!(student_two_sided(f64::NAN, 5.0).is_nan());
        let (near, normal) = (student_two_sided(3.0, 1_999.0), normal_two_sided(3.0));
        assert!((near / normal - 1.0).abs() < 0.02);
    }
}

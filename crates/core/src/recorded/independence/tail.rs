//! Tail probabilities of the checks.

use crate::math;
use crate::special::BetaDistribution;

/// P(|Z| ≥ |z|) for a standard normal Z.
pub(super) fn normal_two_sided(z: f64) -> f64 {
    math::erfc(z.abs() / std::f64::consts::SQRT_2)
}

/// P(|T| ≥ |t|) for T of Student's distribution with `degrees` ≥ 1 degrees of freedom ν; 1 if t is
/// NaN.
///
/// I_x(ν/2, ½) at x = ν/(ν + t²), from the smaller of x and 1 − x.
pub(super) fn student_two_sided(t: f64, degrees: f64) -> f64 {
    let (square, half) = (t * t, degrees / 2.0);
    let tail = if square < degrees {
        BetaDistribution::new(0.5, half)
            .and_then(|distribution| distribution.survival(square / (degrees + square)))
    } else {
        BetaDistribution::new(half, 0.5)
            .and_then(|distribution| distribution.cdf(degrees / (degrees + square)))
    };
    tail.unwrap_or(1.0)
}

/// The t with P(|T| ≥ t) = `significance`, in (0, 1), for T of Student's distribution with ν degrees of
/// freedom; infinite outside the domain.
///
/// T²/(ν + T²) has the distribution Beta(½, ν/2).
pub(in crate::recorded) fn student_limit(significance: f64, degrees: f64) -> f64 {
    let share = BetaDistribution::new(0.5, degrees / 2.0)
        .and_then(|distribution| distribution.upper_quantile(significance));
    share.map_or(f64::INFINITY, |x| (degrees * x.value() / x.complement()).sqrt())
}

/// P(X ≥ k) for X binomial(n, p), k = `hits`, n = `trials`, p = `chance`; 1 if p is outside [0, 1].
///
/// I_p(k, n − k + 1).
pub(in crate::recorded) fn binomial_at_least(hits: u64, trials: u64, chance: f64) -> f64 {
    if hits == 0 {
        return 1.0;
    }
    if hits > trials {
        return 0.0;
    }
    let distribution = BetaDistribution::new(hits as f64, (trials - hits) as f64 + 1.0);
    distribution.and_then(|distribution| distribution.cdf(chance)).unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

    use super::*;
    use crate::special::ln_binomial_pmf;

    #[test]
    fn binomial_tail_by_hand() {
        // Three coins: P(≥ 2) = 1/2, P(3) = 1/8, P(≥ 1) = 7/8.
        for (hits, expected) in [(0, 1.0), (1, 0.875), (2, 0.5), (3, 0.125), (4, 0.0)] {
            assert!((binomial_at_least(hits, 3, 0.5) - expected).abs() < 1e-14);
        }
        assert_eq!(binomial_at_least(5, 5, 1.0), 1.0);
        assert_eq!(binomial_at_least(1, 5, 0.0), 0.0);
        assert_eq!(binomial_at_least(1, 5, f64::NAN), 1.0);
    }

    #[test]
    fn student_limits_invert_the_tail() {
        for degrees in [1.0, 3.5, 40.0, 1e6] {
            for significance in [1e-6, 1e-3, 0.05, 0.5] {
                let tail = student_two_sided(student_limit(significance, degrees), degrees);
                assert!(
                    (tail / significance - 1.0).abs() < 1e-9,
                    "{degrees} {significance} {tail}"
                );
            }
        }
        assert_eq!(student_limit(0.05, f64::NAN), f64::INFINITY);
    }

    #[test]
    fn binomial_tail_is_the_sum_of_its_terms() {
        for (hits, trials, chance) in
            [(3, 400, 0.01), (40, 1_000, 0.02), (15, 1_000, 0.02), (1_050, 100_000, 0.01)]
        {
            let term = |k| math::exp(ln_binomial_pmf(k, trials, chance).unwrap());
            let summed: f64 = (hits..=trials).rev().map(term).sum();
            let (k, n) = (hits as f64, trials as f64);
            let peer = statrs::function::beta::beta_reg(k, n - k + 1.0, chance);
            for (expected, allowed) in [(summed, 1e-12), (peer, 1e-9)] {
                let near = |hits| {
                    (binomial_at_least(hits, trials, chance) / expected - 1.0).abs() < allowed
                };
                assert!(near(hits), "{hits} of {trials} at {chance}: {expected:e}");
                assert!(!near(hits + 1), "one hit more passed");
            }
        }
    }

    #[test]
    fn symmetric_tails_are_those_of_a_peer() {
        let twice = |distribution: &dyn Fn(f64) -> f64, x: f64| 2.0 * distribution(-f64::abs(x));
        let normal = Normal::standard();
        for z in [0.0, 1e-9, 0.3, -1.959_963_984_540_054, 4.0, 30.0] {
            let peer = twice(&|x| normal.cdf(x), z);
            assert!((normal_two_sided(z) / peer - 1.0).abs() < 1e-9, "{z}");
        }
        for degrees in [1.0, 2.0, 3.0, 58.0, 1_999.0, 2_001.0, 1e5] {
            let distribution = StudentsT::new(0.0, 1.0, degrees).unwrap();
            for t in [0.01, 0.9, 1.1, -2.5, 6.0] {
                let peer = twice(&|x| distribution.cdf(x), t);
                let near = |degrees| (student_two_sided(t, degrees) / peer - 1.0).abs() < 1e-9;
                assert!(near(degrees), "{t} with {degrees} degrees");
                assert!(degrees > 100.0 || !near(degrees + 1.0), "one degree more passed");
            }
        }
    }

    #[test]
    fn closed_forms_and_ends_of_the_symmetric_tails() {
        assert!((normal_two_sided(1.959_963_984_540_054) - 0.05).abs() < 1e-15);
        for t in [1e-12, 0.2, 1.0, 1e3, 1e12] {
            // ν = 1: P = 2·atan(1/t)/π; ν = 2: P = 1 − t/√(t² + 2) = 2/(t² + 2 + t√(t² + 2)).
            let cauchy = 2.0 * math::atan2(1.0, t) / std::f64::consts::PI;
            let two = 2.0 / (t * t + 2.0 + t * (t * t + 2.0).sqrt());
            for (degrees, expected) in [(1.0, cauchy), (2.0, two)] {
                let found = student_two_sided(-t, degrees);
                assert!((found / expected - 1.0).abs() < 1e-13, "{t}: {found:e} {expected:e}");
            }
        }
        assert_eq!(student_two_sided(0.0, 7.0), 1.0);
        assert_eq!(student_two_sided(f64::INFINITY, 7.0), 0.0);
        assert_eq!(student_two_sided(f64::NAN, 7.0), 1.0);
        // Normal in the limit: the difference is of order (z⁴ + z²)/4ν relative to the density.
        let (near, normal) = (student_two_sided(3.0, 1e12), normal_two_sided(3.0));
        assert!((near / normal - 1.0).abs() < 1e-9);
    }
}

//! The binomial distribution.

use super::gamma::{deviance, stirling_series};
use super::{SpecialError, UnitPoint};
use crate::math;

/// Logarithm of the probability of exactly k events in n independent trials.
///
/// ln [ n!/(k!(n−k)!) p^k (1−p)^{n−k} ]
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `events` | k | 0 … n |
/// | `trials` | n | any |
/// | `probability` | p | [0, 1] |
///
/// # Errors
/// [`SpecialError::Events`] where k > n, [`SpecialError::Unit`] where p is outside [0, 1].
///
/// # Numerics
/// Saddle point: ½ ln(n/2πk(n−k)) + S(n) − S(k) − S(n−k) − k h(np/k − 1)
/// − (n−k) h(n(1−p)/(n−k) − 1), with h(x) = x − ln(1+x). The drift np − k is formed from an exact
/// product, so the logarithm has a relative error of about 1e-15 up to n = 10¹⁰ and beyond.
///
/// # Reference
/// C. Loader, "Fast and accurate computation of binomial probabilities" (2000).
///
/// # Example
/// ```
/// let value = dpscope_core::special::ln_binomial_pmf(3, 10, 0.5)?;
/// assert_eq!(format!("{value:.12}"), "-2.143980062817"); // ln(120/1024)
/// # Ok::<(), dpscope_core::special::SpecialError>(())
/// ```
pub fn ln_binomial_pmf(events: u64, trials: u64, probability: f64) -> Result<f64, SpecialError> {
    if events > trials {
        return Err(SpecialError::Events { events, trials });
    }
    if !(0.0..=1.0).contains(&probability) {
        return Err(SpecialError::Unit { name: "probability", value: probability });
    }
    let (k, n) = (events as f64, trials as f64);
    let misses = (trials - events) as f64;
    let p = UnitPoint::from_value(probability);
    if probability == 0.0 || probability == 1.0 {
        let sure = if probability == 0.0 { events == 0 } else { events == trials };
        return Ok(if sure { 0.0 } else { f64::NEG_INFINITY });
    }
    if events == 0 {
        return Ok(n * math::ln_1p(-probability));
    }
    if events == trials {
        return Ok(n * ln_value(p));
    }
    let ln_scale = 0.5 * math::ln(n / k / misses) - math::LN_SQRT_2PI;
    let stirling = stirling_series(n) - (stirling_series(k) + stirling_series(misses));
    Ok(ln_scale + stirling - total_deviance(k, misses, p))
}

fn ln_value(p: UnitPoint) -> f64 {
    if p.value() > 0.5 { math::ln_1p(-p.complement()) } else { math::ln(p.value()) }
}

/// d = (a + b)x − a, from the smaller of x and 1 − x and an exact product.
pub(crate) fn drift(a: f64, b: f64, x: UnitPoint) -> f64 {
    if x.value() > 0.5 {
        return -drift(b, a, x.mirrored());
    }
    let (total, lost) = math::two_sum(a, b);
    let (high, low) = math::two_product(total, x.value());
    (high - a) + (low + lost * x.value())
}

/// a h(nx/a − 1) + b h(n(1−x)/b − 1) with n = a + b: −ln of the ratio to the largest value.
pub(crate) fn total_deviance(a: f64, b: f64, x: UnitPoint) -> f64 {
    let (n, d) = (a + b, drift(a, b, x));
    a * deviance(d / a, n * (x.value() / a)) + b * deviance(-d / b, n * (x.complement() / b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_fifty_digit_values() {
        // mpmath loggamma at 60 digits, p the double that is written
        for (k, n, p, value) in CASES {
            let seen = ln_binomial_pmf(k, n, p).unwrap();
            assert!((seen / value - 1.0).abs() < 1e-14, "{k} of {n} at {p}: {seen} {value}");
        }
    }

    #[test]
    fn plain_log_gamma_would_fail_this_check() {
        let (k, n, p, value) = CASES[3];
        let (events, trials) = (k as f64, n as f64);
        let plain = math::lgamma(trials + 1.0)
            - math::lgamma(events + 1.0)
            - math::lgamma(trials - events + 1.0)
            + events * math::ln(p)
            + (trials - events) * math::ln_1p(-p);
        assert!((plain / value - 1.0_f64).abs() > 1e-8, "{plain} {value}");
    }

    #[test]
    fn sums_to_one() {
        for p in [1e-9, 0.2, 0.5, 0.999] {
            let sum: f64 = (0..=60).map(|k| math::exp(ln_binomial_pmf(k, 60, p).unwrap())).sum();
            assert!((sum - 1.0).abs() < 1e-14, "{p}: {sum}");
        }
    }

    #[test]
    fn ends_and_refusals() {
        assert_eq!(ln_binomial_pmf(0, 0, 0.3).unwrap(), 0.0);
        assert_eq!(ln_binomial_pmf(0, 5, 0.0).unwrap(), 0.0);
        assert_eq!(ln_binomial_pmf(5, 5, 1.0).unwrap(), 0.0);
        assert_eq!(ln_binomial_pmf(1, 5, 0.0).unwrap(), f64::NEG_INFINITY);
        assert!(ln_binomial_pmf(6, 5, 0.5).is_err());
        for p in [-0.1, 1.1, f64::NAN] {
            assert!(ln_binomial_pmf(1, 5, p).is_err());
        }
    }

    const CASES: [(u64, u64, f64, f64); 8] = [
        (3, 10, 0.3, -1.3211512777668886),
        (1, 1_000_000, 1e-09, -6.908755277982637),
        (999, 1_000, 0.999, -0.99949983324995),
        (5_000_000_000, 10_000_000_000, 0.5, -11.738716817639956),
        (5_000_000_000, 10_000_000_000, 0.50001, -13.738716818021752),
        (20, 10_000_000_000, 3.3e-09, -5.405465238873881),
        (123_456_789, 10_000_000_000, 0.0123, -867.9391732338958),
        (9_999_999_990, 10_000_000_000, 0.999999998, -5.147090114327807),
    ];
}

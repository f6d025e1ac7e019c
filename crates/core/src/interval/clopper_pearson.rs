//! Clopper–Pearson limits.

use super::{IntervalError, check, rounded_down, rounded_up};
use crate::special::Tail;
use crate::special::{BetaDistribution, UnitPoint};

/// Upper Clopper–Pearson limit of a rate from k events in n independent trials.
///
/// The p with P[Bin(n, p) ≤ k] = tail, the upper `tail` quantile of Beta(k + 1, n − k); 1 at k = n.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `events` | k | 0 … n |
/// | `trials` | n | ≥ 1 |
/// | `tail` | chance that the limit lies below the rate, one-sided | (0, 1) |
///
/// # Guarantee
/// For every rate p, the limit is below p with probability at most `tail`
/// (`tests/oracles/clopper_pearson.rs::coverage_by_enumeration`).
///
/// # Errors
/// [`IntervalError`]: no trial, more events than trials, a tail outside (0, 1) or NaN.
///
/// # Numerics
/// Never below the exact root, and above it by less than 3e-13 of the smaller of root and 1 − root
/// (or two units in the last place), for n to 10¹⁰ and tails from 1e-12
/// (`tests/oracles/clopper_pearson.rs::golden_limits_agree`,
/// `tests/oracles/clopper_pearson.rs::independent_limits_agree`); n up to 2⁶⁴ and any tail are
/// supported. For an accurate 1 − limit use [`clopper_pearson_lower`] of n − k.
///
/// # Reference
/// C. Clopper and E. S. Pearson (1934).
///
/// # Example
/// ```
/// let limit = dpscope_core::interval::clopper_pearson_upper(3, 1_000, 0.025)?;
/// assert_eq!(format!("{limit:.12}"), "0.008742023238");
/// # Ok::<(), dpscope_core::interval::IntervalError>(())
/// ```
pub fn clopper_pearson_upper(events: u64, trials: u64, tail: f64) -> Result<f64, IntervalError> {
    check(events, trials, tail)?;
    if events == trials {
        return Ok(1.0);
    }
    Ok(rounded_up(root(events as f64 + 1.0, (trials - events) as f64, Tail::Upper, tail), tail))
}

/// Lower Clopper–Pearson limit of a rate from k events in n independent trials.
///
/// The p with P[Bin(n, p) ≥ k] = tail, the lower `tail` quantile of Beta(k, n − k + 1); 0 at k = 0.
/// Equals 1 − [`clopper_pearson_upper`] of n − k, but accurate for small values.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `events` | k | 0 … n |
/// | `trials` | n | ≥ 1 |
/// | `tail` | chance that the limit lies above the rate, one-sided | (0, 1) |
///
/// # Guarantee
/// For every rate p, the limit is above p with probability at most `tail`
/// (`tests/oracles/clopper_pearson.rs::coverage_by_enumeration`).
///
/// # Errors
/// [`IntervalError`]: no trial, more events than trials, a tail outside (0, 1) or NaN.
///
/// # Numerics
/// Never above the exact root; otherwise as [`clopper_pearson_upper`].
///
/// # Reference
/// C. Clopper and E. S. Pearson (1934).
///
/// # Example
/// ```
/// let limit = dpscope_core::interval::clopper_pearson_lower(3, 1_000, 0.025)?;
/// assert_eq!(format!("{limit:.12}"), "0.000619099932");
/// # Ok::<(), dpscope_core::interval::IntervalError>(())
/// ```
pub fn clopper_pearson_lower(events: u64, trials: u64, tail: f64) -> Result<f64, IntervalError> {
    check(events, trials, tail)?;
    if events == 0 {
        return Ok(0.0);
    }
    Ok(rounded_down(root(events as f64, (trials - events) as f64 + 1.0, Tail::Lower, tail), tail))
}

fn root(a: f64, b: f64, side: Tail, tail: f64) -> UnitPoint {
    BetaDistribution::with_shapes(a, b).quantile_at(side, tail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math;

    #[test]
    fn closed_forms_at_the_ends() {
        for trials in [1, 2, 3, 100, 1_000_000, 10_000_000_000] {
            for tail in [1e-300, 1e-100, 1e-12, 1e-6, 0.025, 0.5, 0.9] {
                // (1 − p)ⁿ = tail
                let exact = -math::exp_m1(math::ln(tail) / trials as f64);
                let seen = clopper_pearson_upper(0, trials, tail).unwrap();
                assert!(
                    seen >= exact * (1.0 - 1e-15) && seen / exact - 1.0 < 5e-12,
                    "{trials} {tail:e}: {seen:e} {exact:e}"
                );
                let exact = math::exp(math::ln(tail) / trials as f64);
                let seen = clopper_pearson_lower(trials, trials, tail).unwrap();
                assert!(
                    seen <= exact * (1.0 + 1e-15) && exact / seen - 1.0 < 5e-12,
                    "{trials} {tail:e}: {seen:e} {exact:e}"
                );
                // 1 − (1 − p)ⁿ = tail
                let exact = -math::exp_m1(math::ln_1p(-tail) / trials as f64);
                let seen = clopper_pearson_lower(1, trials, tail).unwrap();
                assert!(
                    seen <= exact && seen > exact * (1.0 - 5e-12) || exact < 1e-303,
                    "{trials} {tail:e}: {seen:e} {exact:e}"
                );
            }
        }
    }

    #[test]
    fn all_and_nothing() {
        assert_eq!(clopper_pearson_upper(7, 7, 0.05).unwrap(), 1.0);
        assert_eq!(clopper_pearson_lower(0, 7, 0.05).unwrap(), 0.0);
    }

    #[test]
    fn refuses_impossible_arguments() {
        for limit in [clopper_pearson_upper, clopper_pearson_lower] {
            assert_eq!(limit(0, 0, 0.05), Err(IntervalError::NoTrials));
            let error = IntervalError::Events { events: 3, trials: 2 };
            assert_eq!(limit(3, 2, 0.05), Err(error));
            for tail in [0.0, 1.0, -0.1, f64::NAN, f64::INFINITY] {
                assert!(matches!(limit(1, 2, tail), Err(IntervalError::Tail { .. })));
                assert!(limit(0, 2, tail).is_err());
                assert!(limit(2, 2, tail).is_err());
            }
        }
    }

    #[test]
    fn the_largest_counts_have_limits() {
        for events in [0, 1, 1 << 40, u64::MAX / 2, u64::MAX - 1, u64::MAX] {
            for tail in [5e-324, 1e-12, 0.5, 0.999_999] {
                let upper = clopper_pearson_upper(events, u64::MAX, tail).unwrap();
                let lower = clopper_pearson_lower(events, u64::MAX, tail).unwrap();
                assert!((0.0..=1.0).contains(&upper) && (0.0..=1.0).contains(&lower));
                assert!(tail > 0.5 || lower <= upper);
            }
        }
    }
}

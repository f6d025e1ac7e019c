//! Jeffreys limits.

use super::{IntervalError, check, rounded_down, rounded_up};
use crate::special::BetaDistribution;
use crate::special::Tail;

/// Upper Jeffreys limit of a rate from k events in n trials.
///
/// The upper `tail` quantile of the posterior Beta(k + ½, n − k + ½).
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `events` | k | 0 … n |
/// | `trials` | n | ≥ 1 |
/// | `tail` | posterior probability above the limit, one-sided | (0, 1) |
///
/// A credible limit, not a confidence limit: for some rates it misses with probability above `tail`
/// (`tests/oracles/jeffreys.rs::misses_more_often_than_its_tail`).
///
/// At k = n the result is the quantile, below 1. Microsoft's privacy-estimates sets the upper limit
/// to 1 at k = n and the lower limit to 0 at k = 0; for that convention, test for the ends.
///
/// # Errors
/// [`IntervalError`]: no trial, more events than trials, a tail outside (0, 1) or NaN.
///
/// # Numerics
/// Rounded outward as [`super::clopper_pearson_upper`].
///
/// # Reference
/// L. D. Brown, T. T. Cai and A. DasGupta (2001), section 3.1.3, without their changes at the ends.
///
/// # Example
/// ```
/// let limit = dpscope_core::interval::jeffreys_upper(0, 1_000, 0.05)?;
/// assert_eq!(format!("{limit:.12}"), "0.001918406712");
/// # Ok::<(), dpscope_core::interval::IntervalError>(())
/// ```
pub fn jeffreys_upper(events: u64, trials: u64, tail: f64) -> Result<f64, IntervalError> {
    check(events, trials, tail)?;
    Ok(rounded_up(posterior(events, trials).quantile_at(Tail::Upper, tail), tail))
}

/// Lower Jeffreys limit of a rate from k events in n trials.
///
/// The lower `tail` quantile of the posterior Beta(k + ½, n − k + ½); above 0 at k = 0. Arguments,
/// errors and conventions as [`jeffreys_upper`].
///
/// # Errors
/// [`IntervalError`]: no trial, more events than trials, a tail outside (0, 1) or NaN.
///
/// # Example
/// ```
/// let limit = dpscope_core::interval::jeffreys_lower(3, 1_000, 0.05)?;
/// assert_eq!(format!("{limit:.12}"), "0.001084443442");
/// # Ok::<(), dpscope_core::interval::IntervalError>(())
/// ```
pub fn jeffreys_lower(events: u64, trials: u64, tail: f64) -> Result<f64, IntervalError> {
    check(events, trials, tail)?;
    Ok(rounded_down(posterior(events, trials).quantile_at(Tail::Lower, tail), tail))
}

fn posterior(events: u64, trials: u64) -> BetaDistribution {
    BetaDistribution::with_shapes(events as f64 + 0.5, (trials - events) as f64 + 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_mirror_each_other() {
        for (events, trials) in [(0, 1), (1, 3), (40, 1_000), (500_000, 3_000_000)] {
            for tail in [1e-9, 0.05, 0.5] {
                let upper = jeffreys_upper(events, trials, tail).unwrap();
                let mirrored = jeffreys_lower(trials - events, trials, tail).unwrap();
                assert!((upper + mirrored - 1.0).abs() < 1e-12);
                assert!(jeffreys_lower(events, trials, tail).unwrap() <= upper);
            }
        }
    }

    #[test]
    fn the_ends_are_plain_quantiles() {
        assert!(jeffreys_upper(5, 5, 0.05).unwrap() < 1.0);
        assert!(jeffreys_lower(0, 5, 0.05).unwrap() > 0.0);
    }

    #[test]
    fn refuses_impossible_arguments() {
        for limit in [jeffreys_upper, jeffreys_lower] {
            assert!(limit(0, 0, 0.05).is_err());
            assert!(limit(2, 1, 0.05).is_err());
            assert!(limit(1, 1, f64::NAN).is_err());
        }
    }
}

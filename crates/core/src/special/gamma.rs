//! The logarithm of the gamma function, without cancellation in differences.

use super::SpecialError;
use crate::math;

/// Logarithm of the gamma function for positive arguments.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `x` | argument | (0, ∞) |
///
/// # Errors
/// [`SpecialError::Positive`] outside the domain.
///
/// # Numerics
/// A few units in the last place. Differences of large values lose digits: use
/// [`stirling_error`], [`crate::special::ln_binomial_pmf`] or [`crate::special::BetaDistribution`]
/// there.
///
/// # Example
/// ```
/// let value = dpscope_core::special::ln_gamma(5.0)?;
/// assert_eq!(format!("{value:.12}"), "3.178053830348"); // ln 24
/// # Ok::<(), dpscope_core::special::SpecialError>(())
/// ```
pub fn ln_gamma(x: f64) -> Result<f64, SpecialError> {
    positive("x", x)?;
    Ok(math::lgamma(x))
}

/// The error of Stirling's formula for ln Γ(z).
///
/// S(z) = ln Γ(z) − (z − ½) ln z + z − ½ ln 2π
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `z` | argument, integer or not | (0, ∞) |
///
/// # Errors
/// [`SpecialError::Positive`] outside the domain.
///
/// # Numerics
/// Relative error below 1e-14 for z ≥ 0.01. From z = 10 on the asymptotic series; below, the
/// recurrence S(z) = S(z + 1) + Σ r^{2j}/(2j + 1) with r = 1/(2z + 1), whose terms are positive.
///
/// # Reference
/// C. Loader, "Fast and accurate computation of binomial probabilities" (2000).
///
/// # Example
/// ```
/// let value = dpscope_core::special::stirling_error(1.0)?;
/// assert_eq!(format!("{value:.12}"), "0.081061466795"); // 1 − ½ ln 2π
/// # Ok::<(), dpscope_core::special::SpecialError>(())
/// ```
pub fn stirling_error(z: f64) -> Result<f64, SpecialError> {
    positive("z", z)?;
    Ok(stirling_series(z))
}

fn positive(name: &'static str, value: f64) -> Result<(), SpecialError> {
    if value > 0.0 && value < f64::INFINITY {
        Ok(())
    } else {
        Err(SpecialError::Positive { name, value })
    }
}

/// [`stirling_error`] where z is known to be positive.
pub(crate) fn stirling_series(z: f64) -> f64 {
    const COEFFICIENTS: [f64; 10] = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1260.0,
        -1.0 / 1680.0,
        1.0 / 1188.0,
        -691.0 / 360_360.0,
        1.0 / 156.0,
        -3617.0 / 122_400.0,
        43867.0 / 244_188.0,
        -174_611.0 / 125_400.0,
    ];
    let (mut z, mut below) = (z, 0.0);
    while z < 10.0 {
        below += (z + 0.5) * atanh_excess(1.0 / (2.0 * z + 1.0)) * 2.0;
        z += 1.0;
    }
    let inverse = 1.0 / z;
    let square = inverse * inverse;
    let series = COEFFICIENTS.iter().rev().fold(0.0, |sum, c| sum * square + c);
    below + series * inverse
}

/// atanh(r) − r for |r| < 1.
fn atanh_excess(r: f64) -> f64 {
    if r.abs() > 0.6 {
        return 0.5 * math::ln((1.0 + r) / (1.0 - r)) - r;
    }
    let square = r * r;
    let (mut power, mut sum, mut odd) = (r * square, 0.0, 3.0);
    loop {
        let term = power / odd;
        sum += term;
        if term.abs() <= 1e-17 * sum.abs() {
            return sum;
        }
        power *= square;
        odd += 2.0;
    }
}

/// h(change) = change − ln(1 + change) ≥ 0, the deviance of a count in units of the count.
///
/// `ratio` is 1 + change, computed on its own: near −1 the sum would cancel.
pub(crate) fn deviance(change: f64, ratio: f64) -> f64 {
    if change.abs() < 0.4 {
        let r = change / (2.0 + change);
        r * change - 2.0 * atanh_excess(r)
    } else {
        change - math::ln(ratio)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stirling_error_matches_fifty_digit_values() {
        // mpmath loggamma at 50 digits
        for (z, value) in STIRLING {
            let seen = stirling_error(z).unwrap();
            assert!((seen / value - 1.0).abs() < 1e-14, "z = {z}: {seen} {value}");
        }
    }

    #[test]
    fn deviance_is_continuous_at_its_seam() {
        for seam in [0.4_f64, -0.4] {
            let inside = deviance(seam * (1.0 - 1e-15), 1.0 + seam);
            let outside = seam - math::ln_1p(seam);
            assert!((inside / outside - 1.0).abs() < 1e-14, "{inside} {outside}");
        }
        assert_eq!(deviance(0.0, 1.0), 0.0);
        assert!((deviance(1e-9, 1.0) / 5e-19 - 1.0).abs() < 1e-8);
    }

    #[test]
    fn refuses_what_is_not_positive() {
        for x in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(ln_gamma(x).is_err());
            assert!(stirling_error(x).is_err());
        }
    }

    const STIRLING: [(f64, f64); 10] = [
        (0.1, 0.512740081331915),
        (0.5, 0.15342640972002736),
        (1.0, 0.08106146679532726),
        (1.5, 0.05481412105191765),
        (3.7, 0.022468770580143144),
        (9.99, 0.00833889679773433),
        (10.0, 0.00833056343336287),
        (25.5, 0.003267806405762447),
        (1000.0, 8.333333055555635e-05),
        (5000000000.0, 1.6666666666666667e-11),
    ];
}

//! Gaussian differential privacy: δ, ε and μ of the pair N(0, 1) against N(μ, 1).

use crate::format::given;
use crate::math;
use crate::special::normal::{self, mills_ratio};
use crate::special::quadrature::gauss_legendre_32;

/// An argument outside the domain of a formula of Gaussian differential privacy.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GdpError {
    /// μ is negative, infinite or NaN.
    #[error("gdp_mu = {}: must lie in [0, 1e100]", given(*.gdp_mu))]
    Mu {
        /// The parameter μ.
        gdp_mu: f64,
    },
    /// ε is negative, infinite or NaN.
    #[error("epsilon = {}: must lie in [0, 1e200]", given(*.epsilon))]
    Epsilon {
        /// The parameter ε.
        epsilon: f64,
    },
    /// δ is not strictly between 0 and 1, or NaN.
    #[error("delta = {}: must lie strictly between 0 and 1", given(*.delta))]
    Delta {
        /// The parameter δ.
        delta: f64,
    },
    /// A rate is outside (0, 1], or NaN. A rate of 0 would make μ infinite.
    #[error("{name} = {}: must lie in (0, 1]", given(*.value))]
    Rate {
        /// Name of the argument.
        name: &'static str,
        /// Its value.
        value: f64,
    },
}

/// The δ of μ-GDP at ε.
///
/// δ = Φ(−A) − e^ε Φ(−B) with A = ε/μ − μ/2 and B = ε/μ + μ/2
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `gdp_mu` | μ | [0, 1e100] |
/// | `epsilon` | ε, nats | [0, 1e200] |
///
/// # Errors
/// [`GdpError::Mu`], [`GdpError::Epsilon`].
///
/// # Numerics
/// Relative error below 1e-13 + 1e-15 (1 + |A|)(|A| + B), the latter from the rounding of A
/// (`tests/oracles/gdp.rs::independent_values_agree`). The two terms are never subtracted where
/// they are close: δ = φ(A) ∫₀^∞ e^{−As−s²/2}(1 − e^{−μs}) ds has a positive integrand. Rounds to
/// nearest, not outward.
///
/// # Reference
/// J. Dong, A. Roth and W. Su (2022), corollary 2.13; B. Balle and Y.-X. Wang (2018), theorem 8.
///
/// # Example
/// ```
/// let delta = dpscope_core::gdp::gdp_delta(1.0, 1.0)?;
/// assert_eq!(format!("{delta:.12}"), "0.126936737507");
/// # Ok::<(), dpscope_core::gdp::GdpError>(())
/// ```
pub fn gdp_delta(gdp_mu: f64, epsilon: f64) -> Result<f64, GdpError> {
    check_mu(gdp_mu)?;
    check_epsilon(epsilon)?;
    if gdp_mu == 0.0 {
        return Ok(0.0);
    }
    Ok(math::exp(Profile::at(gdp_mu, epsilon).ln_delta))
}

/// The ε of μ-GDP at δ: the root of [`gdp_delta`] in ε, 0 where δ(0) ≤ δ.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `gdp_mu` | μ | [0, 1e100] |
/// | `delta` | δ | (0, 1) |
///
/// # Errors
/// [`GdpError::Mu`], [`GdpError::Delta`].
///
/// # Numerics
/// Relative error about 1e-13 where ε exceeds 1e-3 μ. ln δ is a concave function of ε, so Newton's
/// method from the upper end ε ≤ μ(μ/2 − Φ⁻¹(δ)) converges, inside a bracket. Rounds to nearest.
///
/// # Reference
/// J. Dong, A. Roth and W. Su (2022), corollary 2.13.
///
/// # Example
/// ```
/// let epsilon = dpscope_core::gdp::gdp_epsilon(1.0, 1e-5)?;
/// assert_eq!(format!("{epsilon:.12}"), "4.377178095681");
/// # Ok::<(), dpscope_core::gdp::GdpError>(())
/// ```
pub fn gdp_epsilon(gdp_mu: f64, delta: f64) -> Result<f64, GdpError> {
    check_mu(gdp_mu)?;
    check_delta(delta)?;
    let ln_delta = math::ln(delta);
    if gdp_mu == 0.0 || Profile::at(gdp_mu, 0.0).ln_delta <= ln_delta {
        return Ok(0.0);
    }
    let highest = gdp_mu * (0.5 * gdp_mu - normal::quantile(delta));
    Ok(newton_in_bracket(0.0, highest, highest, |epsilon| {
        let profile = Profile::at(gdp_mu, epsilon);
        (profile.ln_delta - ln_delta, profile.epsilon_slope)
    }))
}

/// The μ whose Gaussian curve touches (ε, δ): the root of [`gdp_delta`] in μ.
///
/// A mechanism that is exactly μ-GDP is (ε, δ)-DP if and only if μ is at most this value.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `epsilon` | ε, nats | [0, 1e200] |
/// | `delta` | δ | (0, 1) |
///
/// # Errors
/// [`GdpError::Epsilon`], [`GdpError::Delta`].
///
/// # Numerics
/// Relative error about 1e-13. Newton's method in ln μ with a bracket, from the larger of the two
/// lower bounds δ√(2π) and √(z² + 2ε) − z, z = −Φ⁻¹(δ). Rounds to nearest.
///
/// # Reference
/// B. Balle and Y.-X. Wang (2018), theorem 8: μ = sensitivity/σ.
///
/// # Example
/// ```
/// let gdp_mu = dpscope_core::gdp::gdp_mu_for(1.0, 1e-5)?;
/// assert_eq!(format!("{gdp_mu:.12}"), "0.268051123211");
/// # Ok::<(), dpscope_core::gdp::GdpError>(())
/// ```
pub fn gdp_mu_for(epsilon: f64, delta: f64) -> Result<f64, GdpError> {
    check_epsilon(epsilon)?;
    check_delta(delta)?;
    let ln_delta = math::ln(delta);
    let z = -normal::quantile(delta);
    let length = (z * z + 2.0 * epsilon).sqrt();
    let by_tail = if z > 0.0 { 2.0 * epsilon / (length + z) } else { length - z };
    let lowest = by_tail.max(delta * 2.5).max(f64::MIN_POSITIVE);
    let mut highest = 1.1 * lowest;
    while Profile::at(highest, epsilon).ln_delta < ln_delta && highest < 1e300 {
        highest *= 2.0;
    }
    let (low, high) = (math::ln(lowest) - 1e-9, math::ln(highest));
    Ok(math::exp(newton_in_bracket(low, high, low, |ln_mu| {
        let profile = Profile::at(math::exp(ln_mu), epsilon);
        (profile.ln_delta - ln_delta, profile.ln_mu_slope)
    })))
}

/// A lower bound on μ from upper limits of both error rates.
///
/// max(0, Φ⁻¹(1 − FPR) − Φ⁻¹(FNR))
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `fpr_upper` | upper limit of the false-positive rate | (0, 1] |
/// | `fnr_upper` | upper limit of the false-negative rate | (0, 1] |
///
/// # Guarantee
/// If both limits hold, every μ for which the mechanism is μ-GDP is at least the result, which is
/// rounded down (`tests/oracles/gdp.rs::mu_from_rates`). Clamped at 0, never an absolute value.
///
/// # Errors
/// [`GdpError::Rate`].
///
/// # Reference
/// J. Dong, A. Roth and W. Su (2022), definition 2.6.
///
/// # Example
/// ```
/// let gdp_mu = dpscope_core::gdp::gdp_mu_lower_bound(0.01, 0.5)?;
/// assert_eq!(format!("{gdp_mu:.12}"), "2.326347874041");
/// # Ok::<(), dpscope_core::gdp::GdpError>(())
/// ```
pub fn gdp_mu_lower_bound(fpr_upper: f64, fnr_upper: f64) -> Result<f64, GdpError> {
    for (name, value) in [("fpr_upper", fpr_upper), ("fnr_upper", fnr_upper)] {
        if !(value > 0.0 && value <= 1.0) {
            return Err(GdpError::Rate { name, value });
        }
    }
    if fpr_upper == 1.0 || fnr_upper == 1.0 {
        return Ok(0.0);
    }
    let (z_fpr, z_fnr) = (normal::quantile(fpr_upper), normal::quantile(fnr_upper));
    let margin = 8.0 * f64::EPSILON * (z_fpr.abs() + z_fnr.abs());
    Ok((-z_fpr - z_fnr - margin).max(0.0))
}

/// ln δ at (μ, ε) with its slopes.
struct Profile {
    ln_delta: f64,
    /// ∂ ln δ/∂ε = −M(B)/I
    epsilon_slope: f64,
    /// ∂ ln δ/∂ ln μ = μ/I
    ln_mu_slope: f64,
}

impl Profile {
    /// With I = M(A) − M(B) = δ/φ(A), M(t) = Φ(−t)/φ(t), as φ(A) = e^ε φ(B).
    fn at(gdp_mu: f64, epsilon: f64) -> Self {
        let ratio = epsilon / gdp_mu;
        let (a, b) = (ratio - 0.5 * gdp_mu, ratio + 0.5 * gdp_mu);
        if a > 1e150 {
            return Self { ln_delta: f64::NEG_INFINITY, epsilon_slope: -1.0, ln_mu_slope: 1.0 };
        }
        if a < -5.0 {
            return Self::far_below(gdp_mu, a, mills_ratio(b));
        }
        let (near, far) = (mills_ratio(a), mills_ratio(b));
        let excess = if far < 0.5 * near { near - far } else { difference_of_mills(a, gdp_mu) };
        Self {
            ln_delta: normal::normal_ln_pdf(a) + math::ln(excess),
            epsilon_slope: -far / excess,
            ln_mu_slope: gdp_mu / excess,
        }
    }

    /// A < −5: δ = Φ(−A) − φ(A) M(B) is close to 1, and M(A) might overflow.
    fn far_below(gdp_mu: f64, a: f64, far: f64) -> Self {
        let density = normal::normal_pdf(a);
        let missing = normal::normal_cdf(a) + density * far;
        let delta = 1.0 - missing;
        Self {
            ln_delta: math::ln_1p(-missing),
            epsilon_slope: -density * far / delta,
            ln_mu_slope: gdp_mu * density / delta,
        }
    }
}

/// M(a) − M(a + μ) = ∫₀^∞ e^{−as−s²/2}(1 − e^{−μs}) ds, truncated where the exponent passes 44.
fn difference_of_mills(a: f64, gdp_mu: f64) -> f64 {
    let end = 88.0 / (a + (a * a + 88.0).sqrt());
    let kept = |s: f64| -math::exp_m1(-gdp_mu * s);
    gauss_legendre_32(0.0, end, |s| math::exp(-s * (a + 0.5 * s)) * kept(s))
}

/// Root of a monotone function, which returns (value, slope), by Newton's method inside a bracket.
pub(crate) fn newton_in_bracket(
    low: f64,
    high: f64,
    start: f64,
    f: impl Fn(f64) -> (f64, f64),
) -> f64 {
    let (mut low, mut high, mut x) = (low, high, start);
    let mut last_step = f64::INFINITY;
    for _ in 0..200 {
        let (value, slope) = f(x);
        if value == 0.0 {
            return x;
        }
        if (value > 0.0) == (slope > 0.0) {
            high = x;
        } else {
            low = x;
        }
        let step = -value / slope;
        let next = x + step;
        // the ends belong to the bracket: the root may be one of them
        if next >= low && next <= high && step.abs() < 0.9 * last_step {
            x = next;
            last_step = step.abs();
            if last_step <= 1e-15 * x.abs() {
                return x;
            }
        } else {
            let middle = 0.5 * (low + high);
            if !(middle > low && middle < high) {
                return math::clamp(x, low, high);
            }
            last_step = high - low;
            x = middle;
        }
    }
    x
}

fn check_mu(gdp_mu: f64) -> Result<(), GdpError> {
    if (0.0..=1e100).contains(&gdp_mu) { Ok(()) } else { Err(GdpError::Mu { gdp_mu }) }
}

fn check_epsilon(epsilon: f64) -> Result<(), GdpError> {
    if (0.0..=1e200).contains(&epsilon) { Ok(()) } else { Err(GdpError::Epsilon { epsilon }) }
}

fn check_delta(delta: f64) -> Result<(), GdpError> {
    if delta > 0.0 && delta < 1.0 { Ok(()) } else { Err(GdpError::Delta { delta }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverses_undo_each_other() {
        for gdp_mu in [1e-6, 1e-3, 0.1, 1.0, 4.0, 15.0, 50.0] {
            for delta in [1e-300, 1e-100, 1e-20, 1e-9, 1e-5, 0.01, 0.3, 0.9] {
                let epsilon = gdp_epsilon(gdp_mu, delta).unwrap();
                if epsilon < 1e-3 * gdp_mu {
                    continue;
                }
                let back = gdp_mu_for(epsilon, delta).unwrap();
                assert!((back / gdp_mu - 1.0).abs() < 1e-12, "{gdp_mu} {delta}: {back}");
                let seen = Profile::at(gdp_mu, epsilon).ln_delta;
                assert!(
                    (seen - math::ln(delta)).abs() < 1e-11 * (1.0 + epsilon),
                    "{gdp_mu} {delta}"
                );
            }
        }
    }

    #[test]
    fn delta_at_zero_is_the_total_variation() {
        for gdp_mu in [1e-9, 1e-3, 0.5, 3.0, 12.0] {
            let exact = math::erf(gdp_mu / 8.0_f64.sqrt());
            let seen = gdp_delta(gdp_mu, 0.0).unwrap();
            assert!((seen / exact - 1.0).abs() < 1e-14, "{gdp_mu}: {seen} {exact}");
            let back = gdp_mu_for(0.0, exact).unwrap();
            assert!((back / gdp_mu - 1.0).abs() < 1e-6 || gdp_mu > 10.0, "{gdp_mu}: {back}");
        }
    }

    #[test]
    fn results_are_finite_at_extreme_arguments() {
        for gdp_mu in [0.0, 5e-324, 1e-200, 1e100] {
            for epsilon in [0.0, 1e-300, 1.0, 1e200] {
                let delta = gdp_delta(gdp_mu, epsilon).unwrap();
                assert!((0.0..=1.0).contains(&delta), "{gdp_mu} {epsilon}: {delta}");
            }
            for delta in [5e-324, 0.5, 1.0 - 1e-16] {
                assert!(gdp_epsilon(gdp_mu, delta).unwrap() >= 0.0);
            }
        }
        for epsilon in [0.0, 1e-300, 1e-9, 1e9, 1e200] {
            for delta in [5e-324, 0.5, 1.0 - 1.2e-16] {
                let gdp_mu = gdp_mu_for(epsilon, delta).unwrap();
                assert!((0.0..f64::INFINITY).contains(&gdp_mu), "{epsilon} {delta}: {gdp_mu}");
            }
        }
    }

    #[test]
    fn lower_bound_is_never_an_absolute_value() {
        assert_eq!(gdp_mu_lower_bound(0.6, 0.7).unwrap(), 0.0);
        assert_eq!(gdp_mu_lower_bound(0.5, 0.5).unwrap(), 0.0);
        assert_eq!(gdp_mu_lower_bound(1.0, 1e-9).unwrap(), 0.0);
    }

    #[test]
    fn refuses_bad_arguments() {
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(gdp_delta(bad, 1.0).is_err());
            assert!(gdp_delta(1.0, bad).is_err());
            assert!(gdp_epsilon(bad, 0.1).is_err());
            assert!(gdp_epsilon(1.0, bad).is_err());
            assert!(gdp_mu_for(bad, 0.1).is_err());
            assert!(gdp_mu_for(1.0, bad).is_err());
            assert!(gdp_mu_lower_bound(bad, 0.1).is_err());
            assert!(gdp_mu_lower_bound(0.1, bad).is_err());
        }
        assert!(gdp_epsilon(1.0, 0.0).is_err());
        assert!(gdp_mu_lower_bound(0.0, 0.1).is_err());
    }
}

//! The standard normal distribution.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, LN_2};

use super::SpecialError;
use crate::math;

/// Density φ(x) of the standard normal distribution.
///
/// # Example
/// ```
/// assert_eq!(format!("{:.12}", dpscope_core::special::normal_pdf(0.0)), "0.398942280401");
/// ```
pub fn normal_pdf(x: f64) -> f64 {
    // e^{−x²/2}, corrected for the rounding error of x²
    let (square, lost) = math::two_product(x, x);
    if square > 1e300 {
        return 0.0;
    }
    math::exp(-0.5 * square - math::LN_SQRT_2PI) * (1.0 - 0.5 * lost)
}

/// Logarithm of the density of the standard normal distribution, −x²/2 − ½ ln 2π.
///
/// # Example
/// ```
/// assert_eq!(format!("{:.12}", dpscope_core::special::normal_ln_pdf(2.0)), "-2.918938533205");
/// ```
pub fn normal_ln_pdf(x: f64) -> f64 {
    -0.5 * x * x - math::LN_SQRT_2PI
}

/// Distribution function Φ(x) of the standard normal distribution. NaN stays NaN.
///
/// # Numerics
/// Relative error below 1e-15 for x ≥ −37; 0 below about −38.6, where [`normal_ln_cdf`] is still
/// accurate.
///
/// # Example
/// ```
/// let value = dpscope_core::special::normal_cdf(-10.0);
/// assert_eq!(format!("{value:.12e}"), "7.619853024161e-24");
/// ```
pub fn normal_cdf(x: f64) -> f64 {
    normal_survival(-x)
}

/// Survival function 1 − Φ(x) = Φ(−x), computed directly. NaN stays NaN.
///
/// # Numerics
/// As [`normal_cdf`]: x/√2 is formed with its rounding error, which erfc would magnify by x².
///
/// # Example
/// ```
/// let value = dpscope_core::special::normal_survival(10.0);
/// assert_eq!(format!("{value:.12e}"), "7.619853024161e-24");
/// ```
pub fn normal_survival(x: f64) -> f64 {
    const FRAC_1_SQRT_2_LOW: f64 = -4.833_646_656_726_457e-17;
    if x.abs() > 40.0 {
        return if x > 0.0 { 0.0 } else { 1.0 };
    }
    let (high, lost) = math::two_product(x, FRAC_1_SQRT_2);
    let low = lost + x * FRAC_1_SQRT_2_LOW;
    let slope = FRAC_2_SQRT_PI * math::exp(-high * high);
    0.5 * (math::erfc(high) - slope * low)
}

/// Logarithm of Φ(x), accurate in both tails. NaN stays NaN.
///
/// # Numerics
/// Relative error about 1e-15 for every x: a continued fraction for Mills' ratio below −8, and
/// ln(1 − Φ(−x)) through `ln_1p` above 0.
///
/// # Example
/// ```
/// let value = dpscope_core::special::normal_ln_cdf(-1e4);
/// assert_eq!(format!("{value:.6}"), "-50000010.129279");
/// ```
pub fn normal_ln_cdf(x: f64) -> f64 {
    if x > 0.0 {
        math::ln_1p(-normal_survival(x))
    } else if x > -8.0 {
        math::ln(normal_cdf(x))
    } else {
        normal_ln_pdf(x) + math::ln(mills_ratio(-x))
    }
}

/// Mills' ratio Φ(−x)/φ(x).
pub(crate) fn mills_ratio(x: f64) -> f64 {
    if x < 8.0 {
        return normal_survival(x) / normal_pdf(x);
    }
    // 1/(x + 1/(x + 2/(x + 3/(x + …)))); at x = 8 forty terms reach 1e-17
    let fraction = (1..=40).rev().fold(x, |tail, k| x + f64::from(k) / tail);
    1.0 / fraction
}

/// Quantile Φ⁻¹(p) of the standard normal distribution.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `probability` | p | (0, 1) |
///
/// # Errors
/// [`SpecialError::Probability`] outside the domain; the ends would be infinite.
///
/// # Numerics
/// Relative error about 1e-15 for every double p, from 5e-324 to 1 − 1.1e-16. For p near 1 use
/// −Φ⁻¹(1 − p), with 1 − p computed directly.
///
/// # Reference
/// M. J. Wichura, Algorithm AS 241 (1988), centre only; the tails by Halley's method on ln Φ.
///
/// # Example
/// ```
/// let value = dpscope_core::special::normal_quantile(0.975)?;
/// assert_eq!(format!("{value:.12}"), "1.959963984540");
/// # Ok::<(), dpscope_core::special::SpecialError>(())
/// ```
pub fn normal_quantile(probability: f64) -> Result<f64, SpecialError> {
    if !(probability > 0.0 && probability < 1.0) {
        return Err(SpecialError::Probability { name: "probability", value: probability });
    }
    Ok(quantile(probability))
}

/// Quantile of the standard normal distribution from the logarithm of the probability.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `ln_probability` | ln p | (−1e300, 0) |
///
/// # Errors
/// [`SpecialError::LnProbability`] outside the domain.
///
/// # Numerics
/// Relative error about 1e-15 for p < 0.9; above, the rounding of ln p dominates.
///
/// # Example
/// ```
/// let value = dpscope_core::special::normal_quantile_from_ln(-1e6)?;
/// assert_eq!(format!("{value:.6}"), "-1414.207783");
/// # Ok::<(), dpscope_core::special::SpecialError>(())
/// ```
pub fn normal_quantile_from_ln(ln_probability: f64) -> Result<f64, SpecialError> {
    if !(ln_probability < 0.0 && ln_probability > -1e300) {
        return Err(SpecialError::LnProbability { name: "ln_probability", value: ln_probability });
    }
    Ok(quantile_from_ln(ln_probability))
}

/// Φ⁻¹ for ln p known to lie in the domain of [`normal_quantile_from_ln`].
pub(crate) fn quantile_from_ln(ln_p: f64) -> f64 {
    if ln_p < LN_TAIL {
        tail_quantile(ln_p)
    } else if ln_p < -LN_2 {
        quantile(math::exp(ln_p))
    } else if ln_p < -1e-16 {
        -quantile(-math::exp_m1(ln_p))
    } else {
        -tail_quantile(math::ln(-ln_p))
    }
}

/// Φ⁻¹ for p known to lie in (0, 1).
pub(crate) fn quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        central_quantile(q)
    } else if q < 0.0 {
        tail_quantile(math::ln(p))
    } else {
        -tail_quantile(math::ln(1.0 - p))
    }
}

const LN_TAIL: f64 = -2.6; // below ln 0.075

/// AS 241, |q| ≤ 0.425.
fn central_quantile(q: f64) -> f64 {
    const NUMERATOR: [f64; 8] = [
        3.387_132_872_796_366_6,
        133.141_667_891_784_38,
        1_971.590_950_306_551_3,
        13_731.693_765_509_46,
        45_921.953_931_549_87,
        67_265.770_927_008_7,
        33_430.575_583_588_13,
        2_509.080_928_730_122_7,
    ];
    const DENOMINATOR: [f64; 8] = [
        1.0,
        42.313_330_701_600_91,
        687.187_007_492_057_9,
        5_394.196_021_424_751,
        21_213.794_301_586_597,
        39_307.895_800_092_71,
        28_729.085_735_721_943,
        5_226.495_278_852_854,
    ];
    let r = 0.180_625 - q * q;
    let horner = |c: &[f64; 8]| c.iter().rev().fold(0.0, |sum, c| sum * r + c);
    q * horner(&NUMERATOR) / horner(&DENOMINATOR)
}

/// Halley's method for ln Φ(−x) = ln p on x ≥ 1.4, from the leading asymptotic term.
fn tail_quantile(ln_p: f64) -> f64 {
    let twice = -2.0 * (ln_p + math::LN_SQRT_2PI);
    let mut x = (twice - math::ln(twice.max(1.9))).max(1.9).sqrt();
    for _ in 0..12 {
        let mills = mills_ratio(x);
        let hazard = 1.0 / mills;
        // with f = ln Φ(−x) − ln p: f′ = −hazard, f″ = −hazard (hazard − x)
        let newton = mills * (normal_ln_cdf(-x) - ln_p);
        let step = newton / (1.0 + 0.5 * newton * (hazard - x));
        x += step;
        if step.abs() < 1e-6 * x {
            break;
        }
    }
    -x
}

#[cfg(test)]
mod tests {
    use std::f64::consts::SQRT_2;

    use super::*;

    #[test]
    fn low_part_of_the_root_is_right() {
        let (high, low) = math::two_product(FRAC_1_SQRT_2, SQRT_2);
        // (h + l)·√2 = 1 to first order, with √2 = SQRT_2 − 9.667e-17
        assert!(
            (high - 1.0
                + low
                + FRAC_1_SQRT_2 * -9.667_293_313_452_913e-17
                + SQRT_2 * -4.833_646_656_726_457e-17)
                .abs()
                < 1e-31
        );
    }

    #[test]
    fn distribution_function_matches_fifty_digit_values() {
        for (x, cdf, ln_cdf) in CDF {
            let seen = normal_cdf(x);
            assert!((seen / cdf - 1.0).abs() < 1.2e-15, "x = {x}: {seen:e} {cdf:e}");
            let seen = normal_ln_cdf(x);
            assert!((seen / ln_cdf - 1.0).abs() < 1.2e-15, "x = {x}: {seen:e} {ln_cdf:e}");
        }
        assert_eq!(normal_cdf(-50.0), 0.0);
        assert_eq!(normal_cdf(50.0), 1.0);
        assert!(normal_cdf(f64::NAN).is_nan());
    }

    #[test]
    fn uncorrected_argument_would_fail_this_check() {
        let worst = CDF
            .iter()
            .map(|&(x, cdf, _)| (0.5 * math::erfc(-x / SQRT_2) / cdf - 1.0).abs())
            .fold(0.0, f64::max);
        assert!(worst > 1e-14, "{worst:e}");
    }

    #[test]
    fn quantile_matches_fifty_digit_values() {
        for (p, value) in QUANTILE {
            let seen = normal_quantile(p).unwrap();
            assert!((seen / value - 1.0).abs() < 1.2e-15, "p = {p:e}: {seen} {value}");
        }
        for (ln_p, value) in LN_QUANTILE {
            let seen = normal_quantile_from_ln(ln_p).unwrap();
            assert!((seen / value - 1.0).abs() < 1.2e-15, "ln p = {ln_p:e}: {seen} {value}");
        }
    }

    #[test]
    fn quantile_refuses_the_ends_and_nan() {
        for p in [0.0, 1.0, -0.1, 1.1, f64::NAN] {
            assert!(normal_quantile(p).is_err());
        }
        for ln_p in [0.0, 1.0, f64::NAN, f64::NEG_INFINITY] {
            assert!(normal_quantile_from_ln(ln_p).is_err());
        }
        assert_eq!(normal_quantile(0.5).unwrap(), 0.0);
    }

    const CDF: [(f64, f64, f64); 14] = [
        (-37.0, 5.725571222524577e-300, -689.0305855768906),
        (-30.3, 5.731723503315496e-202, -463.37617251337866),
        (-20.7, 1.7318518790197378e-95, -218.1963925481476),
        (-12.1, 5.28055876743356e-34, -76.62386124251323),
        (-8.0, 6.220960574271784e-16, -35.01343715991455),
        (-7.99, 6.746937686753559e-16, -34.93227276199891),
        (-5.3, 5.790134039964594e-08, -16.664525302382472),
        (-3.1, 0.0009676032132183566, -6.940688458421228),
        (-1.0, 0.15865525393145705, -1.8410216450092636),
        (-0.1, 0.460172162722971, -0.7761545927302733),
        (0.0, 0.5, -LN_2),
        (0.7, 0.758036347776927, -0.2770239422771313),
        (2.5, 0.9937903346742238, -0.006229025485860002),
        (6.0, 0.9999999990134123, -9.865876455243758e-10),
    ];

    const QUANTILE: [(f64, f64); 23] = [
        (5e-324, -38.467405617144344),
        (1e-300, -37.0470962993612),
        (1e-200, -30.20559417957964),
        (1e-100, -21.273453560965326),
        (1e-50, -14.933337534788489),
        (1e-20, -9.262340089798407),
        (1e-12, -7.034483825301132),
        (1e-06, -4.753424308822899),
        (0.001, -3.0902323061678136),
        (0.02, -2.053748910631823),
        (0.07, -1.4757910281791706),
        (0.0749999, -1.4395321773759007),
        (0.0750001, -1.4395307645017297),
        (0.1, -1.2815515655446004),
        (0.3, -0.5244005127080408),
        (0.4999999, -2.5066282747031063e-07),
        (0.5000000001, 2.506628482030354e-10),
        (0.6, 0.2533471031357997),
        (0.9, 1.2815515655446006),
        (0.93, 1.475791028179171),
        (0.99, 2.3263478740408408),
        (0.999999, 4.753424308817087),
        (0.9999999999999999, 8.209536151601387),
    ];

    const LN_QUANTILE: [(f64, f64); 11] = [
        (-1000000.0, -1414.2077829910174),
        (-10000.0, -141.37983987312717),
        (-800.0, -39.88469483825668),
        (-100.0, -13.888476033003887),
        (-10.0, -3.913946240531893),
        (-2.7, -1.496931720373832),
        (-1.0, -0.33747496376420244),
        (-0.3, 0.6458699862012636),
        (-0.05, 1.6568927965620148),
        (-1e-10, 6.361340902411735),
        (-1e-17, 8.493793224109599),
    ];
}

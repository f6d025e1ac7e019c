//! Vectorisable e^x and tanh x in f32 with the same bits on every machine: a fixed order of
//! operations, never fused. The crate `libm` does not vectorise.

const LOG2_E: f32 = std::f32::consts::LOG2_E;
/// ln 2 = `LN_2_HIGH` + `LN_2_LOW`; products of the former with exponents are exact.
const LN_2_HIGH: f32 = 0.693_359_4;
const LN_2_LOW: f32 = -2.121_944_4e-4;
/// Adding and subtracting this constant rounds a small number to an integer, which is in the low
/// bits of the sum.
const ROUNDER: f32 = 12_582_912.0;

/// (n, e^r − 1) with x = n·ln 2 + r, |r| ≤ ½ ln 2: Taylor's series to r⁷, of error below 6e-9·|r|.
#[inline(always)]
fn reduced(x: f32) -> (i32, f32) {
    let sum = x * LOG2_E + ROUNDER;
    let n = sum - ROUNDER;
    let r = (x - n * LN_2_HIGH) - n * LN_2_LOW;
    let series = 1.0 / 120.0 + r * (1.0 / 720.0 + r * (1.0 / 5040.0));
    let series = 0.5 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * series));
    let exponent = sum.to_bits().wrapping_sub(ROUNDER.to_bits()) as i32;
    (exponent, r + r * r * series)
}

/// 2^n for −126 ≤ n ≤ 127.
#[inline(always)]
fn power_of_two(n: i32) -> f32 {
    f32::from_bits(((n + 127) << 23) as u32)
}

/// Clamps `x`; NaN is preserved.
#[inline(always)]
fn clamp(x: f32, low: f32, high: f32) -> f32 {
    let x = if x < low { low } else { x };
    if x > high { high } else { x }
}

/// Exponential function, e^x.
///
/// # Numerics
/// Relative error below 1.5e-7 where the result is a normal number (`unit::exp_is_accurate`); 0 and
/// infinity beyond.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    let (n, power) = reduced(clamp(x, -110.0, 90.0));
    // 2^n as two factors, each a normal number.
    let half = n >> 1;
    (1.0 + power) * power_of_two(half.clamp(-126, 127)) * power_of_two((n - half).clamp(-126, 127))
}

/// tanh x = E/(E + 2) with E = e^2x − 1 = 2ⁿ·(e^r − 1) + (2ⁿ − 1).
///
/// # Numerics
/// Relative error below 3e-7 (`unit::tanh_is_accurate`).
#[inline(always)]
pub(crate) fn tanh(x: f32) -> f32 {
    let (n, power) = reduced(clamp(2.0 * x, -20.0, 20.0));
    let two = power_of_two(n.clamp(-126, 127));
    let less_one = two * power + (two - 1.0);
    less_one / (less_one + 2.0)
}

/// ln(1 + e^x) = max(x, 0) + 2 artanh(u/(u + 2)) with u = e^−|x|: the series of artanh to s¹⁵.
///
/// # Numerics
/// Relative error below 4e-7 where the result is a normal number (`unit::softplus_is_accurate`).
#[inline(always)]
pub(crate) fn softplus(x: f32) -> f32 {
    let magnitude = if x < 0.0 { -x } else { x };
    let u = exp(-magnitude);
    let s = u / (u + 2.0);
    let q = s * s;
    let series = 1.0 / 9.0 + q * (1.0 / 11.0 + q * (1.0 / 13.0 + q * (1.0 / 15.0)));
    let series = 1.0 + q * (1.0 / 3.0 + q * (1.0 / 5.0 + q * (1.0 / 7.0 + q * series)));
    let positive = if x < 0.0 { 0.0 } else { x };
    positive + 2.0 * s * series
}

/// Φ(x) = (1 + erf(x/√2))/2, with erf z = z·P(z²)/Q(z²) for |z| ≤ 4.
///
/// # Numerics
/// Absolute error below 3e-7 (`unit::normal_cdf_is_accurate`).
///
/// # Reference
/// The coefficients of Eigen 3.3 (`generic_fast_erf_float`), also used by XLA.
#[inline(always)]
pub(crate) fn normal_cdf(x: f32) -> f32 {
    let z = clamp(x * std::f32::consts::FRAC_1_SQRT_2, -4.0, 4.0);
    let q = z * z;
    let p = -2.101_024e-6 + q * (2.770_681_4e-8 + q * -2.726_142_3e-10);
    let p = -7.349_906_3e-4 + q * (-5.692_506_4e-5 + q * p);
    let p = -1.609_603_3e-2 + q * (-2.954_6e-3 + q * p);
    let d = -2.133_740_6e-4 + q * -1.456_607_2e-5;
    let d = -1.426_473_9e-2 + q * (-7.373_329_2e-3 + q * (-1.682_827e-3 + q * d));
    0.5 + 0.5 * (z * p / d)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpscope_core::math;

    fn worst(approximation: impl Fn(f32) -> f32, truth: fn(f64) -> f64, reach: f32) -> f64 {
        let points = (-20_000..=20_000).map(|at| at as f32 / 20_000.0 * reach);
        let tiny = (1..60).map(|at| math::powi(0.5, at) as f32);
        let error = |x: f32| {
            let truth = truth(f64::from(x));
            if truth == 0.0 { 0.0 } else { (f64::from(approximation(x)) / truth - 1.0).abs() }
        };
        points.chain(tiny).map(error).fold(0.0, f64::max)
    }

    #[test]
    fn exp_is_accurate() {
        let error = worst(exp, math::exp, 87.0);
        assert!(error < 1.5e-7, "{error}");
        assert_eq!([exp(-1e9), exp(0.0), exp(1e9)], [0.0, 1.0, f32::INFINITY]);
        assert!(exp(f32::NAN).is_nan());
        assert!(worst(|x| exp(x * (1.0 + 1e-6)), math::exp, 87.0) > 1e-6);
    }

    #[test]
    fn tanh_is_accurate() {
        let error = worst(tanh, math::tanh, 12.0);
        assert!(error < 3e-7, "{error}");
        assert_eq!([tanh(-1e9), tanh(0.0), tanh(1e9)], [-1.0, 0.0, 1.0]);
        assert!(tanh(f32::NAN).is_nan());
        assert!(worst(|x| tanh(x) + 1e-6 * x, math::tanh, 12.0) > 3e-7);
    }

    #[test]
    fn softplus_is_accurate() {
        let truth = |x: f64| x.max(0.0) + math::ln_1p(math::exp(-x.abs()));
        let error = worst(softplus, truth, 80.0);
        assert!(error < 4e-7, "{error}");
        assert_eq!(softplus(1e9), 1e9);
        assert!(softplus(f32::NAN).is_nan());
        assert!(worst(|x| softplus(x * (1.0 + 1e-6)), truth, 80.0) > 4e-7);
    }

    #[test]
    fn normal_cdf_is_accurate() {
        let truth = |x: f64| 0.5 * math::erfc(-x * std::f64::consts::FRAC_1_SQRT_2);
        let points = || (-20_000..=20_000).map(|at| at as f32 * 4e-4);
        let worst = |shift: f32| {
            let error = |x: f32| (f64::from(normal_cdf(x + shift)) - truth(f64::from(x))).abs();
            points().map(error).fold(0.0, f64::max)
        };
        assert!(worst(0.0) < 3e-7, "{}", worst(0.0));
        assert!(normal_cdf(f32::NAN).is_nan());
        assert!(worst(1e-5) > 3e-7);
    }
}

//! The one wrapper of the crate `libm`: elementary functions with the same bits on every target.
//!
//! The platform's `exp` and `ln` differ between x86-64, aarch64 and wasm in the last bit; results
//! that are shared between the program and the browser must not. `sqrt`, `abs`, `floor` and the
//! four operations are exact in IEEE 754 and need no wrapper.

/// ln √(2π), the constant of the normal distribution and of Stirling's series.
pub const LN_SQRT_2PI: f64 = 0.918_938_533_204_672_7;

/// Exponential function, e^x.
#[inline]
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// Base-2 exponential function, 2^x.
#[inline]
pub fn exp2(x: f64) -> f64 {
    libm::exp2(x)
}

/// e^x − 1, accurate near 0.
#[inline]
pub fn exp_m1(x: f64) -> f64 {
    libm::expm1(x)
}

/// Natural logarithm.
#[inline]
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// ln(1 + x), accurate near 0.
#[inline]
pub fn ln_1p(x: f64) -> f64 {
    libm::log1p(x)
}

/// Logarithm to base 2.
#[inline]
pub fn log2(x: f64) -> f64 {
    libm::log2(x)
}

/// Logarithm to base 10.
#[inline]
pub fn log10(x: f64) -> f64 {
    libm::log10(x)
}

/// `x` clamped to [`low`, `high`], whose order is not checked: `f64::clamp` panics if they are out
/// of order or NaN, and its message adds many bytes to a web page.
#[inline]
#[must_use]
pub fn clamp(x: f64, low: f64, high: f64) -> f64 {
    if x < low {
        low
    } else if x > high {
        high
    } else {
        x
    }
}

/// x to the power y, x^y.
#[inline]
pub fn powf(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

/// x^n by binary powering, in a fixed order of products.
#[inline]
pub fn powi(x: f64, n: i32) -> f64 {
    let (mut base, mut left, mut product) = (x, n.unsigned_abs(), 1.0);
    while left > 0 {
        if left & 1 == 1 {
            product *= base;
        }
        base *= base;
        left >>= 1;
    }
    if n < 0 { 1.0 / product } else { product }
}

/// Sine.
#[inline]
pub fn sin(x: f64) -> f64 {
    libm::sin(x)
}

/// Cosine.
#[inline]
pub fn cos(x: f64) -> f64 {
    libm::cos(x)
}

/// Sine and cosine.
#[inline]
pub fn sin_cos(x: f64) -> (f64, f64) {
    libm::sincos(x)
}

/// Tangent.
#[inline]
pub fn tan(x: f64) -> f64 {
    libm::tan(x)
}

/// Hyperbolic sine.
#[inline]
pub fn sinh(x: f64) -> f64 {
    libm::sinh(x)
}

/// Hyperbolic cosine.
#[inline]
pub fn cosh(x: f64) -> f64 {
    libm::cosh(x)
}

/// Hyperbolic tangent.
#[inline]
pub fn tanh(x: f64) -> f64 {
    libm::tanh(x)
}

/// Arctangent.
#[inline]
pub fn atan(x: f64) -> f64 {
    libm::atan(x)
}

/// Angle of the point (x, y).
#[inline]
pub fn atan2(y: f64, x: f64) -> f64 {
    libm::atan2(y, x)
}

/// Cube root.
#[inline]
pub fn cbrt(x: f64) -> f64 {
    libm::cbrt(x)
}

/// √(x² + y²) without overflow.
#[inline]
pub fn hypot(x: f64, y: f64) -> f64 {
    libm::hypot(x, y)
}

/// Error function.
#[inline]
pub fn erf(x: f64) -> f64 {
    libm::erf(x)
}

/// Complementary error function, relative accuracy down to the smallest normal number.
#[inline]
pub fn erfc(x: f64) -> f64 {
    libm::erfc(x)
}

/// Log-gamma function, ln |Γ(x)|.
#[inline]
pub fn lgamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// x·y as an unevaluated sum `(high, low)`, exact where nothing overflows or underflows.
///
/// Dekker's product: no fused multiply-add, which is slow where the target has none.
#[inline]
pub fn two_product(x: f64, y: f64) -> (f64, f64) {
    const SPLIT: f64 = 134_217_729.0; // 2²⁷ + 1
    let split = |v: f64| {
        let t = SPLIT * v;
        let high = t - (t - v);
        (high, v - high)
    };
    let product = x * y;
    let ((xh, xl), (yh, yl)) = (split(x), split(y));
    (product, ((xh * yh - product) + xh * yl + xl * yh) + xl * yl)
}

/// x + y as an unevaluated sum `(high, low)`, exact where nothing overflows.
#[inline]
pub fn two_sum(x: f64, y: f64) -> (f64, f64) {
    let sum = x + y;
    let seen = sum - x;
    (sum, (x - (sum - seen)) + (y - seen))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_stable() {
        assert_eq!(exp(-10.0).to_bits(), 0x3f07_cd79_b564_7c9a);
        assert_eq!(ln(10.0).to_bits(), 0x4002_6bb1_bbb5_5516);
        assert!((LN_SQRT_2PI - 0.5 * ln(std::f64::consts::TAU)).abs() < 2e-16);
    }

    #[test]
    fn powi_handles_signs_and_zero() {
        assert_eq!(powi(3.0, 5), 243.0);
        assert_eq!(powi(2.0, -2), 0.25);
        assert_eq!(powi(7.0, 0), 1.0);
    }

    #[test]
    fn two_product_returns_the_rounding_error() {
        // (2⁵² + 1)(2⁵² + 1) = 2¹⁰⁴ + 2⁵³ + 1
        let x = 4_503_599_627_370_497.0;
        let (high, low) = two_product(x, x);
        assert_eq!(high, 20_282_409_603_651_679_430_956_828_393_472.0);
        assert_eq!(low, 1.0);
        let (high, low) = two_sum(1e16, 1.0);
        assert_eq!((high, low), (1e16, 1.0));
    }
}

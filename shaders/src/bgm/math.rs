//! Elementary f32 functions of the scores, with the same operations in the same order as in WGSL.

/// (ln(1 + f) − f)/f² on [√½ − 1, √2 − 1]; `fit/polynomials.py`.
pub(crate) const LN: [f32; 8] = [
    -0.4999999,
    0.3333395,
    -0.25001755,
    0.19962072,
    -0.16570508,
    0.14917974,
    -0.14307523,
    0.08734844,
];
/// (2^f − 1)/f on [−½, ½].
#[expect(clippy::approx_constant, reason = "fitted, not ln 2")]
pub(crate) const EXP2: [f32; 5] = [0.693147, 0.24022242, 0.055507336, 0.009671513, 0.0013264727];

/// Bits of √½, the least mantissa of the range reduction.
const SQRT_HALF_BITS: u32 = 0x3f35_04f3;
/// 1.5·2²³: adding it rounds to an integer, which is then in the low bits.
pub(crate) const ROUNDER: f32 = 12_582_912.0;

/// 2²³: from here on every f32 is an integer.
pub(crate) const WHOLE: f32 = 8_388_608.0;

/// 2^t for t in [−126, 127].
#[inline(always)]
pub(crate) fn exp2(t: f32) -> f32 {
    let shifted = t + ROUNDER;
    let f = t - (shifted - ROUNDER);
    let p = EXP2[4];
    let p = p * f + EXP2[3];
    let p = p * f + EXP2[2];
    let p = p * f + EXP2[1];
    let p = p * f + EXP2[0];
    let p = p * f + 1.0;
    f32::from_bits(p.to_bits().wrapping_add(shifted.to_bits() << 23))
}

/// 2^t for t ≤ 127; 2⁻¹²⁶ below the range.
#[inline(always)]
pub(crate) fn exp2_from_below(t: f32) -> f32 {
    exp2(if t > -126.0 { t } else { -126.0 })
}

/// Exponent k and mantissa m in [√½, √2) of a normal x = 2^k·m.
#[inline(always)]
fn split(x: f32) -> (f32, f32) {
    let shifted = x.to_bits().wrapping_sub(SQRT_HALF_BITS);
    let mantissa = f32::from_bits((shifted & 0x007f_ffff) + SQRT_HALF_BITS);
    ((shifted as i32 >> 23) as f32, mantissa)
}

/// ln(2^k·(1 + f)) for f in [√½ − 1, √2 − 1].
#[inline(always)]
fn ln_of_parts(k: f32, f: f32) -> f32 {
    let p = LN[7];
    let p = p * f + LN[6];
    let p = p * f + LN[5];
    let p = p * f + LN[4];
    let p = p * f + LN[3];
    let p = p * f + LN[2];
    let p = p * f + LN[1];
    let p = p * f + LN[0];
    k * std::f32::consts::LN_2 + (f * f * p + f)
}

/// Natural logarithm of a positive normal number.
#[inline(always)]
pub(crate) fn ln(x: f32) -> f32 {
    let (k, m) = split(x);
    ln_of_parts(k, m - 1.0)
}

/// ln(1 + w), given w and u = 1 + w each to full relative accuracy; u > 0.
#[inline(always)]
pub(crate) fn ln_1p(w: f32, u: f32) -> f32 {
    let (k, m) = split(u);
    ln_of_parts(k, if k == 0.0 { w } else { m - 1.0 })
}

/// The nearest integer, ties to even, saturating to the range of i32.
#[inline(always)]
pub(crate) fn round_to_i32(x: f32) -> i32 {
    let size = x.abs();
    let rounded = if size < WHOLE { (size + WHOLE) - WHOLE } else { size };
    rounded.copysign(x) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Largest relative error of `f` against 2^t.
    fn worst_exp2(f: fn(f32) -> f32) -> f64 {
        let relative = |i: i32| {
            let t = i as f32 * (126.0 / 1_000_000.0);
            (f64::from(f(t)) / dpscope_core::math::exp2(f64::from(t)) - 1.0).abs()
        };
        (-1_000_000..=1_000_000).map(relative).fold(0.0, f64::max)
    }

    #[test]
    fn exp2_is_accurate() {
        assert!(worst_exp2(exp2) < 2.4e-7, "{:e}", worst_exp2(exp2));
        assert!(worst_exp2(|t| exp2(t) * 1.000_000_3) > 2.4e-7);
        assert_eq!(exp2(0.0), 1.0);
        assert_eq!(exp2(-126.0), f32::MIN_POSITIVE);
        assert_eq!(exp2(127.0), f32::MAX / 2.0 + 1.014_120_5e31);
    }

    /// Largest |error| ÷ |ln x| of `f`, over all binades and densely around 1.
    fn worst_ln(f: fn(f32) -> f32) -> f64 {
        let wide = (0x0080_0000..0x7f80_0000_u32).step_by(1013);
        let near = 0x3f7f_0000..0x3f80_8000_u32;
        let error = |bits| {
            let x = f32::from_bits(bits);
            let exact = dpscope_core::math::ln(f64::from(x));
            if exact == 0.0 { 0.0 } else { (f64::from(f(x)) / exact - 1.0).abs() }
        };
        wide.chain(near).map(error).fold(0.0, f64::max)
    }

    #[test]
    fn ln_is_accurate() {
        assert!(worst_ln(ln) < 2.5e-7, "{:e}", worst_ln(ln));
        assert!(worst_ln(|x| ln(x) + 1e-9) > 2.5e-7);
        assert_eq!(ln(1.0), 0.0);
    }

    /// Largest |error| ÷ |ln(1 + w)| of `f`(w, 1 + w).
    fn worst_ln_1p(f: fn(f32, f32) -> f32) -> f64 {
        let error = |i: i32| {
            let size = dpscope_core::math::exp2(f64::from(i) * 1e-3) as f32;
            let of = |w: f32| {
                let u = (1.0 + f64::from(w)) as f32;
                (f64::from(f(w, u)) / dpscope_core::math::ln_1p(f64::from(w)) - 1.0).abs()
            };
            of(size).max(if size < 1.0 { of(-size) } else { 0.0 })
        };
        (-90_000..90_000).map(error).fold(0.0, f64::max)
    }

    #[test]
    fn ln_1p_is_accurate() {
        assert!(worst_ln_1p(ln_1p) < 4e-7, "{:e}", worst_ln_1p(ln_1p));
        assert!(worst_ln_1p(|_, u| ln(u)) > 4e-7, "the logarithm of 1 + w");
    }

    #[test]
    fn rounds_half_to_even() {
        for (x, rounded) in [
            (0.5, 0),
            (1.5, 2),
            (2.5, 2),
            (-0.5, 0),
            (-1.5, -2),
            (-2.500_000_2, -3),
            (4_194_304.5, 4_194_304),
            (4_194_305.5, 4_194_306),
            (8_388_609.0, 8_388_609),
            (-1_073_741_824.0, -1_073_741_824),
            (1e30, i32::MAX),
        ] {
            assert_eq!(round_to_i32(x), rounded, "{x}");
        }
        let scattered = (0..1_000_000_u32).map(|i| f32::from_bits(i.wrapping_mul(2_654_435_761)));
        for x in scattered.filter(|x| x.is_finite()) {
            assert_eq!(round_to_i32(x), x.round_ties_even() as i32, "{x}");
        }
    }
}

//! Elementary functions of the scores in f32: the same operations in the same order in WGSL.

/// (ln(1 + f) − f)/f² on [√½ − 1, √2 − 1]; `fit/polynomials.py`.
const LN: [f32; 8] = [
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
const EXP2: [f32; 5] = [0.693147, 0.24022242, 0.055507336, 0.009671513, 0.0013264727];

/// Bits of √½, the least mantissa of the range reduction.
const SQRT_HALF_BITS: u32 = 0x3f35_04f3;
/// 1.5·2²³: adding it rounds to an integer, which then stands in the low bits.
const ROUNDER: f32 = 12_582_912.0;

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
    const WHOLE: f32 = 8_388_608.0; // 2²³: from here on every f32 is an integer
    let size = x.abs();
    let rounded = if size < WHOLE { (size + WHOLE) - WHOLE } else { size };
    rounded.copysign(x) as i32
}

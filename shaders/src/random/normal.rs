//! Standard normals from pairs of random words, by Box and Muller's transform in f32.

use crate::lanes::{LANES, Tile, lane_fn};

/// −2 ln(1 + f)/f on [√½ − 1, √2 − 1]; `fit/polynomials.py`, as are the others.
const RADIUS: [f32; 7] =
    [-2.000002, 1.0000223, -0.66629016, 0.49819487, -0.4099266, 0.3733571, -0.23792213];
/// sin(π/2·a)/a in a².
#[expect(clippy::approx_constant, reason = "fitted, not π/2")]
const SIN: [f32; 5] = [1.5707963, -0.6459634, 0.07968848, -0.004672228, 0.00015082056];
/// cos(π/2·a) in a².
const COS: [f32; 5] = [0.99999994, -1.2336982, 0.25365075, -0.020810628, 0.00085819064];

/// Bits of √½, the least mantissa of the range reduction.
const SQRT_HALF_BITS: u32 = 0x3f35_04f3;

/// The largest |normal| that can be drawn: √(−2 ln 2⁻³³) = 6.7637…, rounded up past the error.
pub const NORMAL_LIMIT: f64 = 6.765;

/// The square root of Box–Muller, correctly rounded here; a WGSL twin must imitate it.
#[inline(always)]
fn root(x: f32) -> f32 {
    x.sqrt()
}

/// −2 ln((w + ½)/2³²), ≥ 0.
#[inline(always)]
fn radius_squared(w: u32) -> f32 {
    let v = w as f32 + 0.5;
    let shifted = v.to_bits().wrapping_sub(SQRT_HALF_BITS + (32 << 23));
    let exponent = (shifted as i32 >> 23) as f32;
    let f = f32::from_bits((shifted & 0x007f_ffff) + SQRT_HALF_BITS) - 1.0;
    let p = RADIUS[6];
    let p = p * f + RADIUS[5];
    let p = p * f + RADIUS[4];
    let p = p * f + RADIUS[3];
    let p = p * f + RADIUS[2];
    let p = p * f + RADIUS[1];
    let p = p * f + RADIUS[0];
    p * f + exponent * (-2.0 * std::f32::consts::LN_2)
}

/// Two independent normals from two words.
#[inline(always)]
pub(crate) fn pair(w0: u32, w1: u32) -> (f32, f32) {
    let radius = root(radius_squared(w0));
    let signed = f32::from_bits(radius.to_bits() ^ (w1 & 0x8000_0000));
    let a = (w1 << 1) as i32 as f32 * (1.0 / 2_147_483_648.0);
    let t = a * a;
    let c = COS[4] * t + COS[3];
    let c = c * t + COS[2];
    let c = c * t + COS[1];
    let c = c * t + COS[0];
    let s = SIN[4] * t + SIN[3];
    let s = s * t + SIN[2];
    let s = s * t + SIN[1];
    let s = s * t + SIN[0];
    (signed * c, signed * (s * a))
}

#[inline(always)]
fn normals_body(words: &Tile<u32>, pairs: usize, z: &mut Tile<f32>) {
    for (w, z) in words.0.chunks_exact(2).zip(z.0.chunks_exact_mut(2)).take(pairs) {
        let ([w0, w1], [z0, z1]) = (w, z) else { return };
        for lane in 0..LANES {
            (z0[lane], z1[lane]) = pair(w0[lane], w1[lane]);
        }
    }
}

lane_fn! {
    /// The normals of the first `pairs` pairs of rows.
    pub(crate) fn normals(words: &Tile<u32>, pairs: usize, z: &mut Tile<f32>) = normals_body
}

//! Standard normals from pairs of random words, by Box and Muller's transform in f32.

use dpscope_core::random::chacha8::block;

use crate::lanes::{InstructionSet, LANES, ROWS, Tile, lane_fn};

/// −2 ln(1 + f)/f on [√½ − 1, √2 − 1]; `fit/polynomials.py`, as are the others.
pub(crate) const RADIUS: [f32; 7] =
    [-2.000002, 1.0000223, -0.66629016, 0.49819487, -0.4099266, 0.3733571, -0.23792213];
/// sin(π/2·a)/a in a².
#[expect(clippy::approx_constant, reason = "fitted, not π/2")]
pub(crate) const SIN: [f32; 5] = [1.5707963, -0.6459634, 0.07968848, -0.004672228, 0.00015082056];
/// cos(π/2·a) in a².
pub(crate) const COS: [f32; 5] = [0.99999994, -1.2336982, 0.25365075, -0.020810628, 0.00085819064];

/// Bits of √½, the least mantissa of the range reduction.
pub(crate) const SQRT_HALF_BITS: u32 = 0x3f35_04f3;

/// The largest |normal| that can be drawn: √(−2 ln 2⁻⁶⁵) = 9.4926…, rounded up past the error.
pub const NORMAL_LIMIT: f64 = 9.494;

/// Radius words below this one (one in 2²⁰) are extended by a second word: 32 bits alone give a
/// tail that is 3 % too thin at 6.4 and ends at 6.76, where a bound from 10¹² normals would see too
/// few false positives.
pub(crate) const DEEP: u32 = 1 << 12;

/// The square root of Box–Muller, correctly rounded here; a WGSL twin must imitate it.
#[inline(always)]
fn root(x: f32) -> f32 {
    x.sqrt()
}

/// −2 ln(v/2^bits), ≥ 0, for 0.5 ≤ v ≤ 2^bits.
#[inline(always)]
fn radius_squared(v: f32, bits: u32) -> f32 {
    let shifted = v.to_bits().wrapping_sub(SQRT_HALF_BITS + (bits << 23));
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
fn pair(w0: u32, w1: u32) -> (f32, f32) {
    on_circle(root(radius_squared(w0 as f32 + 0.5, 32)), w1)
}

/// Two independent normals from a radius word below [`DEEP`], its extension, and an angle word.
fn deep_pair(w0: u32, extension: u32, w1: u32) -> (f32, f32) {
    let v = w0 as f32 * 4_294_967_296.0 + (extension as f32 + 0.5);
    on_circle(root(radius_squared(v, 64)), w1)
}

/// The point at `radius` under the angle word `w1`.
#[inline(always)]
fn on_circle(radius: f32, w1: u32) -> (f32, f32) {
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
    /// The normals of the first `pairs` pairs of rows, without extension of small radius words.
    fn shallow_normals(words: &Tile<u32>, pairs: usize, z: &mut Tile<f32>) = normals_body
}

#[inline(always)]
fn least_radius_word_body(words: &Tile<u32>, pairs: usize, least: &mut u32) {
    let mut of_lane = [u32::MAX; LANES];
    for w0 in words.0.iter().step_by(2).take(pairs) {
        for lane in 0..LANES {
            of_lane[lane] = of_lane[lane].min(w0[lane]);
        }
    }
    *least = of_lane.iter().fold(u32::MAX, |least, &word| least.min(word));
}

lane_fn! {
    /// The least radius word in the first `pairs` pairs of rows.
    fn least_radius_word(words: &Tile<u32>, pairs: usize, least: &mut u32) = least_radius_word_body
}

/// Where a tile of words comes from.
#[derive(Clone, Copy)]
pub(crate) struct Origin<'a> {
    pub(crate) key: &'a [u32; 8],
    pub(crate) block: u64,
    pub(crate) stream: u64,
    pub(crate) lanes: Lanes,
}

/// What the lanes of a tile are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lanes {
    /// One block of the streams stream, stream + 2, …
    Streams,
    /// The blocks block, block + 1, … of one stream.
    Blocks,
}

impl Origin<'_> {
    /// The word that extends the radius word of a row and lane.
    fn extension(&self, row: usize, lane: usize) -> u32 {
        let (mut block, mut stream) = (self.block, self.stream);
        match self.lanes {
            Lanes::Streams => stream = stream.wrapping_add(2 * lane as u64),
            Lanes::Blocks => block = block.wrapping_add(lane as u64),
        }
        extension(self.key, stream, block * ROWS as u64 + row as u64)
    }
}

/// The normals of the first `pairs` pairs of rows.
pub(crate) fn normals(
    isa: InstructionSet,
    words: &Tile<u32>,
    pairs: usize,
    origin: Origin<'_>,
    z: &mut Tile<f32>,
) {
    shallow_normals(isa, words, pairs, z);
    let mut least = 0;
    least_radius_word(isa, words, pairs, &mut least);
    if least >= DEEP {
        return;
    }
    for lane in 0..LANES {
        for row in (0..2 * pairs).step_by(2).filter(|&row| words.0[row][lane] < DEEP) {
            let extension = origin.extension(row, lane);
            let (w0, w1) = (words.0[row][lane], words.0[row + 1][lane]);
            (z.0[row][lane], z.0[row + 1][lane]) = deep_pair(w0, extension, w1);
        }
    }
}

/// Two independent normals from a radius word, whose extension is requested where it is small, and
/// an angle word.
fn any_pair(w0: u32, w1: u32, extension: impl FnOnce() -> u32) -> [f32; 2] {
    <[f32; 2]>::from(if w0 < DEEP { deep_pair(w0, extension(), w1) } else { pair(w0, w1) })
}

/// The normals of words that start at an even position of a stream.
pub(crate) fn normals_of_stream(key: &[u32; 8], stream: u64, words: &[u32]) -> Vec<f32> {
    let pairs = words.chunks_exact(2).zip((0_u64..).step_by(2));
    let normals =
        |(w, position): (&[u32], u64)| any_pair(w[0], w[1], || extension(key, stream, position));
    pairs.flat_map(normals).collect()
}

/// The normals of pairs of words (radius, angle), as every kernel makes them.
///
/// A radius word below 2¹² is extended by the word at its place of `extensions`; the others are not
/// looked at. A last word without a partner is left out.
#[must_use]
pub fn normals_of_words(words: &[u32], extensions: &[u32]) -> Vec<f32> {
    let pairs = words.chunks_exact(2).zip(extensions.iter().step_by(2));
    pairs.flat_map(|(w, &extension)| any_pair(w[0], w[1], || extension)).collect()
}

/// The word that extends the radius word at `position`: the same position of the stream whose
/// purpose has its top bit set.
fn extension(key: &[u32; 8], stream: u64, position: u64) -> u32 {
    let mut key = *key;
    key[2] ^= 1 << 31;
    block(&key, position / 16, stream)[(position % 16) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::chacha8;
    use dpscope_core::random::{Purpose, stream_words};
    use std::f64::consts::{FRAC_PI_2, SQRT_2};

    type Transform = fn(u32, u32) -> (f32, f32);

    /// Words whose logarithms, mantissas and ends are all visited.
    fn grid() -> impl Iterator<Item = u32> {
        let ends = (0..3_000).flat_map(|i| [i, u32::MAX - i, (1 << 31) + i, (1 << 31) - i]);
        ends.chain((0..40_000_u32).map(|i| i.wrapping_mul(107_374_183) >> (i % 31)))
    }

    /// Largest error of a transform ÷ (5e-7 + 1.7e-7·r + 7e-8/r), against f64.
    fn worst_error(transform: Transform) -> f64 {
        let mut worst = 0.0_f64;
        for (i, w0) in grid().enumerate() {
            let w1 = (i as u32).wrapping_mul(0x9e37_79b9);
            let radius =
                (-2.0 * dpscope_core::math::ln((f64::from(w0) + 0.5) / 4_294_967_296.0)).sqrt();
            let angle = FRAC_PI_2 * f64::from((w1 << 1) as i32) / 2_147_483_648.0;
            let sign = if w1 >> 31 == 1 { -1.0 } else { 1.0 };
            let (z0, z1) = transform(w0, w1);
            let limit = 5e-7 + 1.7e-7 * radius + 7e-8 / radius;
            for (z, exact) in
                [(z0, dpscope_core::math::cos(angle)), (z1, dpscope_core::math::sin(angle))]
            {
                worst = worst.max((f64::from(z) - sign * radius * exact).abs() / limit);
            }
        }
        worst
    }

    #[test]
    fn normals_are_accurate() {
        let worst = worst_error(pair);
        assert!(worst < 1.0, "{worst}");
        assert!(worst > 0.3, "{worst}: the stated error is too loose");
        assert!(worst_error(|w0, w1| pair(w0 & !0xff, w1)) > 1.0, "24 bits");
        assert!(
            worst_error(|w0, w1| (pair(w0, w1).0 * 1.000_001, pair(w0, w1).1)) > 1.0,
            "x (1 + 1e-6)"
        );
    }

    #[test]
    fn normals_stay_below_the_limit() {
        for w1 in [0, 1, 1 << 30, 3 << 30, 1 << 31, u32::MAX] {
            let (z0, z1) = deep_pair(0, 0, w1);
            assert!(f64::from(z0.abs().max(z1.abs())) < NORMAL_LIMIT);
            let (z0, z1) = pair(u32::MAX, w1);
            assert!(z0.abs().max(z1.abs()) < 1e-3);
        }
        let farthest = f64::from(deep_pair(0, 0, 0).0);
        assert!(farthest < NORMAL_LIMIT && farthest > NORMAL_LIMIT - 0.002, "{farthest}");
    }

    /// Relative error of the number of 64-bit fractions whose radius exceeds `c`: 2⁶⁴·e^(−c²/2).
    fn tail_error(radius: impl Fn(u64) -> f32, c: f64) -> f64 {
        let (mut inside, mut outside) = (0_u64, u64::MAX);
        while outside - inside > 1 {
            let middle = inside + (outside - inside) / 2;
            let exceeds = f64::from(radius(middle)) > c;
            (inside, outside) = if exceeds { (middle, outside) } else { (inside, middle) };
        }
        let exact = 18_446_744_073_709_551_616.0 * dpscope_core::math::exp(-c * c / 2.0);
        outside as f64 / exact - 1.0
    }

    #[test]
    fn tails_are_normal_far_beyond_any_run() {
        let radius = |fraction: u64| {
            let (w0, extension) = ((fraction >> 32) as u32, fraction as u32);
            if w0 < DEEP { deep_pair(w0, extension, 0).0 } else { pair(w0, 0).0 }
        };
        let radii = [1.0, 3.0, 4.5, 5.2, 5.26, 5.27, 5.3, 5.8, 6.2, 6.7, 7.0, 8.0, 8.8];
        for c in radii {
            let error = tail_error(radius, c);
            // Half a step of the grid, and the rounding of f32.
            let steps = if c < 5.265 { 4_294_967_296.0 } else { 18_446_744_073_709_551_616.0 };
            let limit = 2e-5 + 0.6 / (steps * dpscope_core::math::exp(-c * c / 2.0));
            assert!(error.abs() < limit, "{c}: {error}");
        }
        let shallow = |fraction: u64| pair((fraction >> 32) as u32, 0).0;
        assert!(radii.iter().any(|&c| tail_error(shallow, c).abs() > 0.1), "32 bits");
        let cut = |fraction: u64| radius(fraction | 0xff_ffff_ffff); // 24 bits
        assert!(radii.iter().any(|&c| tail_error(cut, c).abs() > 0.1), "24 bits");
    }

    #[test]
    fn small_radius_words_are_extended_in_both_generators() {
        let key = dpscope_core::random::key(3, Purpose::Test);
        let mut extended = 0;
        let mut scratch = Tile([[0.0; LANES]; ROWS]);
        for block in 0..400 {
            let mut words = Tile([[0; LANES]; ROWS]);
            chacha8::blocks(InstructionSet::PORTABLE, &key, block, 6, &mut words);
            // One word in 2²⁰ is too rare for a test: make some small.
            words.0[(block % 8 * 2) as usize][(block % 64) as usize] %= DEEP;
            let origin = Origin { key: &key, block, stream: 6, lanes: Lanes::Streams };
            for isa in InstructionSet::available() {
                normals(isa, &words, 8, origin, &mut scratch);
                let lane = (block % 64) as usize;
                let column: Vec<u32> = words.0.iter().map(|row| row[lane]).collect();
                let row = (block % 8 * 2) as usize;
                let position = block * 16 + row as u64;
                let extension = extension(&key, 6 + 2 * lane as u64, position);
                let expected = deep_pair(column[row], extension, column[row + 1]);
                assert_eq!((scratch.0[row][lane], scratch.0[row + 1][lane]), expected);
                extended += usize::from(expected != pair(column[row], column[row + 1]));
            }
        }
        assert!(extended > 300, "{extended}");
    }

    /// Deviations of moments and products from a normal distribution, in standard errors, and χ²
    /// over 64 quantile cells in standard deviations.
    fn worst_deviation(normals: &[f32]) -> f64 {
        let n = normals.len() as f64;
        let z = |i: usize| f64::from(normals[i]);
        let mean = |f: &dyn Fn(usize) -> f64, span: usize| {
            (0..normals.len() - span).map(f).sum::<f64>() / (n - span as f64)
        };
        let checks = [
            (mean(&z, 0), 0.0, 1.0),
            (mean(&|i| z(i) * z(i), 0), 1.0, 2.0),
            (mean(&|i| z(i) * z(i) * z(i), 0), 0.0, 15.0),
            (mean(&|i| dpscope_core::math::powf(z(i), 4.0), 0), 3.0, 96.0),
            (mean(&|i| z(i) * z(i + 1), 1), 0.0, 1.0),
            (mean(&|i| z(i) * z(i + 2), 2), 0.0, 1.0),
            (mean(&|i| z(i) * z(i) * z(i + 1) * z(i + 1), 1), 1.0, 12.0),
            (mean(&|i| (z(i) * z(i + 1)).abs(), 1), 2.0 / std::f64::consts::PI, 0.6),
        ];
        let mut cells = [0.0_f64; 64];
        for i in 0..normals.len() {
            let cell = 32.0 * dpscope_core::math::erfc(-z(i) / SQRT_2);
            cells[(cell as usize).min(63)] += 1.0;
        }
        let expected = n / 64.0;
        let chi = cells.iter().map(|c| (c - expected) * (c - expected) / expected).sum::<f64>();
        checks
            .iter()
            .map(|(value, truth, variance)| (value - truth).abs() / (variance / n).sqrt())
            .fold((chi - 63.0) / 126.0_f64.sqrt(), f64::max)
    }

    fn draw(transform: Transform) -> Vec<f32> {
        let mut words = vec![0; 1 << 20];
        stream_words(3, Purpose::Test, 9, 0, &mut words);
        words.chunks_exact(2).flat_map(|w| <[f32; 2]>::from(transform(w[0], w[1]))).collect()
    }

    #[test]
    fn normals_are_standard_normal() {
        let good = worst_deviation(&draw(pair));
        assert!(good < 5.0, "{good}");
        let mut reused = draw(pair);
        for pair in reused.chunks_exact_mut(4) {
            pair.copy_within(0..2, 2);
        }
        let twins = [
            ("half-range radius", draw(|w0, w1| pair(w0 >> 1, w1))),
            ("half-range angle", draw(|w0, w1| pair(w0, w1 & !(1 << 31)))),
            ("one word for both", draw(|w0, _| pair(w0, w0))),
            ("pair reused", reused),
            ("noise x 0.99", draw(|w0, w1| (pair(w0, w1).0 * 0.99, pair(w0, w1).1 * 0.99))),
        ];
        for (name, normals) in twins {
            assert!(worst_deviation(&normals) > 5.0, "{name}");
        }
    }
}

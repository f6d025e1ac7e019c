//! Error bound for the kernel's draws relative to draws from exact normals.
//!
//! The words of an epoch represent exact normals: u uniform on the cell of a radius word (and of
//! its extension), the angle uniform around that of an angle word. These are independent and N(0,
//! 1), and the kernel's normals are within [`normal_error`] of them wherever the radius word is
//! among
//! `RADIUS_WORDS`. A draw with another radius word is marked, and counts as 0 in a limit. All f32
//! operations of the twin, and of a GPU in exact mode, round to nearest: U = 2⁻²⁴ relative.

use super::draws::{PairKernel, SPAN_BITS};
use crate::bgm::additions;
use dpscope_core::accounting::pair::{DrawError, Shift};
use dpscope_core::math::{exp_m1, ln};
use std::f64::consts::LN_2;

/// Half a unit in the last place of an f32.
const U: f64 = 5.960_464_477_539_063e-8;

/// Relative error of 2^t (`shaders/src/bgm/math.rs::exp2_is_accurate`).
const EXP2: f64 = 2.4e-7;

/// √(2·2⁻¹⁸), rounded down: the least radius of the radius words that are not marked.
const MIN_RADIUS: f64 = 2.762e-3;

/// √(−2 ln 2⁻³²), rounded up: their largest radius.
const MAX_RADIUS: f64 = 6.67;

/// Error bound for a normal of the kernel relative to the exact normal of the same words.
///
/// What [`stream_normals`](crate::random::stream_normals) states of the words' middles, and the
/// width of their cells: |dr| = |du|/(u r) is at most 2⁻³³/(2⁻²⁰·5.265) < 2.3e-5 where a radius
/// word is not extended, less where it is; half a step of the angle is below 8e-10.
fn normal_error() -> f64 {
    let twin = 5e-7 + 1.7e-7 * MAX_RADIUS + 7e-8 / MIN_RADIUS;
    twin + 2.3e-5 + 8e-10 * MAX_RADIUS
}

impl PairKernel {
    /// Error bound for draws relative to exact normals represented by the same random words.
    ///
    /// With A the error of a normal, an output's is σA′, A′ = A + 2U(r + b/σ) with the shift of
    /// another slot. L's gradient is (2p − q)/σ² with p and q softmax distributions, so that errors
    /// of outputs move it by at most 3A′/σ. Each sum of powers has the relative error of
    ///
    /// - exponents: 3 operations, on |t| of mean at most ln(T) + 60 ln 2 under the sum's softmax
    ///   distribution;
    /// - 2^t, twice where it is squared;
    /// - moves of the centre, each by 60 bits at least: a power and a product;
    /// - additions.
    ///
    /// One over the weight is a mean of densities over P₁'s; each has the error of its exponent,
    /// and the components' probabilities are rounded to 2⁻³².
    ///
    /// # Guarantee
    /// Satisfied by the twin relative to an f64 computation with the same words
    /// (`tests/agreement/pair.rs::draws_are_within_the_derived_error`), and normals by exact ones
    /// anywhere in the cells of their words (`unit::normals_are_within_their_error`).
    #[must_use]
    pub fn error(&self) -> DrawError {
        let proposal = self.proposal();
        let (sigma, b) = (proposal.noise_multiplier(), proposal.other_shift());
        let steps = proposal.steps_per_epoch() as f64;
        let normal = normal_error();
        let output = normal + 2.0 * U * (MAX_RADIUS + b / sigma);
        let powers = b.max(2.0);
        let range = (2.0 * MAX_RADIUS + b / sigma) * powers / sigma;
        let moves = 1.0 + range / (SPAN_BITS * LN_2);
        let additions = U * (1.0 + additions(proposal.steps_per_epoch() as u32));
        let sum = 2.0 * EXP2
            + U
            + 3.0 * U * (ln(steps) + SPAN_BITS * LN_2)
            + moves * (2.0 * EXP2 + 2.0 * U)
            + 3.0 * U * range
            + additions;
        let total = sigma * steps * (output + additions * (MAX_RADIUS + b / sigma));
        let exponent = |shift| match shift {
            Shift::None => 0.0,
            Shift::Target(a) => f64::abs(a) * normal / sigma,
            Shift::Other(_) => b * output / sigma + sum,
            Shift::All(c) => f64::abs(c) * total / (sigma * sigma),
        };
        let components = proposal.components();
        let largest = components.iter().map(|c| exponent(c.shift)).fold(0.0, f64::max);
        let least = components.iter().map(|c| c.probability).fold(1.0, f64::min);
        // second order, and f64
        DrawError {
            loss: 1.001 * (3.0 * output / sigma + 2.0 * sum) + 1e-9,
            weight: exp_m1(1.001 * largest) + 4.7e-10 / least + 1e-9,
            maximum: 1.001 * sigma * output,
            total: 1.001 * total,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::draws::RADIUS_WORDS;
    use super::*;
    use crate::random::normals_of_words;
    use std::f64::consts::FRAC_PI_2;

    /// Largest error of normals over the stated one, at the ends of the cells of their words.
    fn worst(words: impl Iterator<Item = u32>, noise: f64) -> f64 {
        let mut worst = 0.0_f64;
        for (i, w0) in words.enumerate() {
            let w1 = (i as u32).wrapping_mul(0x9e37_79b9);
            let extension = (i as u32).wrapping_mul(0x85eb_ca6b);
            let z = normals_of_words(&[w0, w1], &[extension, 0]);
            let (word, bits) = if w0 < 1 << 12 {
                (f64::from(w0) * 4_294_967_296.0 + f64::from(extension), 64)
            } else {
                (f64::from(w0), 32)
            };
            let sign = if w1 >> 31 == 1 { -1.0 } else { 1.0 };
            for (end, turn) in [(0.0, -0.5), (0.0, 0.5), (1.0, -0.5), (1.0, 0.5)] {
                let ln_u = ln(word + end) - f64::from(bits) * LN_2;
                let radius = (-2.0 * ln_u).max(0.0).sqrt();
                let step = f64::from((w1 << 1) as i32) + 2.0 * turn;
                let angle = FRAC_PI_2 * step / 2_147_483_648.0;
                let exact = [dpscope_core::math::cos(angle), dpscope_core::math::sin(angle)];
                for (z, exact) in z.iter().zip(exact) {
                    worst = worst.max((noise * f64::from(*z) - sign * radius * exact).abs());
                }
            }
        }
        worst / normal_error()
    }

    #[test]
    fn normals_are_within_their_error() {
        let words = || {
            let last = *RADIUS_WORDS.end();
            let ends = (1..5_000).flat_map(move |i| [i, last - i, last]);
            ends.chain((0..200_000_u32).map(|i| i.wrapping_mul(107_374_183) >> (i % 31)))
                .filter(|word| RADIUS_WORDS.contains(word))
        };
        let good = worst(words(), 1.0);
        assert!(good < 1.0 && good > 0.2, "{good}");
        assert!(worst(words(), 1.0001) > 1.0, "noise x 1.0001");
        assert!(worst((0..4_000).map(|i| u32::MAX - i), 1.0) > 1.0, "the last radius words");
        assert!(worst(std::iter::once(0), 1.0) > 1.0, "the first radius word");
    }
}

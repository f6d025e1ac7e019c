//! Words and normals of the random stream over lanes; the stream itself is that of
//! [`dpscope_core::random`].

pub(crate) mod chacha8;
pub(crate) mod normal;
mod vector;

use dpscope_core::random::{Purpose, key, stream_words};

pub use normal::{NORMAL_LIMIT, normals_of_words};
pub use vector::{VectorNormals, entry_word};

/// The first `count` standard normals of a stream, as drawn by every kernel.
///
/// Normals 2j and 2j + 1 come from words 2j and 2j + 1: with u = (w₂ⱼ + ½)/2³² and an angle θ on
/// [−π/2, π/2) from 31 bits of w₂ⱼ₊₁, whose top bit is a sign s,
///
/// z₂ⱼ = s·√(−2 ln u)·cos θ,  z₂ⱼ₊₁ = s·√(−2 ln u)·sin θ
///
/// Where w₂ⱼ < 2¹², u = (w₂ⱼ·2³² + e + ½)/2⁶⁴ with the word e at position 2j of the stream whose
/// purpose has its top bit set.
///
/// # Numerics
/// f32; with r = √(−2 ln u), absolute error of a normal below 5e-7 + 1.7e-7·r + 7e-8/r, the last
/// term from the rounding of u near 1 (`normals_are_accurate`); 1.4e-7 in the root mean square.
/// |z| < [`NORMAL_LIMIT`]. The same bits on every instruction set.
///
/// # Guarantee
/// Moments, quantiles, independence within and between pairs, and tails to 8.8
/// (`shaders/src/random/normal.rs::normals_are_standard_normal`,
/// `shaders/src/random/normal.rs::tails_are_normal_far_beyond_any_run`).
///
/// # Reference
/// G. E. P. Box and M. E. Muller, "A note on the generation of random normal deviates" (1958).
#[must_use]
pub fn stream_normals(seed: u64, purpose: Purpose, stream: u64, count: usize) -> Vec<f32> {
    let mut words = vec![0; count.next_multiple_of(2)];
    stream_words(seed, purpose, stream, 0, &mut words);
    let mut normals = normal::normals_of_stream(&key(seed, purpose), stream, &words);
    normals.truncate(count);
    normals
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::{InstructionSet, LANES, Tile};

    /// Seeds, streams and positions with all kinds of bit patterns.
    fn cases() -> impl Iterator<Item = (u64, u64, u64)> {
        let spread = |i: u64, odd: u64| (i + 1).wrapping_mul(odd) >> (i % 61);
        (0..500).map(move |i| {
            let position = spread(i, 0xd6e8_feb8_6659_fd93) >> (i % 7 * 8);
            (spread(i, 0x9e37_79b9_7f4a_7c15), spread(i, 0xc2b2_ae3d_27d4_eb4f), position)
        })
    }

    #[test]
    fn lanes_contain_consecutive_observations() {
        for isa in InstructionSet::available() {
            let carry = (1, u64::from(u32::MAX) - 60, 5);
            for (seed, stream, position) in cases().take(60).chain([carry]) {
                let mut tile = Tile::new();
                let key = key(seed, Purpose::AuditNoise);
                chacha8::blocks(isa, &key, position / 16, stream, &mut tile);
                for lane in 0..LANES {
                    let at = stream.wrapping_add(2 * lane as u64);
                    let mut words = [0; 16];
                    stream_words(seed, Purpose::AuditNoise, at, position / 16 * 16, &mut words);
                    assert!((0..16).all(|i| tile.0[i][lane] == words[i]), "{isa:?} {lane}");
                }
            }
        }
    }

    #[test]
    fn normals_are_stable() {
        let bits: Vec<u32> =
            stream_normals(20_261_121, Purpose::Test, 5, 3).iter().map(|z| z.to_bits()).collect();
        assert_eq!(bits, [1_034_580_987, 3_215_523_793, 3_210_402_466]);
    }
}

//! The words of one stream in sequence.

use std::convert::Infallible;

use rand_core::{TryRng, utils};

use super::{Purpose, stream_words};
use crate::math;

/// Words per block.
const BLOCK: usize = 64;

/// A sequential generator of the words of a stream, for algorithms that need a variable number of
/// words.
///
/// The traits of `rand` ([`rand_core::Rng`]) draw the same words, so its algorithms apply. Audits use
/// the methods below instead: their draws must not change with a version of `rand`.
///
/// # Guarantee
/// The words equal those of [`stream_words`] (`unit::words_are_those_of_the_stream`), also through
/// `rand` (`unit::rand_draws_the_same_words`).
///
/// # Example
/// ```
/// use dpscope_core::random::{Purpose, Words};
/// use rand::RngExt;
///
/// let mut words = Words::new(7, Purpose::Test, 0);
/// assert_eq!(words.random_range(1..=6), 2);
/// ```
#[derive(Debug, Clone)]
pub struct Words {
    seed: u64,
    purpose: Purpose,
    stream: u64,
    block: [u32; BLOCK],
    used: usize,
    next: u64,
}

impl Words {
    /// A generator from the first word of a stream.
    #[must_use]
    pub fn new(seed: u64, purpose: Purpose, stream: u64) -> Self {
        Words::from_word(seed, purpose, stream, 0)
    }

    /// A generator from word `first` of a stream.
    #[must_use]
    pub fn from_word(seed: u64, purpose: Purpose, stream: u64, first: u64) -> Self {
        Words { seed, purpose, stream, block: [0; BLOCK], used: BLOCK, next: first }
    }

    /// The next word.
    #[inline]
    pub fn next_word(&mut self) -> u32 {
        if self.used == BLOCK {
            let Words { seed, purpose, stream, next, .. } = *self;
            stream_words(seed, purpose, stream, next, &mut self.block);
            self.next = next.wrapping_add(BLOCK as u64);
            self.used = 0;
        }
        self.used += 1;
        self.block[self.used - 1]
    }

    /// Uniform on (0, 1), in the middle of one of 2³² cells.
    pub fn uniform(&mut self) -> f64 {
        (f64::from(self.next_word()) + 0.5) / 4_294_967_296.0
    }

    /// A standard normal number, by the Box–Muller transform of two words.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * math::ln(self.uniform())).sqrt();
        radius * math::cos(std::f64::consts::TAU * self.uniform())
    }

    /// A uniform number below `count` ≥ 1, by rejection of words beyond the last multiple of
    /// `count`.
    ///
    /// # Guarantee
    /// All numbers have the same probability (`unit::numbers_below_a_count_are_uniform`).
    pub fn below(&mut self, count: u32) -> u32 {
        let count = count.max(1);
        let beyond = (u32::MAX % count + 1) % count;
        loop {
            let word = self.next_word();
            if word <= u32::MAX - beyond {
                return word % count;
            }
        }
    }

    /// Shuffles `items` uniformly (Fisher–Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u32 + 1) as usize);
        }
    }
}

impl TryRng for Words {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.next_word())
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        utils::next_u64_via_u32(self)
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        utils::fill_bytes_via_next_word(out, || Ok(self.next_word()))
    }
}

#[cfg(test)]
mod tests {
    use rand_core::Rng;

    use super::*;

    const DRAWS: u32 = 20_000;

    /// Standard deviations beyond which a count is not by chance: once in 10⁷.
    const FAR: f64 = 5.3;

    /// Distance of a count from its expectation, in standard deviations.
    fn distance(count: u32, chance: f64) -> f64 {
        let expected = chance * f64::from(DRAWS);
        (f64::from(count) - expected).abs() / (expected * (1.0 - chance)).sqrt()
    }

    #[test]
    fn words_are_those_of_the_stream() {
        for first in [0, 5, 1 << 48, u64::MAX - 1000] {
            let mut expected = [0; 3 * BLOCK];
            stream_words(3, Purpose::Test, 9, first, &mut expected);
            let mut words = Words::from_word(3, Purpose::Test, 9, first);
            assert!(expected.iter().all(|word| words.next_word() == *word), "{first}");
            let mut other = Words::from_word(3, Purpose::Test, 9, first ^ 1);
            assert!(expected.iter().any(|word| other.next_word() != *word));
        }
        let mut words = Words::new(3, Purpose::Test, 9);
        let mut uniforms = Words::new(3, Purpose::Test, 9);
        for _ in 0..100 {
            let expected = (f64::from(words.next_word()) + 0.5) / 4_294_967_296.0;
            assert_eq!(uniforms.uniform(), expected);
        }
    }

    #[test]
    fn rand_draws_the_same_words() {
        let start = || Words::new(3, Purpose::Test, 9);
        let (mut words, mut rand) = (start(), start());
        let [first, second, third, fourth] = [(); 4].map(|()| words.next_word());
        assert_eq!(rand.next_u32(), first);
        assert_eq!(rand.next_u64(), u64::from(third) << 32 | u64::from(second));
        let mut bytes = [0; 4];
        rand.fill_bytes(&mut bytes);
        assert_eq!(u32::from_le_bytes(bytes), fourth);
    }

    #[test]
    fn numbers_below_a_count_are_uniform() {
        let mut words = Words::new(3, Purpose::Test, 0);
        let mut counts = [0_u32; 7];
        (0..DRAWS * 7).for_each(|_| counts[words.below(7) as usize] += 1);
        for count in counts {
            let chance = 1.0 / 7.0;
            let expected = f64::from(DRAWS);
            let spread = (7.0 * expected * chance * (1.0 - chance)).sqrt();
            assert!((f64::from(count) - expected).abs() < FAR * spread, "{counts:?}");
        }
        // of 2³² words, 3·2³⁰ is the largest multiple: one in four is drawn anew
        let (mut plain, mut fair) = ([0_u32; 3], [0_u32; 3]);
        for _ in 0..DRAWS {
            let word = words.next_word();
            plain[(word % 3_221_225_472 / 1_073_741_824) as usize] += 1;
            fair[(words.below(3_221_225_472) / 1_073_741_824) as usize] += 1;
        }
        assert!(distance(fair[0], 1.0 / 3.0) < FAR && distance(plain[0], 1.0 / 3.0) > FAR);
    }
}

//! Draws from the common random stream for data that are identical on every machine.

use dpscope_core::random::{Purpose, Words};

/// Seed of all synthetic data.
const SEED: u64 = 0;

/// Purpose of a stream. Different parts share no random words.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part {
    /// Parameters of the distribution, shared by all records.
    Distribution = 0,
    /// Training records.
    Record = 1,
    /// Held-out records.
    HeldOut = 2,
    /// Record orders.
    Order = 3,
}

/// Random numbers from one stream, in order.
#[derive(Debug)]
pub(super) struct Draws(Words);

impl Draws {
    /// Stream `index` of a part of data set `set`.
    pub(super) fn new(set: u8, part: Part, index: u64) -> Self {
        let stream = u64::from(set) << 56 | (part as u64) << 48 | index;
        Draws(Words::new(SEED, Purpose::SyntheticData, stream))
    }

    pub(super) fn word(&mut self) -> u32 {
        self.0.next_word()
    }

    /// Uniform on (0, 1): the midpoint of one of 2³² cells.
    pub(super) fn uniform(&mut self) -> f64 {
        self.0.uniform()
    }

    /// Uniform on [low, high].
    pub(super) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// Approximately standard normal, and cheap: the centred sum of the four bytes of a word,
    /// scaled to variance 1.
    pub(super) fn jitter(&mut self) -> f64 {
        let sum: u32 = self.word().to_le_bytes().into_iter().map(u32::from).sum();
        (f64::from(sum) - 510.0) * (1.0 / 147.800_766_8)
    }

    /// Standard normal.
    pub(super) fn normal(&mut self) -> f64 {
        self.0.normal()
    }

    pub(super) fn chance(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    /// Uniform on 0..`count`, with bias at most `count`/2³².
    pub(super) fn below(&mut self, count: usize) -> usize {
        ((u128::from(self.word()) * count as u128) >> 32) as usize
    }
}

/// The records 0..`count` in a random order that depends on `count` only: a Fisher–Yates shuffle,
/// from the last position to the first.
pub(super) fn fixed_order(count: usize) -> Vec<u32> {
    let mut draws = Draws::new(0, Part::Order, count as u64);
    let mut order: Vec<u32> = (0..count as u32).collect();
    for position in (1..count).rev() {
        order.swap(position, draws.below(position + 1));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpscope_core::random::stream_words;

    #[test]
    fn draws_have_the_expected_moments_and_stable_values() {
        let moments = |draw: &mut dyn FnMut() -> f64| {
            let values: Vec<f64> = (0..40_000).map(|_| draw()).collect();
            let mean = values.iter().sum::<f64>() / 4e4;
            (mean, values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / 4e4)
        };
        let near = |(mean, variance): (f64, f64), expected: (f64, f64)| {
            (mean - expected.0).abs() < 5.0 * (expected.1 / 4e4).sqrt()
                && (variance / expected.1 - 1.0).abs() < 5.0 * (2.0 / 4e4_f64).sqrt()
        };
        let mut draws = Draws::new(9, Part::Distribution, 1);
        assert!(near(moments(&mut || draws.normal()), (0.0, 1.0)));
        assert!(near(moments(&mut || draws.jitter()), (0.0, 1.0)));
        assert!(near(moments(&mut || draws.between(2.0, 5.0)), (3.5, 0.75)));
        assert!(!near(moments(&mut || 0.9 * draws.normal()), (0.0, 1.0)));
        let mut draws = Draws::new(9, Part::Distribution, 1);
        let words: Vec<u32> = (0..70).map(|_| draws.word()).collect();
        let mut expected = [0; 70];
        stream_words(SEED, Purpose::SyntheticData, 9 << 56 | 1, 0, &mut expected);
        assert_eq!(words, expected);
    }

    #[test]
    fn fixed_orders_are_random_permutations() {
        let order = fixed_order(1000);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..1000).collect::<Vec<u32>>());
        let moved = |order: &[u32]| {
            let from_first_half = order[..500].iter().filter(|&&record| record < 500).count();
            (200..300).contains(&from_first_half)
        };
        assert!(moved(&order) && !moved(&sorted));
        assert!(fixed_order(0).is_empty());
        assert_ne!(fixed_order(1001)[..100], order[..100]);
    }
}

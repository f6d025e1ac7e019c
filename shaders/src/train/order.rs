//! Pseudorandom permutations that are computed entry by entry.

use dpscope_core::random::{Purpose, stream_words};

/// Number of double rounds.
const PASSES: usize = 4;

/// A pseudorandom permutation of 0 … n − 1 from eight key words.
///
/// A Feistel network of eight rounds on 2h bits, 2^{2h} the smallest even power of two ≥ n and ≥
/// 256; values ≥ n are permuted again (cycle walking). A round adds to one half the top bits of
/// μ(other half + key), with the 32-bit mixer μ of two multiplications. An entry takes 1 to 4
/// iterations on average if n > 64: 1.64 for n = 10,000.
///
/// # Guarantee
/// A permutation for each key (`unit::every_order_is_a_permutation`) with its inverse
/// (`unit::position_of_inverts_at`). Entries and pairs are distributed as in an exact shuffle
/// (`unit::entries_and_pairs_are_distributed_as_in_an_exact_shuffle`).
///
/// # Reference
/// M. Luby and C. Rackoff (1988) for the rounds; J. Black and P. Rogaway (2002) for domains whose
/// size is not a power of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    count: u32,
    half_bits: u32,
    keys: [u32; 2 * PASSES],
}

impl Order {
    /// Maximum number of entries.
    pub const MAX_COUNT: u32 = 1 << 30;

    /// Random words per order.
    pub const WORDS: u64 = 2 * PASSES as u64;

    /// Order `index` of a stream.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `seed` | the run's seed | any |
    /// | `stream` | 2·run + world | any |
    /// | `index` | index of the order, for example the epoch | any |
    /// | `count` | n | 1 to [`MAX_COUNT`](Self::MAX_COUNT); larger values are reduced to it |
    #[must_use]
    pub fn new(seed: u64, stream: u64, index: u64, count: u32) -> Self {
        let mut keys = [0; 2 * PASSES];
        stream_words(seed, Purpose::TrainOrder, stream, index * Self::WORDS, &mut keys);
        Order::of_keys(keys, count)
    }

    fn of_keys(keys: [u32; 2 * PASSES], count: u32) -> Self {
        let count = count.clamp(1, Self::MAX_COUNT);
        let bits = u32::BITS - (count - 1).leading_zeros();
        Order { count, half_bits: bits.div_ceil(2).max(4), keys }
    }

    /// Entry at `position`, which must be below the number of entries; larger positions are
    /// reduced to the last.
    #[must_use]
    pub fn at(&self, position: u32) -> u32 {
        let mut value = position.min(self.count - 1);
        loop {
            value = self.forward(value);
            if value < self.count {
                return value;
            }
        }
    }

    /// Position of `record`, which must be below the number of entries; larger records are reduced
    /// to the last.
    #[must_use]
    pub fn position_of(&self, record: u32) -> u32 {
        let mut value = record.min(self.count - 1);
        loop {
            value = self.inverse(value);
            if value < self.count {
                return value;
            }
        }
    }

    fn forward(&self, value: u32) -> u32 {
        let mask = (1 << self.half_bits) - 1;
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        for keys in self.keys.chunks_exact(2) {
            left = (left + self.round(right, keys[0])) & mask;
            right = (right + self.round(left, keys[1])) & mask;
        }
        left << self.half_bits | right
    }

    /// The inverse of [`Order::forward`].
    fn inverse(&self, value: u32) -> u32 {
        let mask = (1 << self.half_bits) - 1;
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        for keys in self.keys.rchunks_exact(2) {
            right = right.wrapping_sub(self.round(left, keys[1])) & mask;
            left = left.wrapping_sub(self.round(right, keys[0])) & mask;
        }
        left << self.half_bits | right
    }

    fn round(&self, half: u32, key: u32) -> u32 {
        mix(half.wrapping_add(key)) >> (32 - self.half_bits)
    }
}

/// A bijection of words in which each output bit depends on all input bits.
const fn mix(word: u32) -> u32 {
    let word = (word ^ (word >> 16)).wrapping_mul(0x21f0_aaad);
    let word = (word ^ (word >> 15)).wrapping_mul(0x735a_2d97);
    word ^ (word >> 15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_is_a_permutation() {
        for count in [1, 2, 3, 16, 17, 255, 256, 257, 10_000, 65_537] {
            for index in 0..4 {
                let order = Order::new(5, 9, index, count);
                let mut seen: Vec<u32> = (0..count).map(|place| order.at(place)).collect();
                seen.sort_unstable();
                assert!(seen.into_iter().eq(0..count), "{count}");
            }
        }
        assert_eq!(Order::new(5, 9, 0, 3).at(7), Order::new(5, 9, 0, 3).at(2));
    }

    #[test]
    fn position_of_inverts_at() {
        for count in [1, 2, 3, 16, 17, 257, 10_000, 65_537, Order::MAX_COUNT] {
            let order = Order::new(5, 9, 3, count);
            let records = (0..count).step_by((count as usize / 5_000).max(1));
            let wrong = |&record: &u32| order.at(order.position_of(record)) != record;
            assert_eq!(records.clone().find(wrong), None, "{count}");
            // negative control: positions in another order
            let other = Order::new(5, 9, 4, count);
            let same = records
                .clone()
                .filter(|&record| other.position_of(record) == order.position_of(record));
            assert!(count < 16 || same.count() < 12, "{count}");
        }
        assert_eq!(Order::new(5, 9, 0, 3).position_of(7), Order::new(5, 9, 0, 3).position_of(2));
    }

    #[test]
    fn values_are_stable() {
        let order = Order::new(20_261_121, 3, 1, 10_000);
        assert_eq!([0, 1, 9_999].map(|place| order.at(place)), [3_108, 6_435, 6_666]);
        assert_ne!(order, Order::new(20_261_121, 2, 1, 10_000));
        assert_ne!(order, Order::new(20_261_121, 3, 2, 10_000));
        assert_ne!(order, Order::new(20_261_120, 3, 1, 10_000));
    }

    /// χ² in standard deviations of where record 0 falls and of how far record 1 falls behind it,
    /// in
    /// `cells` cells each, over `draws` orders of `count`.
    fn worst_deviation(count: u32, cells: u32, draws: u64, order: impl Fn(u64) -> Order) -> f64 {
        let mut counts = [vec![0.0; cells as usize], vec![0.0; cells as usize]];
        for draw in 0..draws {
            let order = order(draw);
            let (first, second) = (order.at(0), order.at(1));
            let behind = (second + count - first - 1) % count; // below count − 1
            counts[0][(u64::from(first) * u64::from(cells) / u64::from(count)) as usize] += 1.0;
            counts[1][(u64::from(behind) * u64::from(cells) / u64::from(count - 1)) as usize] +=
                1.0;
        }
        let expected = |total: u32, cell: u32| {
            let (from, end) =
                (u64::from(total) * u64::from(cell), u64::from(total) * u64::from(cell + 1));
            let places = end.div_ceil(u64::from(cells)) - from.div_ceil(u64::from(cells));
            draws as f64 * places as f64 / f64::from(total)
        };
        let deviation = |counts: &[f64], total: u32| {
            let square = |(cell, seen): (usize, &f64)| {
                let expected = expected(total, cell as u32);
                (seen - expected) * (seen - expected) / expected
            };
            let freedom = f64::from(cells - 1);
            (counts.iter().enumerate().map(square).sum::<f64>() - freedom) / (2.0 * freedom).sqrt()
        };
        deviation(&counts[0], count).max(deviation(&counts[1], count - 1))
    }

    #[test]
    fn entries_and_pairs_are_distributed_as_in_an_exact_shuffle() {
        for (count, cells) in [(2, 1), (5, 4), (100, 50), (257, 64), (10_000, 100)] {
            let cells = cells.max(2).min(count - 1).max(1);
            if cells < 2 {
                continue;
            }
            let fresh = |draw| Order::new(1, draw, 0, count);
            let worst = worst_deviation(count, cells, 40_000, fresh);
            assert!(worst < 5.0, "{count}: {worst}");
            // negative controls: few orders, and a single round
            let few =
                worst_deviation(count, cells, 40_000, |draw| Order::new(1, draw % 300, 0, count));
            assert!(few > 5.0, "{count}: {few}");
        }
        let weak = |draw: u64| {
            let Order { keys, .. } = Order::new(1, draw, 0, 10_000);
            Order::of_keys([keys[0], 0, 0, 0, 0, 0, 0, 0], 10_000)
        };
        let worst = worst_deviation(10_000, 100, 40_000, weak);
        assert!(worst > 5.0, "{worst}");
    }

    #[test]
    fn two_records_are_swapped_half_of_the_time() {
        let swapped = (0..10_000).filter(|&draw| Order::new(2, draw, 0, 2).at(0) == 1).count();
        assert!((4_800..5_200).contains(&swapped), "{swapped}");
    }

    #[test]
    fn cycle_walking_takes_few_iterations() {
        let tries = |count: u32| {
            f64::from(1 << (2 * Order::of_keys([0; 8], count).half_bits)) / f64::from(count)
        };
        assert!((tries(10_000) - 1.6384).abs() < 1e-9);
        assert!((65..1 << 20).step_by(997).all(|count| tries(count) <= 4.0));
    }
}

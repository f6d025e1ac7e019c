//! Hierarchical f32 sums over the entries of an epoch, which limit the accumulation of rounding
//! errors.

use crate::lanes::{LANES, Row};

/// Terms per level before it is added to the next.
const FAN: u32 = 32;

/// One sum per lane: the rows of a segment (at most 16) form a term, 32 terms of a level one of the
/// next.
///
/// # Numerics
/// At most 15 + 3·31 + 64 additions separate a term from a total of 2²⁴ terms: worst-case
/// relative error 1.1e-5, and below 1e-6 at 10⁵ equal-sized terms (`levels_keep_precision`).
#[derive(Clone, Debug)]
pub(crate) struct Sums {
    pub(crate) levels: [Row<f32>; 4],
    terms: u32,
}

impl Sums {
    pub(crate) fn new() -> Self {
        Sums { levels: [[0.0; LANES]; 4], terms: 0 }
    }

    pub(crate) fn clear(&mut self) {
        let used = self.used();
        self.levels[..used].fill([0.0; LANES]);
        self.terms = 0;
    }

    /// Number of levels that may be nonzero.
    pub(crate) fn used(&self) -> usize {
        match self.terms {
            0..FAN => 1,
            n if n < FAN * FAN => 2,
            n if n < FAN * FAN * FAN => 3,
            _ => 4,
        }
    }

    /// Call after adding a term to level 0.
    #[inline]
    pub(crate) fn carry(&mut self) {
        self.terms += 1;
        let mut size = FAN;
        for level in 0..3 {
            if !self.terms.is_multiple_of(size) {
                break;
            }
            let full = std::mem::replace(&mut self.levels[level], [0.0; LANES]);
            for (next, full) in self.levels[level + 1].iter_mut().zip(full) {
                *next += full;
            }
            size = size.saturating_mul(FAN);
        }
    }

    /// Total of one lane, lowest level first.
    pub(crate) fn total_of(&self, lane: usize) -> f32 {
        let [lowest, higher @ ..] = &self.levels;
        higher[..self.used() - 1].iter().fold(lowest[lane], |total, level| total + level[lane])
    }

    /// Totals, lowest level first.
    pub(crate) fn total(&self) -> Row<f32> {
        let mut total = self.levels[0];
        for level in &self.levels[1..self.used()] {
            for lane in 0..LANES {
                total[lane] += level[lane];
            }
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative error of the mean of `terms` numbers near `size`, in levels and naively.
    fn errors(terms: u32, size: f32) -> (f64, f64) {
        let (mut sums, mut naive, mut exact) = (Sums::new(), 0.0_f32, 0.0_f64);
        for i in 0..terms {
            let term = size * (1.0 + (i % 97) as f32 * 0.01);
            sums.levels[0][7] += term;
            sums.carry();
            naive += term;
            exact += f64::from(term);
        }
        let error = |total: f32| (f64::from(total) / exact - 1.0).abs();
        (error(sums.total()[7]), error(naive))
    }

    #[test]
    fn levels_keep_precision() {
        for terms in [1, 31, 32, 33, 1023, 1024, 1025, 6_250, 32_768, 40_000, 1_048_576] {
            let (levels, _) = errors(terms, 0.3);
            assert!(levels < 1e-6, "{terms}: {levels:e}");
        }
        let (_, naive) = errors(1_048_576, 0.3); // negative control
        assert!(naive > 1e-6, "{naive:e}");
    }

    #[test]
    fn clear_resets_all_levels() {
        let mut sums = Sums::new();
        for _ in 0..2_000 {
            sums.levels[0][3] += 1.0;
            sums.carry();
        }
        assert_eq!(sums.total()[3], 2_000.0);
        sums.clear();
        assert_eq!(sums.levels, Sums::new().levels);
    }
}

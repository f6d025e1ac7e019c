//! Slot of the target's batch: inversion of the cumulative weights for 32-bit words.

/// Integer thresholds: slot t corresponds to the words from thresholds[t − 1] to thresholds[t] − 1.
#[derive(Clone, Debug)]
pub(crate) struct SlotTable {
    thresholds: Vec<u64>,
}

impl SlotTable {
    /// Weights must be positive with sum ≤ 1; the remaining probability belongs to an additional
    /// last slot.
    pub(crate) fn new(weights: &[f64]) -> Self {
        let mut total = 0.0;
        let threshold = |&w: &f64| {
            total += w;
            (total * 4_294_967_296.0).round().min(4_294_967_296.0) as u64
        };
        SlotTable { thresholds: weights.iter().map(threshold).collect() }
    }

    /// The thresholds below 2³², which come first.
    pub(crate) fn reachable(&self) -> Vec<u32> {
        self.thresholds.iter().filter_map(|&threshold| u32::try_from(threshold).ok()).collect()
    }

    /// Slot of a word; the number of weights for the additional slot.
    pub(crate) fn slot(&self, word: u32) -> u32 {
        self.thresholds.partition_point(|&threshold| threshold <= u64::from(word)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpscope_core::random::{Purpose, stream_words};

    #[test]
    fn edges_of_the_thresholds() {
        let table = SlotTable::new(&[0.25, 0.5]);
        let quarter = 1 << 30;
        for (word, slot) in
            [(0, 0), (quarter - 1, 0), (quarter, 1), (3 * quarter - 1, 1), (3 * quarter, 2)]
        {
            assert_eq!(table.slot(word), slot, "{word}");
        }
        assert_eq!(SlotTable::new(&[1.0]).slot(u32::MAX), 0);
        assert_eq!(
            SlotTable::new(&[0.1; 10]).slot(u32::MAX),
            9,
            "a sum of 1 leaves no additional slot"
        );
    }

    /// Pearson's χ² of slot counts against `expected` probabilities, the rest being the last.
    fn chi_square(table: &SlotTable, expected: &[f64]) -> f64 {
        let mut words = vec![0; 100_000];
        stream_words(11, Purpose::Test, 0, 0, &mut words);
        let mut counts = vec![0.0_f64; expected.len() + 1];
        for &word in &words {
            counts[table.slot(word) as usize] += 1.0;
        }
        let rest = 1.0 - expected.iter().sum::<f64>();
        let n = words.len() as f64;
        let cell = |(&count, p): (&f64, f64)| (count - n * p) * (count - n * p) / (n * p);
        counts.iter().zip(expected.iter().copied().chain([rest])).map(cell).sum()
    }

    #[test]
    fn slots_follow_the_weights() {
        let weights = [0.3, 0.05, 0.2, 0.1, 0.15];
        // χ² with 5 degrees of freedom exceeds 30 with probability 1.5e-5.
        assert!(chi_square(&SlotTable::new(&weights), &weights) < 30.0);
        let shifted = [0.29, 0.06, 0.2, 0.1, 0.15]; // negative control
        assert!(chi_square(&SlotTable::new(&shifted), &weights) > 30.0);
    }
}

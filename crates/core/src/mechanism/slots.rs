//! The batch of the first record of the file, for samplers with a buffer.

use super::SlotWeights;
use crate::math;

/// Slots are dropped once the target is still in the buffer with at most this probability. Any
/// function of the outputs is a valid score, so this costs only tightness, about 10⁻¹² of it.
const BEYOND: f64 = 1e-12;

/// Entries that the score uses, and the distribution of the target's slot among them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Slots {
    pub(super) entries: u32,
    pub(super) weights: SlotWeights,
}

/// Blocks of K records are shuffled one after another; the target lies in the first block.
///
/// w_t = B/K for t < ⌊K/B⌋, then (K mod B)/K for one more slot; uniform if B divides K.
///
/// The caller checks K ≤ N = T·B, so there are at most T slots.
pub(super) fn partial_shuffle(batch_size: u32, buffer_examples: u64) -> Slots {
    let batch = u64::from(batch_size);
    let whole = saturating_entries(buffer_examples / batch);
    let rest = buffer_examples % batch;
    if rest == 0 {
        return Slots { entries: whole, weights: SlotWeights::Uniform };
    }
    let entries = whole + 1;
    if entries == 1 {
        return Slots { entries, weights: SlotWeights::Uniform };
    }
    let buffer = buffer_examples as f64;
    let mut weights = vec![f64::from(batch_size) / buffer; whole as usize];
    weights.push(rest as f64 / buffer);
    Slots { entries, weights: SlotWeights::Weighted(weights) }
}

/// A reservoir of K records, filled from a file of N in order; each draw takes one record uniformly
/// and replaces it with the next of the file: full for the first N − K draws, then draining.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reservoir {
    examples: u64,
    buffer_examples: u64,
}

impl Reservoir {
    /// A reservoir of K of N records, 1 ≤ K ≤ N.
    pub(crate) fn new(examples: u64, buffer_examples: u64) -> Self {
        Reservoir { examples, buffer_examples }
    }

    fn full_draws(&self) -> u64 {
        self.examples - self.buffer_examples
    }

    fn ln_stay(&self) -> f64 {
        math::ln_1p(-1.0 / self.buffer_examples as f64)
    }

    /// The probability that the first record of the file is still in the reservoir after n ≤ N
    /// draws.
    ///
    /// S(n) = (1 − 1/K)ⁿ for n ≤ N − K, S(N − K)·(N − n)/K for n > N − K
    fn first_inside(&self, draws: u64) -> f64 {
        let full = match draws.min(self.full_draws()) {
            0 => 1.0,
            full_draws => math::exp(full_draws as f64 * self.ln_stay()),
        };
        if draws <= self.full_draws() {
            return full;
        }
        full * ((self.examples - draws) as f64 / self.buffer_examples as f64)
    }

    /// The probability that the first record leaves in `draws` draws after `before` of them,
    /// without cancellation: S(before) − S(before + draws).
    pub(crate) fn first_leaves(&self, before: u64, draws: u64) -> f64 {
        let (full_draws, end) = (self.full_draws(), before + draws);
        let while_full = end.min(full_draws).saturating_sub(before);
        let drained = end.saturating_sub(before.max(full_draws));
        let left = if while_full > 0 {
            self.first_inside(before) * -math::exp_m1(while_full as f64 * self.ln_stay())
        } else {
            0.0
        };
        left + self.first_inside(full_draws) * (drained as f64 / self.buffer_examples as f64)
    }
}

/// A [`Reservoir`] of K records; the target is the first record of the file.
///
/// w_t = S(tB) − S((t + 1)B). Slots whose S(tB) ≤ 10⁻¹² are dropped.
pub(super) fn sliding_buffer(steps_per_epoch: u32, batch_size: u32, buffer_examples: u64) -> Slots {
    let batch = u64::from(batch_size);
    let examples = u64::from(steps_per_epoch) * batch;
    if buffer_examples >= examples {
        return Slots { entries: steps_per_epoch, weights: SlotWeights::Uniform };
    }
    if buffer_examples == 1 {
        return Slots { entries: 1, weights: SlotWeights::Uniform };
    }
    let reservoir = Reservoir::new(examples, buffer_examples);
    let slots = (0..u64::from(steps_per_epoch)).map(|slot| slot * batch);
    let kept = slots.take_while(|&first| reservoir.first_inside(first) > BEYOND);
    let weights: Vec<f64> = kept.map(|first| reservoir.first_leaves(first, batch)).collect();
    let entries = saturating_entries(weights.len() as u64);
    if entries == 1 {
        return Slots { entries, weights: SlotWeights::Uniform };
    }
    Slots { entries, weights: SlotWeights::Weighted(weights) }
}

fn saturating_entries(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(slots: &Slots) -> Vec<f64> {
        match &slots.weights {
            SlotWeights::Uniform => vec![1.0 / f64::from(slots.entries); slots.entries as usize],
            SlotWeights::Weighted(weights) => weights.clone(),
        }
    }

    #[test]
    fn partial_shuffle_splits_the_block_over_batches() {
        let slots = partial_shuffle(4, 10);
        assert_eq!(weights(&slots), [0.4, 0.4, 0.2]);
        assert_eq!(partial_shuffle(4, 12), Slots { entries: 3, weights: SlotWeights::Uniform });
        assert_eq!(partial_shuffle(4, 3), Slots { entries: 1, weights: SlotWeights::Uniform });
    }

    #[test]
    fn sliding_buffers_range_from_file_order_to_shuffle() {
        assert_eq!(sliding_buffer(5, 3, 1), Slots { entries: 1, weights: SlotWeights::Uniform });
        assert_eq!(sliding_buffer(5, 3, 15), Slots { entries: 5, weights: SlotWeights::Uniform });
    }

    #[test]
    fn sliding_buffer_by_hand() {
        // K = 2, N = 4, B = 1: exits 1/2, 1/4, then 1/8 and 1/8 as the reservoir drains.
        let found = weights(&sliding_buffer(4, 1, 2));
        for (found, expected) in found.iter().zip([0.5, 0.25, 0.125, 0.125]) {
            assert!((found - expected).abs() < 1e-15, "{found} for {expected}");
        }
        assert_eq!(found.len(), 4);
    }

    #[test]
    fn a_reservoir_by_hand() {
        let reservoir = Reservoir::new(4, 2);
        let left = [0, 1, 2, 3, 4].map(|draws| reservoir.first_leaves(0, draws));
        for (place, expected) in [0.0, 0.5, 0.75, 0.875, 1.0].into_iter().enumerate() {
            assert!((left[place] - expected).abs() < 1e-15, "{left:?}");
            let inside = reservoir.first_inside(place as u64);
            assert!((inside - (1.0 - expected)).abs() < 1e-15, "{place}: {inside}");
        }
        assert_eq!(Reservoir::new(9, 1).first_leaves(0, 1), 1.0);
        assert_eq!(Reservoir::new(4, 4).first_leaves(0, 1), 0.25);
    }

    #[test]
    fn weights_add_up_to_one() {
        for (steps, batch, buffer) in
            [(7, 3, 5), (100, 100, 1_000), (1_000, 32, 31_999), (100_000, 4_000_000_000, 1 << 40)]
        {
            for slots in [partial_shuffle(batch, buffer), sliding_buffer(steps, batch, buffer)] {
                let total: f64 = weights(&slots).iter().sum();
                assert!((total - 1.0).abs() < 3e-12, "{total} at {steps} {batch} {buffer}");
                assert!(weights(&slots).iter().all(|&w| w > 0.0));
                assert!(slots.entries <= steps);
            }
        }
    }

    #[test]
    fn slots_that_are_almost_never_reached_are_dropped() {
        let slots = sliding_buffer(100_000, 10, 100);
        assert!(slots.entries > 270 && slots.entries < 280, "{}", slots.entries);
        let total: f64 = weights(&slots).iter().sum();
        assert!(total > 1.0 - 1.1e-12);
    }
}

//! In which batch of an epoch the first record of the file falls, for samplers with a buffer.

use super::SlotWeights;
use crate::math;

/// Slots are dropped once the target is still to come with at most this probability. Any function
/// of the outputs is a valid score, so what is dropped costs tightness only, and 10⁻¹² of it.
const BEYOND: f64 = 1e-12;

/// Entries that the score looks at, and the law of the target's slot among them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Slots {
    pub(super) entries: u32,
    pub(super) weights: SlotWeights,
}

/// Blocks of K records are shuffled one after another; the target lies in the first block.
///
/// w_t = B/K for t < ⌊K/B⌋, then (K mod B)/K for one slot more; uniform where B divides K.
///
/// K ≤ N = T·B is checked by the caller, so that the slots are at most T.
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

/// A reservoir of K records, filled from the file in order; each draw takes one uniformly and
/// refills its place while the file lasts. The target is the first record of the file.
///
/// With N records the reservoir is full for the first N − K draws and then drains. The target is
/// still inside after n draws with probability
///
/// S(n) = (1 − 1/K)ⁿ for n ≤ N − K, S(N − K)·(N − n)/K for n > N − K
///
/// and w_t = S(tB) − S((t + 1)B), each part of it computed without cancellation. Slots whose
/// S(tB) ≤ 10⁻¹² are dropped.
pub(super) fn sliding_buffer(steps_per_epoch: u32, batch_size: u32, buffer_examples: u64) -> Slots {
    let batch = u64::from(batch_size);
    let examples = u64::from(steps_per_epoch) * batch;
    if buffer_examples >= examples {
        return Slots { entries: steps_per_epoch, weights: SlotWeights::Uniform };
    }
    if buffer_examples == 1 {
        return Slots { entries: 1, weights: SlotWeights::Uniform };
    }
    let buffer = buffer_examples as f64;
    let full_draws = examples - buffer_examples;
    let ln_stay = math::ln_1p(-1.0 / buffer);
    let inside_when_draining = math::exp(full_draws as f64 * ln_stay);

    let mut weights = Vec::new();
    for slot in 0..u64::from(steps_per_epoch) {
        let (first, next) = (slot * batch, (slot + 1) * batch);
        let full = next.min(full_draws).saturating_sub(first) as f64;
        let drained = next.saturating_sub(first.max(full_draws)) as f64;
        let inside = if first <= full_draws {
            math::exp(first as f64 * ln_stay)
        } else {
            inside_when_draining * ((examples - first) as f64 / buffer)
        };
        if inside <= BEYOND {
            break;
        }
        let while_full = if full > 0.0 { inside * -math::exp_m1(full * ln_stay) } else { 0.0 };
        weights.push(while_full + inside_when_draining * (drained / buffer));
    }
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
    fn sliding_buffer_of_one_keeps_the_order_and_of_all_is_a_shuffle() {
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

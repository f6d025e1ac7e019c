//! Candidate buffers for a partial shuffle of unknown buffer size.

/// The numbers k of first batches for which a partial shuffle of unknown buffer size is scored: 1,
/// ⌈T/10⌉, 2⌈T/10⌉, …, T, ascending, each once, at most 11.
///
/// # Reference
/// Annamalai, Balle, Hayes, De Cristofaro, "To Shuffle or not to Shuffle: Auditing DP-SGD with
/// Shuffling", partial shuffling.
///
/// # Example
/// ```
/// use dpscope_core::mechanism::partial_shuffle_candidates;
///
/// assert_eq!(partial_shuffle_candidates(25), [1, 3, 6, 9, 12, 15, 18, 21, 24, 25]);
/// ```
#[must_use]
pub fn partial_shuffle_candidates(steps_per_epoch: u32) -> Vec<u32> {
    if steps_per_epoch == 0 {
        return Vec::new();
    }
    let tenth = steps_per_epoch.div_ceil(10);
    let mut candidates = vec![1];
    candidates.extend((1..=10).map(|i| tenth.saturating_mul(i).min(steps_per_epoch)));
    candidates.dedup();
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_epochs_have_each_prefix_once() {
        assert!(partial_shuffle_candidates(0).is_empty());
        assert_eq!(partial_shuffle_candidates(1), [1]);
        assert_eq!(partial_shuffle_candidates(3), [1, 2, 3]);
        assert_eq!(partial_shuffle_candidates(11), [1, 2, 4, 6, 8, 10, 11]);
    }

    #[test]
    fn a_round_epoch_has_eleven() {
        let expected = [1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100];
        assert_eq!(partial_shuffle_candidates(100), expected);
    }

    #[test]
    fn always_ascending_from_one_to_all() {
        for steps in (1..2_000).chain([99_999, 100_000, u32::MAX]) {
            let candidates = partial_shuffle_candidates(steps);
            assert_eq!((candidates.first(), candidates.last()), (Some(&1), Some(&steps)));
            assert!(candidates.is_sorted_by(|a, b| a < b) && candidates.len() <= 11);
        }
    }
}

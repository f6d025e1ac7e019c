//! Repeated positions of the largest output.

use super::{Dependence, IndependenceCheck, RecordedRuns, tail::binomial_at_least};

/// Tests whether the loader repeats one permutation over the epochs of a run.
///
/// Each epoch except the first has one guess: the step where the sum of the run's earlier epochs is
/// largest. A hit is an epoch whose largest output lies there.
///
/// statistic = hits ÷ guesses, p = P(Binomial(guesses, 1/T) ≥ hits)
///
/// | argument | meaning |
/// |---|---|
/// | `runs` | outputs of one world, runs × epochs × steps |
///
/// # Guarantee
/// The p-value is exact for any number of runs if the largest output of an epoch is equally likely
/// at each step given the earlier epochs: the guess depends on those alone, so hits are independent
/// with probability 1/T. Test
/// `tests/agreement/independence.rs::repeated_permutations_are_detected`. Outputs that drift over
/// an epoch, so that some steps are larger in every run, violate this: subtract the drift before.
///
/// # Numerics
/// A tie for the largest output is no guess, or no hit, which is conservative.
#[must_use]
pub fn repeated_positions_over_epochs(runs: RecordedRuns<'_>) -> IndependenceCheck {
    if runs.is_empty() || runs.epochs < 2 || runs.steps < 2 {
        return IndependenceCheck::too_little_data();
    }
    let mut counts = Counts::default();
    let mut earlier = vec![0.0; runs.steps];
    for run in runs.finite_runs() {
        earlier.fill(0.0);
        for (index, epoch) in run.chunks_exact(runs.steps).enumerate() {
            if index > 0 {
                counts.guess(&earlier, epoch);
            }
            add(&mut earlier, epoch);
        }
    }
    counts.check(runs.steps, |hits, guesses, steps| Dependence::RepeatedPositionsOverEpochs {
        hits,
        guesses,
        steps,
    })
}

/// Tests whether the target is at the same step in all runs: a loader with the same seed in every
/// run.
///
/// Each run except the first has one guess: the step where the sum of the earlier runs is largest,
/// all epochs added up. A hit is a run whose own sum over epochs is largest there.
///
/// statistic = hits ÷ guesses, p = P(Binomial(guesses, 1/T) ≥ hits)
///
/// Not for deterministic batching and buffered samplers, where repetition is expected.
///
/// # Guarantee
/// As [`repeated_positions_over_epochs`], with runs in place of epochs. Test
/// `tests/agreement/independence.rs::one_loader_seed_for_all_runs_is_detected`.
#[must_use]
pub fn repeated_positions_over_runs(runs: RecordedRuns<'_>) -> IndependenceCheck {
    if runs.is_empty() || runs.steps < 2 {
        return IndependenceCheck::too_little_data();
    }
    let mut counts = Counts::default();
    let mut earlier = vec![0.0; runs.steps];
    let mut own = vec![0.0; runs.steps];
    for (index, run) in runs.finite_runs().enumerate() {
        own.fill(0.0);
        run.chunks_exact(runs.steps).for_each(|epoch| add(&mut own, epoch));
        if index > 0 {
            counts.guess(&earlier, &own);
        }
        add(&mut earlier, &own);
    }
    let step = largest(&earlier).unwrap_or(0) as u64;
    counts.check(runs.steps, |hits, guesses, steps| Dependence::RepeatedPositionsOverRuns {
        hits,
        guesses,
        steps,
        step,
    })
}

#[derive(Debug, Default)]
struct Counts {
    guesses: u64,
    hits: u64,
}

impl Counts {
    fn guess(&mut self, earlier: &[f64], outputs: &[f64]) {
        if let Some(guess) = largest(earlier) {
            self.guesses += 1;
            self.hits += u64::from(largest(outputs) == Some(guess));
        }
    }

    fn check(
        &self,
        steps: usize,
        finding: impl Fn(u64, u64, u64) -> Dependence,
    ) -> IndependenceCheck {
        if self.guesses == 0 {
            return IndependenceCheck::too_little_data();
        }
        let p_value = binomial_at_least(self.hits, self.guesses, 1.0 / steps as f64);
        let rate = self.hits as f64 / self.guesses as f64;
        IndependenceCheck::new(rate, p_value, finding(self.hits, self.guesses, steps as u64))
    }
}

fn add(sums: &mut [f64], values: &[f64]) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
}

/// The index of the largest value; none if it is tied.
fn largest(values: &[f64]) -> Option<usize> {
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut places = values.iter().enumerate().filter(|(_, value)| **value >= top);
    let (index, _) = places.next()?;
    places.next().is_none().then_some(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_are_counted_by_hand() {
        // Epochs point at 1, 1, 0, then the sum points at 1: guesses 1, 1, 1; hits 1, 0, 1.
        let run = [0.0, 5.0, 1.0, 2.0, 3.0, 1.0, 4.0, 0.0, 1.0, 0.0, 1.0, 0.5];
        let check = repeated_positions_over_epochs(RecordedRuns::new(&run, 4, 3).unwrap());
        assert_eq!(check.statistic, 2.0 / 3.0);
        // P(Bin(3, 1/3) ≥ 2) = 7/27.
        assert!((check.p_value - 7.0 / 27.0).abs() < 1e-14);
        assert_eq!(check.finding, None);
        let over_runs = repeated_positions_over_runs(RecordedRuns::new(&run, 1, 3).unwrap());
        assert_eq!(over_runs, check);
    }

    #[test]
    fn ties_are_no_hit() {
        let runs = [1.0; 400];
        let check = repeated_positions_over_epochs(RecordedRuns::new(&runs, 4, 5).unwrap());
        assert_eq!((check.p_value, check.finding), (1.0, None));
    }

    #[test]
    fn one_epoch_or_one_step_has_no_finding() {
        for (epochs, steps) in [(1, 6), (6, 1)] {
            let check = repeated_positions_over_epochs(
                RecordedRuns::new(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], epochs, steps).unwrap(),
            );
            assert_eq!(check, IndependenceCheck::too_little_data());
        }
    }

    #[test]
    fn failed_runs_are_left_out() {
        let good = [0.0, 1.0, 0.0, 1.0];
        let runs = [good, [f64::NAN, 1.0, 0.0, 1.0], good].concat();
        let check = repeated_positions_over_epochs(RecordedRuns::new(&runs, 2, 2).unwrap());
        assert!((check.p_value - 0.25).abs() < 1e-14);
    }
}

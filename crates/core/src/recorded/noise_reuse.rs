//! Noise that is added in several steps or epochs of a run.

use super::independence::binomial_at_least;
use crate::math::erf;

/// Two outputs of one run are nearly equal if they differ by at most √2·σ times this.
const NEAR: f64 = 0.1;

/// Chance of a false alarm among the pairs of one kind.
const FALSE_ALARM: f64 = 5e-5;

/// Outputs of a run that are nearly equal: |o − o′| ≤ 0.1·√2·σ, for disjoint pairs, of neighbouring steps or
/// of a step in neighbouring epochs.
///
/// # Guarantee
/// If each output has independent noise N(0, σ²), [`Self::is_reused`] with probability at most 5e-5,
/// whatever else changes the outputs: given all earlier outputs, a pair is nearly equal with
/// probability at most erf(0.1), so that their number is stochastically at most
/// Binomial(pairs, erf(0.1)) (`unit::independent_noise_is_not_reused_and_equal_noise_is`).
///
/// # Reference
/// T. W. Anderson, "The integral of a symmetric unimodal function over a symmetric convex set", 1955.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NoiseReuse {
    near: u64,
    pairs: u64,
}

impl NoiseReuse {
    /// Adds pairs of neighbouring steps of a run; see [`Self::add_epochs`].
    pub fn add_steps(&mut self, outputs: &[f64], noise_multiplier: f64) {
        self.add(outputs.chunks_exact(2).map(|pair| [pair[0], pair[1]]), noise_multiplier);
    }

    /// Adds pairs of a step in neighbouring epochs of a run.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `outputs` | outputs of the run, in order, in clip norms | stored to σ/100 or finer; values that are not finite are ignored |
    /// | `steps` | T | 1 or more |
    /// | `noise_multiplier` | σ | (0, ∞) |
    pub fn add_epochs(&mut self, outputs: &[f64], steps: usize, noise_multiplier: f64) {
        for epochs in outputs.chunks_exact(2 * steps) {
            let (first, second) = epochs.split_at(steps);
            self.add(first.iter().zip(second).map(|(a, b)| [*a, *b]), noise_multiplier);
        }
    }

    fn add(&mut self, pairs: impl Iterator<Item = [f64; 2]>, noise_multiplier: f64) {
        for pair in pairs {
            let change = (pair[0] - pair[1]).abs();
            if change.is_finite() {
                self.pairs += 1;
                self.near +=
                    u64::from(change <= NEAR * std::f64::consts::SQRT_2 * noise_multiplier);
            }
        }
    }

    /// Share of the pairs that are nearly equal; none without pairs.
    #[must_use]
    pub fn share(self) -> Option<f64> {
        (self.pairs > 0).then(|| self.near as f64 / self.pairs as f64)
    }

    /// The largest share to be expected of independent noise.
    #[must_use]
    pub fn expected() -> f64 {
        erf(NEAR)
    }

    /// Whether more pairs are nearly equal than independent noise allows.
    #[must_use]
    pub fn is_reused(self) -> bool {
        self.pairs > 0 && binomial_at_least(self.near, self.pairs, Self::expected()) <= FALSE_ALARM
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Words};
    use crate::special::normal;

    /// Runs of 10 steps with the target in one of them; each noise lasts for `repeats` steps.
    fn reuse(runs: u64, repeats: usize, shift: f64) -> NoiseReuse {
        let mut reuse = NoiseReuse::default();
        for run in 0..runs {
            let mut words = Words::new(7, Purpose::Test, run);
            let mut noise = 0.0;
            let outputs: Vec<f64> = (0..10)
                .map(|step| {
                    if step % repeats == 0 {
                        noise = normal::quantile(
                            (f64::from(words.next_word()) + 0.5) / 4_294_967_296.0,
                        );
                    }
                    noise * 0.5 + if step as u64 == run % 10 { shift } else { 0.0 }
                })
                .collect();
            reuse.add_steps(&outputs, 0.5);
        }
        reuse
    }

    #[test]
    fn noise_that_every_epoch_repeats_is_reused() {
        let mut words = Words::new(8, Purpose::Test, 0);
        let mut of_epochs = [NoiseReuse::default(); 2];
        for _ in 0..20 {
            let first: Vec<f64> = (0..7).map(|_| words.normal()).collect();
            let second: Vec<f64> = (0..7).map(|_| words.normal()).collect();
            for (reuse, other) in of_epochs.iter_mut().zip([&first, &second]) {
                let outputs: Vec<f64> = first.iter().chain(other).copied().collect();
                reuse.add_epochs(&outputs, 7, 1.0);
            }
        }
        assert_eq!(of_epochs.map(NoiseReuse::is_reused), [true, false]);
    }

    #[test]
    fn independent_noise_is_not_reused_and_equal_noise_is() {
        for shift in [0.0, 1.0, 8.0] {
            let independent = reuse(2000, 1, shift);
            assert!(!independent.is_reused(), "{independent:?}");
            let share = independent.share().unwrap();
            assert!(share < NoiseReuse::expected() + 0.01, "{share}");
            for repeats in [2, 10] {
                assert!(reuse(20, repeats, shift).is_reused(), "{repeats} {shift}");
            }
        }
    }

    #[test]
    fn few_or_failed_outputs_decide_nothing() {
        let mut reuse = NoiseReuse::default();
        assert!(!reuse.is_reused() && reuse.share().is_none());
        reuse.add_steps(&[f64::NAN, 1.0, f64::INFINITY, f64::INFINITY, 2.0], 1.0);
        assert_eq!(reuse, NoiseReuse::default());
        reuse.add_steps(&[1.0, 1.0, 2.0, 2.0], 1.0);
        assert!(!reuse.is_reused(), "two pairs may be a coincidence");
    }
}

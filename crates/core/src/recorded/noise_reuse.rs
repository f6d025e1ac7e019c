//! Noise that is added in several steps of a run.

use super::independence::binomial_at_least;
use crate::math::erf;

/// Two outputs of one run are nearly equal if they differ by at most √2·σ times this.
const NEAR: f64 = 0.1;

/// Chance of a false alarm.
const FALSE_ALARM: f64 = 1e-4;

/// Neighbouring outputs of a run that are nearly equal: |o_t − o_{t+1}| ≤ 0.1·√2·σ, for disjoint pairs
/// of steps.
///
/// # Guarantee
/// If each output has independent noise N(0, σ²), [`Self::is_reused`] with probability at most 1e-4,
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
    /// Adds the outputs of a run.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `outputs` | outputs of the run, in order, in clip norms | stored to σ/100 or finer; values that are not finite are ignored |
    /// | `noise_multiplier` | σ | (0, ∞) |
    pub fn add(&mut self, outputs: &[f64], noise_multiplier: f64) {
        for pair in outputs.chunks_exact(2) {
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
            reuse.add(&outputs, 0.5);
        }
        reuse
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
        reuse.add(&[f64::NAN, 1.0, f64::INFINITY, f64::INFINITY, 2.0], 1.0);
        assert_eq!(reuse, NoiseReuse::default());
        reuse.add(&[1.0, 1.0, 2.0, 2.0], 1.0);
        assert!(!reuse.is_reused(), "two pairs may be a coincidence");
    }
}

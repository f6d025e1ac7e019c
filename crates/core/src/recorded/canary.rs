//! The size of the canary in recorded outputs.

use std::ops::Range;

use super::independence::{RecordedRuns, student_limit};

/// The mean difference of the worlds, summed over the steps that may contain the target: 1 for the
/// canary of every threat model, wherever the target is.
///
/// With S the sum of a run's outputs over the steps, divided by the epochs: ĉ = mean S of D − mean S
/// of D′. Every sampler has the target in one batch of an epoch, or in one on average, and what
/// both worlds share cancels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CanaryEstimate {
    sums: [Moments; 2],
}

/// A canary's size with an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CanarySize {
    /// Mean difference of the worlds, clip norms.
    pub value: f64,
    /// Lower confidence limit.
    pub lower: f64,
    /// Upper confidence limit.
    pub upper: f64,
    /// Chance that the interval misses the size.
    pub significance: f64,
}

/// Mean of a world, and its squared standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Moments {
    mean: f64,
    squared_error: f64,
    degrees: f64,
}

impl Moments {
    /// None with fewer than two values.
    fn of(values: &[f64]) -> Option<Self> {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
        let moments = Moments { mean, squared_error: variance / n, degrees: n - 1.0 };
        (values.len() > 1 && variance.is_finite()).then_some(moments)
    }
}

impl CanaryEstimate {
    /// The estimate; none with fewer than two finite runs of a world.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `target`, `zero_out` | outputs of D and of D′ in clip norms | the same shape |
    /// | `steps` | the steps of an epoch that may contain the target, from 0 | within the epoch |
    #[must_use]
    pub fn of(
        target: RecordedRuns<'_>,
        zero_out: RecordedRuns<'_>,
        steps: Range<usize>,
    ) -> Option<Self> {
        let sums = |runs: RecordedRuns<'_>| {
            let of_epoch =
                |epoch: &[f64]| epoch.get(steps.clone()).unwrap_or_default().iter().sum::<f64>();
            let of_run = |run: &[f64]| {
                let epochs = run.chunks_exact(runs.steps());
                let count = epochs.len() as f64;
                epochs.map(of_epoch).sum::<f64>() / count
            };
            Moments::of(&runs.finite_runs().map(of_run).collect::<Vec<f64>>())
        };
        Some(CanaryEstimate { sums: [sums(target)?, sums(zero_out)?] })
    }

    /// The size with an interval: Welch's, by Student's t.
    ///
    /// # Guarantee
    /// If runs are independent and the sums of each world normal, the interval misses the expected
    /// difference with probability about `significance`, in (0, 1); with other sums, as many runs
    /// tend to (`unit::the_interval_covers_and_one_of_half_its_width_does_not`).
    ///
    /// # Reference
    /// B. L. Welch, "The generalization of 'Student's' problem when several different population
    /// variances are involved", 1947.
    #[must_use]
    pub fn size(&self, significance: f64) -> CanarySize {
        let [d, d_prime] = self.sums;
        let value = d.mean - d_prime.mean;
        let squared_error = d.squared_error + d_prime.squared_error;
        let per_degree = |world: Moments| world.squared_error * world.squared_error / world.degrees;
        let degrees = squared_error * squared_error / (per_degree(d) + per_degree(d_prime));
        let width = match squared_error > 0.0 {
            true => student_limit(significance, degrees) * squared_error.sqrt(),
            false => 0.0,
        };
        CanarySize { value, lower: value - width, upper: value + width, significance }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Words};
    use crate::special::normal;

    const STEPS: usize = 5;

    /// Runs of two epochs with the canary at a random step of each, and a drift that both worlds
    /// share.
    fn runs(words: &mut Words, count: usize, size: f64) -> Vec<f64> {
        let mut uniform = || (f64::from(words.next_word()) + 0.5) / 4_294_967_296.0;
        let mut outputs = Vec::new();
        for _ in 0..2 * count {
            let place = (uniform() * STEPS as f64) as usize;
            for step in 0..STEPS {
                let own = if step == place { size } else { 0.0 };
                outputs.push(own + step as f64 + 0.7 * normal::quantile(uniform()));
            }
        }
        outputs
    }

    fn estimate(words: &mut Words, size: f64) -> CanaryEstimate {
        let [target, zero_out] = [runs(words, 12, size), runs(words, 20, 0.0)];
        let view = |values| RecordedRuns::new(values, 2, STEPS).unwrap();
        CanaryEstimate::of(view(&target), view(&zero_out), 0..STEPS).unwrap()
    }

    #[test]
    fn the_interval_covers_and_one_of_half_its_width_does_not() {
        let (mut missed, mut missed_by_half) = (0, 0);
        for repetition in 0..400 {
            let mut words = Words::new(11, Purpose::Test, repetition);
            let size = f64::from(repetition as u32 % 4);
            let found = estimate(&mut words, size).size(0.05);
            let error = (found.value - size).abs();
            missed += u32::from(!(found.lower..=found.upper).contains(&size));
            missed_by_half += u32::from(error > (found.upper - found.lower) / 4.0);
        }
        // 20 of 400 expected; 45 or more with a chance below 1e-6
        assert!(missed < 45, "{missed}");
        assert!(missed_by_half >= 45, "{missed_by_half}");
    }

    #[test]
    fn only_the_chosen_steps_count_and_failed_runs_are_left_out() {
        let nan = f64::NAN;
        let target = [1.0, 9.0, 3.0, 9.0, nan, 0.0, 2.0, 5.0];
        let zero_out = [0.0, 7.0, 0.0, 8.0];
        let view = |values| RecordedRuns::new(values, 1, 2).unwrap();
        let found = CanaryEstimate::of(view(&target), view(&zero_out), 0..1).unwrap();
        assert_eq!((found.size(0.05).value, found.sums.map(|world| world.mean)), (2.0, [2.0, 0.0]));
        assert!(CanaryEstimate::of(view(&target[..2]), view(&zero_out), 0..1).is_none());
        let constant = CanaryEstimate::of(view(&[1.0; 8]), view(&[0.5; 8]), 0..2).unwrap();
        let CanarySize { value, lower, upper, .. } = constant.size(1e-3);
        assert_eq!((value, lower, upper), (1.0, 1.0, 1.0));
    }
}

//! The mean of the batches without the target, compared with the one that the threat model assumes.

use super::independence::{RecordedRuns, student_limit};
use crate::adjacency::World;
use crate::mechanism::{BatchedGaussian, OutputScorer, ThreatModel};

/// Largest deviation, in clip norms, that is no finding: the means of the threat models are 1 or more
/// apart.
const TOLERANCE: f64 = 0.5;

/// Fewer steps do not show which of them lack the target.
const LEAST_STEPS: usize = 3;

/// The mean output of the batches without the target, in D′.
///
/// The deviation of each step's mean from the expected one, averaged over the middle half of the
/// steps in the order of their deviations, on top of the assumed mean b. A drift of few steps does not
/// move it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OtherBatchMean {
    /// The mean found, clip norms.
    pub value: f64,
    /// Lower confidence limit.
    pub lower: f64,
    /// Upper confidence limit.
    pub upper: f64,
    /// b, the mean that the threat model assumes.
    pub expected: f64,
}

impl OtherBatchMean {
    /// The mean; none with fewer than three steps, or fewer than two finite runs.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `zero_out` | outputs of D′ in clip norms | the scorer's shape |
    /// | `significance` | chance that the interval misses | (0, 1) |
    ///
    /// Student's interval of the runs' means over those steps: the choice of the steps is symmetric
    /// around the mean, and its effect on the width is small beside the tolerance of
    /// [`differs`](Self::differs) (`unit::the_mean_of_another_threat_model_is_recognised`).
    #[must_use]
    pub fn of(
        scorer: &OutputScorer,
        zero_out: RecordedRuns<'_>,
        significance: f64,
    ) -> Option<Self> {
        let steps = zero_out.steps();
        let (_, expected) = scorer.shift_and_other(World::ZeroOut).ok()?;
        let runs: Vec<&[f64]> = zero_out.finite_runs().collect();
        if steps < LEAST_STEPS || runs.len() < 2 {
            return None;
        }
        let n = runs.len() as f64;
        let mut sums = vec![0.0; steps];
        let mut epochs = 0.0;
        for epoch in runs.iter().flat_map(|run| run.chunks_exact(steps)) {
            sums.iter_mut().zip(epoch).for_each(|(sum, output)| *sum += output);
            epochs += 1.0;
        }
        let deviation = |(step, sum): (usize, &f64)| {
            let expected = scorer.expected_output(World::ZeroOut, step)?;
            Some((sum / epochs - expected, step))
        };
        let mut deviations = sums.iter().enumerate().map(deviation).collect::<Option<Vec<_>>>()?;
        deviations.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let middle = &deviations[steps / 4..steps - steps / 4];
        let of_middle = middle.iter().map(|(deviation, _)| deviation).sum::<f64>();
        let deviation = of_middle / middle.len() as f64;

        let mean_of = |run: &&[f64]| {
            let outputs = run
                .chunks_exact(steps)
                .flat_map(|epoch| middle.iter().filter_map(|(_, step)| epoch.get(*step)));
            outputs.sum::<f64>() / (middle.len() * (run.len() / steps)) as f64
        };
        let means: Vec<f64> = runs.iter().map(mean_of).collect();
        let mean = means.iter().sum::<f64>() / n;
        let squares = means.iter().map(|m| (m - mean) * (m - mean)).sum::<f64>();
        let width = student_limit(significance, n - 1.0) * (squares / (n - 1.0) / n).sqrt();
        let value = expected + deviation;
        Some(OtherBatchMean { value, lower: value - width, upper: value + width, expected })
    }

    /// Whether the mean is another than the threat model assumes.
    #[must_use]
    pub fn differs(&self) -> bool {
        self.lower > self.expected + TOLERANCE || self.upper < self.expected - TOLERANCE
    }

    /// Whether it is the assumed mean with the other sign.
    #[must_use]
    pub fn is_negated(&self) -> bool {
        self.differs() && (self.value + self.expected).abs() <= TOLERANCE
    }

    /// The threat model that assumes this mean.
    #[must_use]
    pub fn threat_model(&self, mechanism: &BatchedGaussian) -> Option<ThreatModel> {
        let models =
            [ThreatModel::TargetCanary, ThreatModel::PartiallyInformed, ThreatModel::WorstCase];
        models.into_iter().find(|&threat_model| {
            let means = BatchedGaussian { threat_model, ..*mechanism }.batch_means();
            means.is_ok_and(|means| (means.other - self.value).abs() <= TOLERANCE)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::{BatchSampler, OutputOptions};
    use crate::random::{Purpose, Words};
    use crate::special::normal;

    const MODELS: [ThreatModel; 3] =
        [ThreatModel::TargetCanary, ThreatModel::PartiallyInformed, ThreatModel::WorstCase];

    fn scorer(threat_model: ThreatModel) -> OutputScorer {
        let mechanism = BatchedGaussian {
            noise_multiplier: 1.0,
            steps_per_epoch: 6,
            epochs: 2,
            sampler: BatchSampler::Shuffle,
            threat_model,
            batch_size: Some(4),
        };
        OutputScorer::new(&mechanism, OutputOptions::default()).unwrap()
    }

    /// Runs of D′ with a drift at one step.
    fn outputs(threat_model: ThreatModel, sign: f64, repetition: u64) -> Vec<f64> {
        let mut words = Words::new(12, Purpose::Test, repetition);
        let mut uniform = || (f64::from(words.next_word()) + 0.5) / 4_294_967_296.0;
        let means = scorer(threat_model).mechanism().batch_means().unwrap();
        let mut outputs = Vec::new();
        for _ in 0..2 * 60 {
            let place = (uniform() * 6.0) as usize;
            outputs.extend((0..6).map(|step| {
                let mean = if step == place { means.zero_out } else { means.other };
                let drift = if step == 4 { 3.0 } else { 0.0 };
                sign * (mean + drift + normal::quantile(uniform()))
            }));
        }
        outputs
    }

    #[test]
    fn the_mean_of_another_threat_model_is_recognised() {
        for (truth, assumed) in MODELS.iter().flat_map(|t| MODELS.map(|a| (*t, a))) {
            for repetition in 0..20 {
                let outputs = outputs(truth, 1.0, repetition);
                let runs = RecordedRuns::new(&outputs, 2, 6).unwrap();
                let scorer = scorer(assumed);
                let found = OtherBatchMean::of(&scorer, runs, 1e-3).unwrap();
                assert_eq!(found.differs(), truth != assumed, "{truth:?} {assumed:?} {found:?}");
                if truth != assumed {
                    assert_eq!(found.threat_model(scorer.mechanism()), Some(truth), "{found:?}");
                }
            }
        }
    }

    #[test]
    fn negated_outputs_have_the_negated_mean() {
        for threat_model in [ThreatModel::PartiallyInformed, ThreatModel::WorstCase] {
            let outputs = outputs(threat_model, -1.0, 0);
            let runs = RecordedRuns::new(&outputs, 2, 6).unwrap();
            let found = OtherBatchMean::of(&scorer(threat_model), runs, 1e-3).unwrap();
            assert!(found.is_negated(), "{found:?}");
        }
    }

    #[test]
    fn few_steps_and_few_runs_have_no_mean() {
        let scorer = scorer(ThreatModel::TargetCanary);
        let of = |values: &[f64], steps| {
            OtherBatchMean::of(&scorer, RecordedRuns::new(values, 1, steps).unwrap(), 1e-3)
        };
        assert!(of(&[0.0; 20], 2).is_none() && of(&[0.0; 6], 6).is_none());
        assert!(of(&[0.0; 12], 6).is_some());
    }
}

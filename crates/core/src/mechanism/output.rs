//! Scores of recorded outputs of a user's own runs.

use super::{
    BatchSampler, BatchedGaussian, MechanismError, ScoreDistribution, ScoreDistributionKind,
    SlotWeights,
    distribution::{check_finite, finite_score},
    log_ratio,
};
use crate::adjacency::World;

/// The origin of the recorded outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OutputReference {
    /// The sum itself: batches without the target have the mean b of
    /// [`BatchMeans::other`](super::BatchMeans::other). The worst case needs the batch size.
    #[default]
    Sum,
    /// b is already subtracted: batches without the target have mean 0.
    OtherBatches,
}

/// How to interpret recorded outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct OutputOptions {
    /// The origin of the outputs.
    pub reference: OutputReference,
    /// Deterministic batching only: the step of the target in each epoch, from 0.
    pub target_slot: u32,
}

/// Scores runs of recorded outputs under one mechanism.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputScorer {
    mechanism: BatchedGaussian,
    distribution: ScoreDistribution,
    mean_target: f64,
    target_slot: u32,
}

impl OutputScorer {
    /// A scorer for the runs of one mechanism.
    ///
    /// # Errors
    /// As [`BatchedGaussian::distribution`]; the worst case without a batch size, unless the
    /// outputs refer to the other batches; a target slot outside the epoch, or for a sampler that
    /// draws the slot.
    pub fn new(
        mechanism: &BatchedGaussian,
        options: OutputOptions,
    ) -> Result<Self, MechanismError> {
        let distribution = mechanism.distribution()?;
        let mean_target = match options.reference {
            OutputReference::Sum => mechanism.batch_means()?.target,
            OutputReference::OtherBatches => mechanism.gap()?,
        };
        let (value, steps_per_epoch) = (options.target_slot, mechanism.steps_per_epoch);
        if value >= steps_per_epoch {
            let domain = format!("0..{steps_per_epoch}");
            return Err(MechanismError::outside("target_slot", value.into(), &domain));
        }
        if value != 0 && mechanism.sampler != BatchSampler::Deterministic {
            let sampler = mechanism.sampler.kind();
            return Err(MechanismError::unused("target_slot", value.into(), sampler));
        }
        Ok(Self { mechanism: *mechanism, distribution, mean_target, target_slot: value })
    }

    /// This scorer with the target always at one step of an epoch.
    ///
    /// # Errors
    /// A step outside the epoch.
    pub fn at_fixed_step(&self, step: u32) -> Result<Self, MechanismError> {
        let sampler = BatchSampler::Deterministic;
        let mechanism = BatchedGaussian { sampler, dataset_size: None, ..self.mechanism };
        let options = OutputOptions { reference: OutputReference::OtherBatches, target_slot: step };
        let fixed = Self::new(&mechanism, options)?;
        Ok(Self { mean_target: self.mean_target, ..fixed })
    }

    /// The distribution of the scores.
    #[must_use]
    pub const fn distribution(&self) -> &ScoreDistribution {
        &self.distribution
    }

    /// Outputs of one run, E·T.
    #[must_use]
    pub const fn outputs_per_run(&self) -> u64 {
        self.mechanism.epochs as u64 * self.mechanism.steps_per_epoch as u64
    }

    /// The score of one run in nats.
    ///
    /// log Λ = Σ_epochs { ln Σ_t w_t·exp(((a−b)o_t − (a²−b²)/2)/σ²)
    ///                  − ln Σ_t w_t·exp(((c−b)o_t − (c²−b²)/2)/σ²) }
    ///
    /// with the means a, c, b of [`BatchedGaussian::batch_means`]; for persistent shuffle and
    /// deterministic batching of the outputs' mean over epochs at σ/√E; for Poisson
    /// Σ log1p(q·expm1((2o − 1)/(2σ²))).
    ///
    /// | argument | meaning | shape | unit |
    /// |---|---|---|---|
    /// | `outputs` | the run's outputs o, epoch-major | E × T | sums, in clip norms |
    ///
    /// # Guarantee
    /// Equal to the ratio of the two worlds' densities of the outputs at 50 digits, for every
    /// sampler and threat model unless a record is used in 2 ≤ k < T steps of an epoch; test `tests/agreement/scores.rs::scores_match_the_oracle`.
    ///
    /// # Errors
    /// A wrong number of outputs. An output that is not finite, or outputs so large that the score
    /// overflows: such a run counts against the attacker.
    ///
    /// # Numerics
    /// As [`ScoreDistribution::score`], with the rounding of o − b on top.
    ///
    /// # Example
    /// ```
    /// use dpscope_core::mechanism::*;
    ///
    /// let mechanism = BatchedGaussian {
    ///     noise_multiplier: 1.0,
    ///     steps_per_epoch: 3,
    ///     epochs: 1,
    ///     sampler: BatchSampler::Shuffle,
    ///     threat_model: ThreatModel::WorstCase,
    ///     batch_size: Some(10),
    ///     dataset_size: None,
    /// };
    /// let scorer = OutputScorer::new(&mechanism, OutputOptions::default())?;
    /// let score = scorer.score(&[-7.5, -10.0, -9.5])?;
    /// assert_eq!(format!("{score:.6}"), "0.828011");
    /// # Ok::<(), MechanismError>(())
    /// ```
    pub fn score(&self, outputs: &[f64]) -> Result<f64, MechanismError> {
        self.check(outputs)?;
        let steps = self.mechanism.steps_per_epoch as usize;
        let score = match self.mechanism.sampler {
            BatchSampler::PersistentShuffle => self
                .distribution
                .epoch_score(&mean_over_epochs(outputs, steps, 0..steps), self.mean_target),
            BatchSampler::Deterministic => {
                let slot = self.target_slot as usize;
                let mean = mean_over_epochs(outputs, steps, slot..slot + 1);
                self.distribution.epoch_score(&mean, self.mean_target)
            }
            _ => outputs
                .chunks_exact(steps)
                .map(|epoch| {
                    let seen = epoch.get(..self.distribution.entries as usize).unwrap_or(epoch);
                    self.distribution.epoch_score(seen, self.mean_target)
                })
                .sum(),
        };
        finite_score(score)
    }

    /// The scores of one run for a target uniform among the first k batches, for each k.
    ///
    /// For a partial shuffle with an unknown buffer: for every k of
    /// [`partial_shuffle_candidates`](super::partial_shuffle_candidates) the scores yield an ε, and
    /// the largest is the result, corrected for the number of prefixes.
    ///
    /// | argument | meaning | shape | domain |
    /// |---|---|---|---|
    /// | `outputs` | the run's outputs, epoch-major | E × T | finite |
    /// | `prefixes` | numbers k of batches | any | 1..=T |
    ///
    /// # Errors
    /// As [`score`](Self::score); a prefix outside 1..=T; a sampler other than shuffle, partial
    /// shuffle and sliding buffer.
    pub fn prefix_scores(
        &self,
        outputs: &[f64],
        prefixes: &[u32],
    ) -> Result<Vec<f64>, MechanismError> {
        if !matches!(
            self.mechanism.sampler,
            BatchSampler::Shuffle
                | BatchSampler::PartialShuffle { .. }
                | BatchSampler::SlidingBuffer { .. }
        ) {
            let sampler = self.mechanism.sampler.kind();
            return Err(MechanismError::PrefixSampler { sampler });
        }
        self.check(outputs)?;
        prefixes.iter().map(|&prefix| self.prefix_score(outputs, prefix)).collect()
    }

    fn prefix_score(&self, outputs: &[f64], value: u32) -> Result<f64, MechanismError> {
        let steps_per_epoch = self.mechanism.steps_per_epoch;
        if !(1..=steps_per_epoch).contains(&value) {
            let domain = format!("1..={steps_per_epoch}");
            return Err(MechanismError::outside("prefix", value.into(), &domain));
        }
        let gap = self.mechanism.gap()?;
        let variance = self.mechanism.noise_multiplier * self.mechanism.noise_multiplier;
        let score = outputs
            .chunks_exact(steps_per_epoch as usize)
            .map(|epoch| {
                let seen = epoch.get(..value as usize).unwrap_or(epoch);
                log_ratio::one_slot(gap, variance, None, seen, self.mean_target)
            })
            .sum();
        finite_score(score)
    }

    /// The mechanism of the scored runs.
    #[must_use]
    pub const fn mechanism(&self) -> &BatchedGaussian {
        &self.mechanism
    }

    /// The mean of the target's batch in a world less that of the other batches, and the latter.
    pub(crate) fn shift_and_other(&self, world: World) -> Result<(f64, f64), MechanismError> {
        let gap = self.mechanism.gap()?;
        let shift = match world {
            World::Target => gap,
            World::ZeroOut => gap - 1.0,
        };
        Ok((shift, self.mean_target - gap))
    }

    /// The steps of an epoch in which the target may be.
    #[must_use]
    pub fn target_steps(&self) -> std::ops::Range<usize> {
        let slot = self.target_slot as usize;
        match self.mechanism.sampler {
            BatchSampler::Deterministic => slot..slot + 1,
            _ => 0..self.distribution.entries as usize,
        }
    }

    /// The probability that the target is in the batch of `step`, counted from 0.
    pub(crate) fn target_chance(&self, step: usize) -> f64 {
        match (&self.distribution.kind, self.distribution.sampling_rate()) {
            _ if !self.target_steps().contains(&step) => 0.0,
            (_, Some(sampling_rate)) => sampling_rate,
            (ScoreDistributionKind::OneSlot { weights: SlotWeights::Weighted(weights), .. }, _) => {
                weights.get(step).copied().unwrap_or(0.0)
            }
            _ => 1.0 / f64::from(self.distribution.entries),
        }
    }

    pub(crate) fn check(&self, outputs: &[f64]) -> Result<(), MechanismError> {
        let expected = self.outputs_per_run();
        if outputs.len() as u64 != expected {
            return Err(MechanismError::OutputCount { actual: outputs.len(), expected });
        }
        check_finite(outputs, self.mechanism.steps_per_epoch as usize)
    }
}

/// The mean over epochs of each step in `range`.
fn mean_over_epochs(outputs: &[f64], steps: usize, range: std::ops::Range<usize>) -> Vec<f64> {
    let mut sums = vec![0.0; range.len()];
    let mut epochs = 0.0;
    for epoch in outputs.chunks_exact(steps) {
        epochs += 1.0;
        for (sum, output) in sums.iter_mut().zip(epoch.get(range.clone()).unwrap_or_default()) {
            *sum += output;
        }
    }
    sums.iter_mut().for_each(|sum| *sum /= epochs);
    sums
}

/// Rescales averaged gradients to sums in clip norms: multiplied by B, divided by C.
///
/// # Errors
/// A batch size of 0, or a clip norm that is not positive and finite.
pub fn rescale_averaged(
    outputs: &mut [f64],
    batch_size: u32,
    clip_norm: f64,
) -> Result<(), MechanismError> {
    if batch_size == 0 {
        return Err(MechanismError::outside("batch_size", 0.0, "1..=4294967295"));
    }
    if !(clip_norm > 0.0 && clip_norm.is_finite()) {
        return Err(MechanismError::outside("clip_norm", clip_norm, "(0, ∞)"));
    }
    let batch = f64::from(batch_size);
    outputs.iter_mut().for_each(|output| *output = *output * batch / clip_norm);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::ThreatModel;

    fn mechanism(sampler: BatchSampler) -> BatchedGaussian {
        BatchedGaussian {
            noise_multiplier: 1.5,
            steps_per_epoch: 4,
            epochs: 2,
            sampler,
            threat_model: ThreatModel::WorstCase,
            batch_size: Some(6),
            dataset_size: None,
        }
    }

    fn scorer(sampler: BatchSampler) -> OutputScorer {
        OutputScorer::new(&mechanism(sampler), OutputOptions::default()).unwrap()
    }

    const RUN: [f64; 8] = [-4.0, -6.5, -5.0, -7.25, -6.0, -3.5, -6.75, -5.5];

    #[test]
    fn centred_outputs_need_no_batch_size_and_score_the_same() {
        let raw = scorer(BatchSampler::Shuffle).score(&RUN).unwrap();
        let unknown = BatchedGaussian { batch_size: None, ..mechanism(BatchSampler::Shuffle) };
        let options =
            OutputOptions { reference: OutputReference::OtherBatches, ..OutputOptions::default() };
        let centred = OutputScorer::new(&unknown, options).unwrap();
        assert_eq!(centred.score(&RUN.map(|o| o + 6.0)), Ok(raw));
        assert_eq!(
            OutputScorer::new(&unknown, OutputOptions::default()),
            Err(MechanismError::missing("batch_size", "threat model worst-case"))
        );
    }

    #[test]
    fn deterministic_batching_scores_one_slot() {
        let fixed = mechanism(BatchSampler::Deterministic);
        let options = OutputOptions { target_slot: 2, ..OutputOptions::default() };
        let scorer = OutputScorer::new(&fixed, options).unwrap();
        // Mean of −5 and −6.75 against N(−4, σ²/2) and N(−5, σ²/2).
        let expected = (-5.875 + 4.5) / (1.5 * 1.5 / 2.0);
        assert!((scorer.score(&RUN).unwrap() - expected).abs() < 1e-14);
        let mut other = RUN;
        other[1] = 40.0;
        assert_eq!(scorer.score(&other), scorer.score(&RUN));
    }

    #[test]
    fn target_slot_is_refused_where_it_has_no_effect() {
        let options = |target_slot| OutputOptions { target_slot, ..OutputOptions::default() };
        let fixed = mechanism(BatchSampler::Deterministic);
        assert_eq!(
            OutputScorer::new(&fixed, options(4)),
            Err(MechanismError::outside("target_slot", 4.0, "0..4"))
        );
        assert!(OutputScorer::new(&fixed, options(3)).is_ok());
        let error = OutputScorer::new(&mechanism(BatchSampler::Shuffle), options(1)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "target_slot = 1 has no meaning for sampler shuffle; leave it out, or use deterministic"
        );
    }

    #[test]
    fn persistent_shuffle_scores_depend_on_the_mean_over_epochs() {
        let scorer = scorer(BatchSampler::PersistentShuffle);
        let mut moved = RUN;
        for slot in 0..4 {
            moved[slot] += 0.5;
            moved[slot + 4] -= 0.5;
        }
        let (left, right) = (scorer.score(&RUN).unwrap(), scorer.score(&moved).unwrap());
        assert!((left - right).abs() < 1e-13, "{left} {right}");
    }

    #[test]
    fn a_partial_shuffle_ignores_batches_after_its_block() {
        let scorer = scorer(BatchSampler::PartialShuffle { buffer_examples: 9 });
        let mut later = RUN;
        (later[2], later[7]) = (50.0, -50.0);
        assert_eq!(scorer.score(&later), scorer.score(&RUN));
        later[5] += 1.0;
        assert_ne!(scorer.score(&later), scorer.score(&RUN));
    }

    #[test]
    fn prefixes_end_at_the_whole_epoch() {
        let shuffle = scorer(BatchSampler::Shuffle);
        let scores = shuffle.prefix_scores(&RUN, &[1, 2, 4]).unwrap();
        assert_eq!(scores[2], shuffle.score(&RUN).unwrap());
        let block = scorer(BatchSampler::PartialShuffle { buffer_examples: 12 });
        assert_eq!(scores[1], block.score(&RUN).unwrap());
        assert_eq!(block.prefix_scores(&RUN, &[1, 2, 4]), Ok(scores));
        for value in [0, 5] {
            assert_eq!(
                shuffle.prefix_scores(&RUN, &[value]),
                Err(MechanismError::outside("prefix", value.into(), "1..=4"))
            );
        }
        assert!(scorer(BatchSampler::Deterministic).prefix_scores(&RUN, &[1]).is_err());
    }

    #[test]
    fn broken_runs_are_refused_with_their_place() {
        let scorer = scorer(BatchSampler::Shuffle);
        assert_eq!(scorer.outputs_per_run(), 8);
        assert_eq!(
            scorer.score(&RUN[1..]),
            Err(MechanismError::OutputCount { actual: 7, expected: 8 })
        );
        let mut broken = RUN;
        broken[6] = f64::NAN;
        let error = scorer.score(&broken).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the output of step 3 of epoch 2 is NaN, which is not finite; count the run as failed"
        );
        assert!(scorer.prefix_scores(&broken, &[1]).is_err());
    }

    #[test]
    fn averaged_gradients_become_sums_in_clip_norms() {
        let mut outputs = [0.25, -0.5];
        rescale_averaged(&mut outputs, 8, 0.5).unwrap();
        assert_eq!(outputs, [4.0, -8.0]);
        assert_eq!(
            rescale_averaged(&mut outputs, 0, 1.0),
            Err(MechanismError::outside("batch_size", 0.0, "1..=4294967295"))
        );
        for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(rescale_averaged(&mut outputs, 8, value).is_err());
        }
        assert_eq!(outputs, [4.0, -8.0]);
    }
}

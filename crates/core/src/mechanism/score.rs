//! The mechanism's parameters and the distribution of its score.

use std::fmt;

use super::{
    BatchSampler, MechanismError, ScoreDistribution, ScoreDistributionKind, SlotWeights,
    ThreatModel, Truncation, slots,
};
use crate::format::given;

/// Parameters of the batched Gaussian mechanism under one attacker.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BatchedGaussian {
    /// Noise standard deviation ÷ clip norm, in [0.2, 20].
    pub noise_multiplier: f64,
    /// Batches per epoch T, 1 to 10⁵.
    pub steps_per_epoch: u32,
    /// Passes over the data E, 1 to 10³.
    pub epochs: u32,
    /// How batches are drawn.
    pub sampler: BatchSampler,
    /// Who attacks.
    pub threat_model: ThreatModel,
    /// Batch size B, from 1; needed by the buffered samplers and by batch-then-shuffle, where
    /// it is at most 5·10⁵.
    pub batch_size: Option<u32>,
    /// Number of records N, at least B, for samplers that draw batches from all of them; `None` if
    /// T batches of B make up an epoch.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub dataset_size: Option<u64>,
}

/// Means of a raw output, on the scale of sums of clipped gradients in units of the clip norm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BatchMeans {
    /// a: the batch with the target, in D.
    pub target: f64,
    /// c: the batch with ⊥ in place of the target, in D′.
    pub zero_out: f64,
    /// b: every other batch.
    pub other: f64,
}

impl BatchedGaussian {
    /// The distribution of this mechanism's score.
    ///
    /// | sampler | entries | epochs | σ | slot weights |
    /// |---|---|---|---|---|
    /// | shuffle, balls-in-bins, batch-then-shuffle | T | E | σ | uniform |
    /// | persistent shuffle | T | 1 | σ/√E | uniform |
    /// | deterministic | 1 | 1 | σ/√E | uniform |
    /// | partial shuffle | ⌈K/B⌉ | E | σ | B/K, the last (K mod B)/K if that is not 0 |
    /// | sliding buffer | ≤ T | E | σ | distribution of the exit of the first record; see Numerics |
    /// | Poisson, fixed size | T | E | σ | in each step with probability 1/T, or B/N of N records |
    /// | truncated Poisson | T | E | σ | in each step with the probability below |
    /// | random allocation | T | E | σ | in k of the steps; uniform for k = 1 |
    ///
    /// The gap a − b is 2 (worst case, partially informed), 1 (target canary) or 2B
    /// (batch-then-shuffle).
    ///
    /// The target is the first record of the file, the least protected one under a buffered
    /// sampler.
    ///
    /// Each of N records is drawn into a truncated Poisson batch with probability q, 1/T or B/N. With n
    /// of the others drawn, n ~ Bin(N − 1, q), the target is in the batch with probability
    /// q·min(1, B/(n + 1)), on average q·P(n < B) + (B/N)·P(Bin(N, q) > B): with other gradients of
    /// zero, a step is that of Poisson batches at this rate.
    ///
    /// # Guarantee
    /// The slot weights and the rate of truncated Poisson batches equal those of a record-by-record
    /// simulation (`tests/agreement/samplers.rs::slots_follow_their_distribution`,
    /// `tests/agreement/samplers.rs::the_target_is_in_truncated_batches_at_its_rate`).
    ///
    /// # Errors
    /// A parameter outside its domain (NaN is outside each), a missing batch size, a buffer outside
    /// 1..=T·B, truncated batches of more than all records or of less than the mean, a number of
    /// records for a sampler that cuts batches from an order, or an undefined pair of sampler and
    /// threat model.
    ///
    /// # Numerics
    /// Slot weights have a relative error of at most 1e-14. The rate of truncated batches is rounded
    /// down, by less than 1e-6 of it, and a lower rate leaks less. A sliding buffer has slots until the
    /// target is still in the buffer with probability 10⁻¹² or less.
    ///
    /// # Example
    /// ```
    /// use dpscope_core::mechanism::{BatchSampler, BatchedGaussian, ThreatModel};
    ///
    /// let mechanism = BatchedGaussian {
    ///     noise_multiplier: 1.0,
    ///     steps_per_epoch: 100,
    ///     epochs: 4,
    ///     sampler: BatchSampler::PersistentShuffle,
    ///     threat_model: ThreatModel::WorstCase,
    ///     batch_size: None,
    ///     dataset_size: None,
    /// };
    /// let distribution = mechanism.distribution()?;
    /// let normals = distribution.normals_per_observation();
    /// println!("{normals} normals at noise multiplier {}", distribution.noise_multiplier);
    /// // 100 normals at noise multiplier 0.5
    /// # assert_eq!((normals, distribution.noise_multiplier), (100, 0.5));
    /// # Ok::<(), dpscope_core::mechanism::MechanismError>(())
    /// ```
    pub fn distribution(&self) -> Result<ScoreDistribution, MechanismError> {
        self.check()?;
        let one_slot = |entries, weights| -> Result<ScoreDistribution, MechanismError> {
            Ok(ScoreDistribution {
                noise_multiplier: self.noise_multiplier,
                epochs: self.epochs,
                entries,
                kind: ScoreDistributionKind::OneSlot { gap: self.gap()?, weights },
            })
        };
        let steps = self.steps_per_epoch;
        match self.sampler {
            BatchSampler::Shuffle
            | BatchSampler::BallsInBins
            | BatchSampler::BatchThenShuffle
            | BatchSampler::RandomAllocation { uses_per_epoch: 1 } => {
                one_slot(steps, SlotWeights::Uniform)
            }
            BatchSampler::PersistentShuffle => {
                one_slot(steps, SlotWeights::Uniform).map(epochs_summed)
            }
            BatchSampler::Deterministic => one_slot(1, SlotWeights::Uniform).map(epochs_summed),
            BatchSampler::PartialShuffle { buffer_examples } => {
                let found = slots::partial_shuffle(self.buffered_batch()?, buffer_examples);
                one_slot(found.entries, found.weights)
            }
            BatchSampler::SlidingBuffer { buffer_examples } => {
                let found = slots::sliding_buffer(steps, self.buffered_batch()?, buffer_examples);
                one_slot(found.entries, found.weights)
            }
            BatchSampler::FixedSize if self.threat_model != ThreatModel::TargetCanary => {
                let sampling_rate = self.sampling_rate();
                Ok(self.by_step(ScoreDistributionKind::FixedSize { sampling_rate }))
            }
            BatchSampler::TruncatedPoisson(truncation) => {
                let sampling_rate = truncation.presence(self.sampling_rate())?;
                Ok(self.by_step(ScoreDistributionKind::Poisson { sampling_rate }))
            }
            BatchSampler::Poisson | BatchSampler::FixedSize => {
                let sampling_rate = self.sampling_rate();
                Ok(self.by_step(ScoreDistributionKind::Poisson { sampling_rate }))
            }
            BatchSampler::RandomAllocation { uses_per_epoch } => {
                Ok(self.by_step(ScoreDistributionKind::SeveralSlots { uses_per_epoch }))
            }
        }
    }

    /// A distribution of all steps, each scored alone.
    const fn by_step(&self, kind: ScoreDistributionKind) -> ScoreDistribution {
        ScoreDistribution {
            noise_multiplier: self.noise_multiplier,
            epochs: self.epochs,
            entries: self.steps_per_epoch,
            kind,
        }
    }

    /// The means a, c and b of a raw output.
    ///
    /// | threat model | a | c | b |
    /// |---|---|---|---|
    /// | worst case | −B + 2 | −B + 1 | −B |
    /// | partially informed | 1 | 0 | −1 |
    /// | target canary | 1 | 0 | 0 |
    /// | worst case, batch-then-shuffle | B | B − 1 | −B |
    ///
    /// # Errors
    /// As [`distribution`](Self::distribution), and the worst case without a batch size.
    pub fn batch_means(&self) -> Result<BatchMeans, MechanismError> {
        self.check()?;
        let other = match self.threat_model {
            ThreatModel::WorstCase => -f64::from(self.batch("threat model worst-case")?),
            ThreatModel::PartiallyInformed => -1.0,
            ThreatModel::TargetCanary => 0.0,
        };
        let target = other + self.gap()?;
        Ok(BatchMeans { target, zero_out: target - 1.0, other })
    }

    /// Gap a − b of the means of batches with and without the target.
    pub(super) fn gap(&self) -> Result<f64, MechanismError> {
        Ok(match (self.sampler, self.threat_model) {
            (BatchSampler::BatchThenShuffle, _) => {
                2.0 * f64::from(self.batch("sampler batch-then-shuffle")?)
            }
            (_, ThreatModel::TargetCanary) => 1.0,
            (_, ThreatModel::WorstCase | ThreatModel::PartiallyInformed) => 2.0,
        })
    }

    pub(super) fn batch(&self, needed_by: &'static str) -> Result<u32, MechanismError> {
        self.batch_size.ok_or_else(|| MechanismError::missing("batch_size", needed_by))
    }

    fn buffered_batch(&self) -> Result<u32, MechanismError> {
        self.batch("a sampler with a buffer")
    }

    fn check(&self) -> Result<(), MechanismError> {
        if !(0.2..=20.0).contains(&self.noise_multiplier) {
            let value = self.noise_multiplier;
            return Err(MechanismError::outside("noise_multiplier", value, "[0.2, 20]"));
        }
        if !(1..=100_000).contains(&self.steps_per_epoch) {
            let value = self.steps_per_epoch.into();
            return Err(MechanismError::outside("steps_per_epoch", value, "1..=100000"));
        }
        if !(1..=1_000).contains(&self.epochs) {
            return Err(MechanismError::outside("epochs", self.epochs.into(), "1..=1000"));
        }
        if self.batch_size == Some(0) {
            return Err(MechanismError::outside("batch_size", 0.0, "1..=4294967295"));
        }
        if let (BatchSampler::BatchThenShuffle, Some(value @ 500_001..)) =
            (self.sampler, self.batch_size)
        {
            // their gap 2B must be in the domain of the score kernels
            let domain = "1..=500000, the domain of sampler batch-then-shuffle";
            return Err(MechanismError::outside("batch_size", value.into(), domain));
        }
        let sampler = self.sampler.kind();
        if !sampler.is_defined(self.threat_model) {
            let threat_model = self.threat_model;
            return Err(MechanismError::UndefinedPair { sampler, threat_model });
        }
        if let Some(value) = self.sampler.buffer_examples() {
            let batch = self.buffered_batch()?;
            let examples = u64::from(self.steps_per_epoch) * u64::from(batch);
            if !(1..=examples).contains(&value) {
                let domain = format!("1..={examples}");
                return Err(MechanismError::outside("buffer_examples", value as f64, &domain));
            }
        }
        self.check_records()?;
        match self.sampler.uses_per_epoch() {
            Some(value) if !(1..=self.steps_per_epoch).contains(&value) => {
                let domain = format!("1..={}", self.steps_per_epoch);
                Err(MechanismError::outside("uses_per_epoch", value.into(), &domain))
            }
            _ => Ok(()),
        }
    }
}

/// The distribution for a target slot that is the same in all epochs: their mean is sufficient.
fn epochs_summed(distribution: ScoreDistribution) -> ScoreDistribution {
    let noise_multiplier = distribution.noise_multiplier / f64::from(distribution.epochs).sqrt();
    ScoreDistribution { noise_multiplier, epochs: 1, ..distribution }
}

/// Writes every parameter on one line.
impl fmt::Display for BatchedGaussian {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.sampler)?;
        if let Some(buffer) = self.sampler.buffer_examples() {
            write!(f, " with a buffer of {buffer} records")?;
        }
        if let Some(uses) = self.sampler.uses_per_epoch() {
            write!(f, " with {uses} use{} per epoch", if uses == 1 { "" } else { "s" })?;
        }
        if let Some(Truncation { dataset_size, max_batch_size }) = self.sampler.truncation() {
            write!(f, " with at most {max_batch_size} of {dataset_size} records per batch")?;
        }
        write!(
            f,
            ", {}, noise multiplier {}, {} step{} per epoch, {} epoch{}",
            self.threat_model,
            self.noise_multiplier,
            self.steps_per_epoch,
            if self.steps_per_epoch == 1 { "" } else { "s" },
            self.epochs,
            if self.epochs == 1 { "" } else { "s" }
        )?;
        match (self.mean_batch_size(), self.dataset_size) {
            (Some(mean), None) => write!(f, ", batches of {mean} records"),
            (Some(mean), Some(all)) => {
                let mean = given((100.0 * mean).round() / 100.0);
                write!(f, ", batches of {mean} of {all} records on average")
            }
            (None, _) => Ok(()),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::mechanism::{SamplerKind, SamplerParameters};

    pub(in crate::mechanism) fn shuffle() -> BatchedGaussian {
        BatchedGaussian {
            noise_multiplier: 1.0,
            steps_per_epoch: 100,
            epochs: 4,
            sampler: BatchSampler::Shuffle,
            threat_model: ThreatModel::WorstCase,
            batch_size: None,
            dataset_size: None,
        }
    }

    #[test]
    fn each_parameter_outside_its_domain_is_named() {
        for value in [f64::NAN, 0.19, 20.1, 0.0, -1.0, f64::INFINITY] {
            let error = BatchedGaussian { noise_multiplier: value, ..shuffle() }
                .distribution()
                .unwrap_err();
            assert!(error.to_string().starts_with(&format!("noise_multiplier = {value} ")));
        }
        for value in [0, 100_001] {
            let error =
                BatchedGaussian { steps_per_epoch: value, ..shuffle() }.distribution().unwrap_err();
            assert_eq!(error.parameter(), Some("steps_per_epoch"), "{value}");
        }
        for value in [0, 1_001] {
            let error = BatchedGaussian { epochs: value, ..shuffle() }.distribution().unwrap_err();
            assert_eq!(error.parameter(), Some("epochs"), "{value}");
        }
        let error =
            BatchedGaussian { batch_size: Some(0), ..shuffle() }.distribution().unwrap_err();
        assert_eq!(error.parameter(), Some("batch_size"));
    }

    #[test]
    fn a_batch_that_moves_as_a_whole_has_at_most_half_a_million_records() {
        let of = |sampler, value| {
            BatchedGaussian { sampler, batch_size: Some(value), ..shuffle() }
                .distribution()
                .map(|_| ())
        };
        let rigid = BatchSampler::BatchThenShuffle;
        assert_eq!(of(rigid, 500_000), Ok(()));
        for value in [500_001, 1_000_000, u32::MAX] {
            assert_eq!(of(rigid, value).unwrap_err().parameter(), Some("batch_size"), "{value}");
            assert_eq!(of(BatchSampler::Shuffle, value), Ok(()));
        }
    }

    #[test]
    fn the_ends_of_the_domains_are_inside() {
        for (noise_multiplier, steps_per_epoch, epochs) in [(0.2, 1, 1), (20.0, 100_000, 1_000)] {
            let mechanism =
                BatchedGaussian { noise_multiplier, steps_per_epoch, epochs, ..shuffle() };
            assert!(mechanism.distribution().is_ok());
        }
    }

    #[test]
    fn exactly_the_defined_pairs_have_a_distribution() {
        for kind in SamplerKind::ALL {
            for threat_model in ThreatModel::ALL {
                let sampler = kind
                    .with_parameters(SamplerParameters {
                        buffer_examples: kind.has_buffer().then_some(150),
                        dataset_size: Some(1_000),
                        max_batch_size: (kind == SamplerKind::TruncatedPoisson).then_some(12),
                        ..SamplerParameters::default()
                    })
                    .unwrap();
                let mechanism =
                    BatchedGaussian { sampler, threat_model, batch_size: Some(10), ..shuffle() };
                assert_eq!(
                    mechanism.distribution().is_ok(),
                    kind.is_defined(threat_model),
                    "{mechanism}"
                );
                let without = BatchedGaussian { batch_size: None, ..mechanism };
                let expected = kind.is_defined(threat_model) && !kind.needs_batch_size();
                assert_eq!(without.distribution().is_ok(), expected, "{without}");
            }
        }
        let sampler = BatchSampler::Poisson;
        let error = BatchedGaussian { sampler, ..shuffle() }.distribution().unwrap_err();
        assert_eq!(
            error.to_string(),
            "sampler poisson is not defined with threat model worst-case; use target-canary"
        );
    }

    #[test]
    fn a_buffer_holds_between_one_and_all_records() {
        for (buffer_examples, inside) in [(0, false), (1, true), (1_000, true), (1_001, false)] {
            for sampler in [
                BatchSampler::PartialShuffle { buffer_examples },
                BatchSampler::SlidingBuffer { buffer_examples },
            ] {
                let mechanism = BatchedGaussian { sampler, batch_size: Some(10), ..shuffle() };
                assert_eq!(mechanism.distribution().is_ok(), inside, "{mechanism}");
            }
        }
    }

    #[test]
    fn a_record_is_used_between_once_and_in_each_step_of_an_epoch() {
        for (uses_per_epoch, inside) in [(0, false), (1, true), (100, true), (101, false)] {
            let sampler = BatchSampler::RandomAllocation { uses_per_epoch };
            let threat_model = ThreatModel::TargetCanary;
            let found = BatchedGaussian { sampler, threat_model, ..shuffle() }.distribution();
            assert_eq!(found.is_ok(), inside, "{uses_per_epoch}: {found:?}");
        }
    }

    fn truncated(dataset_size: u64, max_batch_size: u64) -> BatchedGaussian {
        let truncation = Truncation { dataset_size, max_batch_size };
        let sampler = BatchSampler::TruncatedPoisson(truncation);
        BatchedGaussian { sampler, threat_model: ThreatModel::TargetCanary, ..shuffle() }
    }

    #[test]
    fn a_truncated_batch_has_from_its_mean_to_all_records() {
        for (dataset_size, least) in [(1_000, 10), (999, 10), (1_001, 11), (50, 1)] {
            for (value, inside) in
                [(least - 1, false), (least, true), (dataset_size, true), (dataset_size + 1, false)]
            {
                let found = truncated(dataset_size, value).distribution().map(|_| ());
                let refused = found.err().and_then(|error| error.parameter());
                assert_eq!(refused, (!inside).then_some("max_batch_size"), "{value}");
            }
        }
        let found = truncated(0, 0).distribution();
        assert_eq!(found.unwrap_err().parameter(), Some("dataset_size"));
    }

    #[test]
    fn truncated_batches_contain_the_target_less_often() {
        let rate = |most| truncated(1_000, most).distribution().unwrap().sampling_rate().unwrap();
        assert_eq!(rate(1_000), 0.01);
        assert!((rate(40) / 0.01 - 1.0).abs() < 1e-8);
        let rates = [10, 12, 15, 20].map(rate);
        assert!(rates.is_sorted_by(|a, b| a < b), "{rates:?}");
        // N = 2, T = 2, B = 1: ½·½ + ½·½·½
        let two = BatchedGaussian { steps_per_epoch: 2, ..truncated(2, 1) };
        let rate = two.distribution().unwrap().sampling_rate().unwrap();
        assert!((rate - 0.375).abs() < 1e-8, "{rate}");
    }

    #[test]
    fn reductions() {
        let law_of = |sampler| {
            BatchedGaussian { sampler, batch_size: Some(10), ..shuffle() }.distribution().unwrap()
        };
        let shape = |distribution: &ScoreDistribution| {
            (distribution.entries, distribution.epochs, distribution.noise_multiplier)
        };
        assert_eq!(shape(&law_of(BatchSampler::Shuffle)), (100, 4, 1.0));
        assert_eq!(shape(&law_of(BatchSampler::PersistentShuffle)), (100, 1, 0.5));
        assert_eq!(shape(&law_of(BatchSampler::Deterministic)), (1, 1, 0.5));
        let partial = law_of(BatchSampler::PartialShuffle { buffer_examples: 100 });
        assert_eq!(shape(&partial), (10, 4, 1.0));
        let rigid = law_of(BatchSampler::BatchThenShuffle);
        assert_eq!(
            rigid.kind,
            ScoreDistributionKind::OneSlot { gap: 20.0, weights: SlotWeights::Uniform }
        );

        let kind_of = |sampler, threat_model| {
            BatchedGaussian { sampler, threat_model, ..shuffle() }.distribution().unwrap().kind
        };
        let sampling_rate = 0.01;
        let (worst, target) = (ThreatModel::WorstCase, ThreatModel::TargetCanary);
        let (fixed, poisson) = (
            ScoreDistributionKind::FixedSize { sampling_rate },
            ScoreDistributionKind::Poisson { sampling_rate },
        );
        assert_eq!(kind_of(BatchSampler::FixedSize, worst), fixed);
        assert_eq!(kind_of(BatchSampler::FixedSize, target), poisson);
        let uses = |uses_per_epoch| BatchSampler::RandomAllocation { uses_per_epoch };
        assert_eq!(kind_of(uses(1), target), kind_of(BatchSampler::BallsInBins, target));
        let allocated = ScoreDistributionKind::SeveralSlots { uses_per_epoch: 3 };
        assert_eq!(kind_of(uses(3), target), allocated);

        let canary = BatchedGaussian { threat_model: ThreatModel::TargetCanary, ..shuffle() };
        let bins = BatchedGaussian { sampler: BatchSampler::BallsInBins, ..canary };
        assert_eq!(bins.distribution(), canary.distribution());
        let poisson = BatchedGaussian { sampler: BatchSampler::Poisson, ..canary };
        assert_eq!(
            poisson.distribution().unwrap().kind,
            ScoreDistributionKind::Poisson { sampling_rate: 0.01 }
        );
    }

    #[test]
    fn means_are_one_apart_and_a_gap_above_the_rest() {
        let means = |sampler, threat_model| {
            BatchedGaussian { sampler, threat_model, batch_size: Some(10), ..shuffle() }
                .batch_means()
                .map(|m| [m.target, m.zero_out, m.other])
                .unwrap()
        };
        use {BatchSampler::*, ThreatModel::*};
        assert_eq!(means(Shuffle, WorstCase), [-8.0, -9.0, -10.0]);
        assert_eq!(means(Shuffle, PartiallyInformed), [1.0, 0.0, -1.0]);
        assert_eq!(means(Shuffle, TargetCanary), [1.0, 0.0, 0.0]);
        assert_eq!(means(BatchThenShuffle, WorstCase), [10.0, 9.0, -10.0]);
        let error = shuffle().batch_means().unwrap_err();
        assert_eq!(
            error.to_string(),
            "batch_size is missing and threat model worst-case needs it; pass the number of \
             records per batch"
        );
    }

    #[test]
    fn description_names_every_parameter() {
        let sampler = BatchSampler::PartialShuffle { buffer_examples: 150 };
        let mechanism = BatchedGaussian { sampler, batch_size: Some(10), ..shuffle() };
        assert_eq!(
            mechanism.to_string(),
            "partial-shuffle with a buffer of 150 records, worst-case, noise multiplier 1, 100 \
             steps per epoch, 4 epochs, batches of 10 records"
        );
    }
}

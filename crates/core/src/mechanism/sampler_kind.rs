//! The samplers by name, and the threat models that each can be audited under.

use std::{fmt, str::FromStr};

use super::ThreatModel;

/// How a training run forms its batches, without parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum SamplerKind {
    /// Each record is in each batch independently with probability 1/T, or B/N.
    Poisson,
    /// A fresh permutation each epoch, split into batches.
    Shuffle,
    /// One permutation, used in every epoch.
    PersistentShuffle,
    /// Each record is in one batch of each epoch, uniformly and independently of the others.
    BallsInBins,
    /// Batches in one order, which every epoch repeats.
    Deterministic,
    /// Blocks of records are shuffled, one after another.
    PartialShuffle,
    /// Records are drawn from a reservoir (tf.data's `shuffle`).
    SlidingBuffer,
    /// Batches are formed first, then their order is shuffled.
    BatchThenShuffle,
    /// Poisson batches, of which a uniform subset is kept if they exceed a maximum size.
    TruncatedPoisson,
    /// Each batch is a uniform subset of fixed size, drawn anew in each step.
    FixedSize,
    /// Each record is in k of the batches of each epoch, a uniform set of k.
    RandomAllocation,
}

/// A parameter that only some samplers have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum SamplerParameter {
    /// Records in the buffer.
    BufferExamples,
    /// Batches of an epoch that contain a record, k.
    UsesPerEpoch,
    /// Most records of a batch; such a sampler depends on the number of records, too.
    MaxBatchSize,
}

impl SamplerParameter {
    /// The name in functions and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            SamplerParameter::BufferExamples => "buffer_examples",
            SamplerParameter::UsesPerEpoch => "uses_per_epoch",
            SamplerParameter::MaxBatchSize => "max_batch_size",
        }
    }

    /// The samplers that have it, at least one.
    pub fn samplers(self) -> impl Iterator<Item = SamplerKind> {
        SamplerKind::ALL.into_iter().filter(move |sampler| sampler.parameter() == Some(self))
    }
}

impl SamplerKind {
    /// Every sampler.
    pub const ALL: [SamplerKind; 11] = [
        SamplerKind::Poisson,
        SamplerKind::Shuffle,
        SamplerKind::PersistentShuffle,
        SamplerKind::BallsInBins,
        SamplerKind::Deterministic,
        SamplerKind::PartialShuffle,
        SamplerKind::SlidingBuffer,
        SamplerKind::BatchThenShuffle,
        SamplerKind::TruncatedPoisson,
        SamplerKind::FixedSize,
        SamplerKind::RandomAllocation,
    ];

    /// The name in commands, files and links.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            SamplerKind::Poisson => "poisson",
            SamplerKind::Shuffle => "shuffle",
            SamplerKind::PersistentShuffle => "persistent-shuffle",
            SamplerKind::BallsInBins => "balls-in-bins",
            SamplerKind::Deterministic => "deterministic",
            SamplerKind::PartialShuffle => "partial-shuffle",
            SamplerKind::SlidingBuffer => "sliding-buffer",
            SamplerKind::BatchThenShuffle => "batch-then-shuffle",
            SamplerKind::TruncatedPoisson => "truncated-poisson",
            SamplerKind::FixedSize => "fixed-size",
            SamplerKind::RandomAllocation => "random-allocation",
        }
    }

    /// The parameter that this sampler has and others do not.
    #[must_use]
    pub const fn parameter(self) -> Option<SamplerParameter> {
        match self {
            SamplerKind::PartialShuffle | SamplerKind::SlidingBuffer => {
                Some(SamplerParameter::BufferExamples)
            }
            SamplerKind::RandomAllocation => Some(SamplerParameter::UsesPerEpoch),
            SamplerKind::TruncatedPoisson => Some(SamplerParameter::MaxBatchSize),
            _ => None,
        }
    }

    /// Whether a record is in several batches of an epoch, a number that is a parameter.
    #[must_use]
    pub const fn has_uses(self) -> bool {
        matches!(self.parameter(), Some(SamplerParameter::UsesPerEpoch))
    }

    /// Whether records beyond a maximum batch size are dropped.
    #[must_use]
    pub const fn truncates(self) -> bool {
        matches!(self.parameter(), Some(SamplerParameter::MaxBatchSize))
    }

    /// Whether each record is drawn into each batch independently of the others.
    #[must_use]
    pub const fn draws_each_record(self) -> bool {
        matches!(self, SamplerKind::Poisson) || self.truncates()
    }

    /// Whether other records stay in their batches, at the same probabilities, where one is removed.
    #[must_use]
    pub const fn keeps_other_records(self) -> bool {
        matches!(self, SamplerKind::Poisson | SamplerKind::BallsInBins) || self.has_uses()
    }

    /// Whether each step draws its batch independently of the others, with one sampling rate: a
    /// run is a number of steps, not of epochs.
    #[must_use]
    pub const fn draws_each_step_anew(self) -> bool {
        self.draws_each_record() || matches!(self, SamplerKind::FixedSize)
    }

    /// Whether T alone does not fix the chance q that a record is in a batch.
    #[must_use]
    pub const fn has_sampling_rate(self) -> bool {
        self.draws_each_step_anew() || self.has_uses()
    }

    /// Whether batches are cut from an order of the records: if one is removed, those after it move to
    /// other batches.
    #[must_use]
    pub const fn cuts_an_order(self) -> bool {
        !self.has_sampling_rate() && !matches!(self, SamplerKind::BallsInBins)
    }

    /// Whether batches have a maximum size by design, so that their bounds depend on what neighbours
    /// differ in.
    #[must_use]
    pub const fn limits_batch_size(self) -> bool {
        matches!(self, SamplerKind::FixedSize) || self.truncates()
    }

    /// Whether the number of records in a batch is random.
    #[must_use]
    pub const fn has_random_batch_size(self) -> bool {
        self.keeps_other_records() || self.truncates()
    }

    /// Whether the sampler has a buffer of records.
    #[must_use]
    pub const fn has_buffer(self) -> bool {
        matches!(self.parameter(), Some(SamplerParameter::BufferExamples))
    }

    /// Whether the distribution of the score depends on the batch size.
    #[must_use]
    pub const fn needs_batch_size(self) -> bool {
        self.has_buffer() || matches!(self, SamplerKind::BatchThenShuffle)
    }

    /// The threat models that this sampler can be audited under, the default one first.
    ///
    /// Where the number of records in a batch is random, only the target canary is allowed: a
    /// gradient of another record in every batch without the target would make the other records
    /// depend on the target, and would refute correct code. Batch-then-shuffle is about whole
    /// batches, which only the worst case controls.
    #[must_use]
    pub const fn threat_models(self) -> &'static [ThreatModel] {
        match self {
            sampler if sampler.has_random_batch_size() => &[ThreatModel::TargetCanary],
            SamplerKind::BatchThenShuffle => &[ThreatModel::WorstCase],
            _ => &ThreatModel::ALL,
        }
    }

    /// Whether the sampler can be audited under this threat model.
    #[must_use]
    pub fn is_defined(self, threat_model: ThreatModel) -> bool {
        self.threat_models().contains(&threat_model)
    }

    /// The worst case where it is defined, else the target canary.
    #[must_use]
    pub const fn default_threat_model(self) -> ThreatModel {
        match self.has_random_batch_size() {
            true => ThreatModel::TargetCanary,
            false => ThreatModel::WorstCase,
        }
    }
}

#[cfg(feature = "clap")]
impl clap::ValueEnum for SamplerKind {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(self.name().into())
    }
}

impl fmt::Display for SamplerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for SamplerKind {
    type Err = UnknownSampler;

    fn from_str(name: &str) -> Result<Self, UnknownSampler> {
        SamplerKind::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
            .ok_or_else(|| UnknownSampler { name: name.to_owned() })
    }
}

/// A name that is no sampler.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "sampler = {name:?} is unknown; use one of {}",
    SamplerKind::ALL.map(SamplerKind::name).join(", ")
)]
pub struct UnknownSampler {
    /// The name.
    pub name: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_case_sensitive() {
        let unknown = UnknownSampler { name: "Shuffle".to_owned() };
        assert_eq!("Shuffle".parse::<SamplerKind>(), Err(unknown));
    }

    #[test]
    fn twenty_three_pairs_are_defined() {
        let defined = SamplerKind::ALL
            .into_iter()
            .flat_map(|kind| ThreatModel::ALL.map(|model| kind.is_defined(model)))
            .filter(|&defined| defined)
            .count();
        assert_eq!(defined, 6 * 3 + 5);
    }

    #[test]
    fn default_threat_model_is_defined_and_first() {
        for kind in SamplerKind::ALL {
            assert_eq!(kind.threat_models().first(), Some(&kind.default_threat_model()));
        }
    }
}

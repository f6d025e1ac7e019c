//! Batch samplers with their parameters.

use std::fmt;

use super::{MechanismError, SamplerKind, SamplerParameter, Truncation};

/// How a training run forms its batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum BatchSampler {
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
    /// Blocks of `buffer_examples` records are shuffled, one after another.
    PartialShuffle {
        /// Records in a block.
        buffer_examples: u64,
    },
    /// A reservoir of `buffer_examples` records from which the next one is drawn (tf.data's
    /// `shuffle`).
    SlidingBuffer {
        /// Records in the reservoir.
        buffer_examples: u64,
    },
    /// Batches are formed first, then their order is shuffled: a batch moves as a whole.
    BatchThenShuffle,
    /// Each record is drawn into each batch independently with probability 1/T, or B/N; of more than
    /// a maximum, a uniform subset is kept.
    TruncatedPoisson(Truncation),
    /// Each batch is a uniform subset of B records, drawn anew in each step.
    FixedSize,
    /// Each record is in `uses_per_epoch` of the batches of each epoch, a uniform set of them,
    /// independently of the others.
    RandomAllocation {
        /// Batches of an epoch that contain a record, 1 to T.
        uses_per_epoch: u32,
    },
}

/// Parameters of samplers; all but the number of records are `None` for the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SamplerParameters {
    /// Records in the buffer.
    pub buffer_examples: Option<u64>,
    /// Batches of an epoch that contain a record; 1 if `None`.
    pub uses_per_epoch: Option<u64>,
    /// Records of the data set, which only truncated batches depend on; the others ignore it.
    pub dataset_size: Option<u64>,
    /// Most records of a batch, if batches are truncated.
    pub max_batch_size: Option<u64>,
}

impl BatchSampler {
    /// The sampler without its parameter.
    #[must_use]
    pub const fn kind(self) -> SamplerKind {
        match self {
            BatchSampler::Poisson => SamplerKind::Poisson,
            BatchSampler::Shuffle => SamplerKind::Shuffle,
            BatchSampler::PersistentShuffle => SamplerKind::PersistentShuffle,
            BatchSampler::BallsInBins => SamplerKind::BallsInBins,
            BatchSampler::Deterministic => SamplerKind::Deterministic,
            BatchSampler::PartialShuffle { .. } => SamplerKind::PartialShuffle,
            BatchSampler::SlidingBuffer { .. } => SamplerKind::SlidingBuffer,
            BatchSampler::BatchThenShuffle => SamplerKind::BatchThenShuffle,
            BatchSampler::TruncatedPoisson(_) => SamplerKind::TruncatedPoisson,
            BatchSampler::FixedSize => SamplerKind::FixedSize,
            BatchSampler::RandomAllocation { .. } => SamplerKind::RandomAllocation,
        }
    }

    /// Records in the buffer, if there is one.
    #[must_use]
    pub const fn buffer_examples(self) -> Option<u64> {
        match self {
            BatchSampler::PartialShuffle { buffer_examples }
            | BatchSampler::SlidingBuffer { buffer_examples } => Some(buffer_examples),
            _ => None,
        }
    }

    /// Batches of an epoch that contain a record, where that is a parameter.
    #[must_use]
    pub const fn uses_per_epoch(self) -> Option<u32> {
        match self {
            BatchSampler::RandomAllocation { uses_per_epoch } => Some(uses_per_epoch),
            _ => None,
        }
    }

    /// The records and the most of them in a batch, if batches are truncated.
    #[must_use]
    pub const fn truncation(self) -> Option<Truncation> {
        match self {
            BatchSampler::TruncatedPoisson(truncation) => Some(truncation),
            _ => None,
        }
    }
}

/// The name alone: parameters have options and fields of their own in commands and files.
impl fmt::Display for BatchSampler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind().fmt(f)
    }
}

impl SamplerKind {
    /// The sampler with its buffer, and one use per epoch.
    ///
    /// # Errors
    /// As [`with_parameters`](Self::with_parameters).
    pub fn with_buffer(self, buffer_examples: Option<u64>) -> Result<BatchSampler, MechanismError> {
        self.with_parameters(SamplerParameters { buffer_examples, ..SamplerParameters::default() })
    }

    /// The sampler with its parameters.
    ///
    /// # Errors
    /// A parameter that is missing, or one of another sampler.
    pub fn with_parameters(
        self,
        parameters: SamplerParameters,
    ) -> Result<BatchSampler, MechanismError> {
        let SamplerParameters { buffer_examples, uses_per_epoch, dataset_size, max_batch_size } =
            parameters;
        let unbuffered = |sampler| match buffer_examples {
            None => Ok(sampler),
            Some(value) => Err(MechanismError::unused("buffer_examples", value, self)),
        };
        let missing = |name| MechanismError::missing(name, format!("sampler {self}"));
        let buffer = buffer_examples.ok_or_else(|| missing("buffer_examples"));
        for (parameter, value) in [
            (SamplerParameter::UsesPerEpoch, uses_per_epoch),
            (SamplerParameter::MaxBatchSize, max_batch_size),
        ] {
            if let Some(value) = value.filter(|_| self.parameter() != Some(parameter)) {
                return Err(MechanismError::unused(parameter.name(), value, self));
            }
        }
        match self {
            SamplerKind::Poisson => unbuffered(BatchSampler::Poisson),
            SamplerKind::Shuffle => unbuffered(BatchSampler::Shuffle),
            SamplerKind::PersistentShuffle => unbuffered(BatchSampler::PersistentShuffle),
            SamplerKind::BallsInBins => unbuffered(BatchSampler::BallsInBins),
            SamplerKind::Deterministic => unbuffered(BatchSampler::Deterministic),
            SamplerKind::BatchThenShuffle => unbuffered(BatchSampler::BatchThenShuffle),
            SamplerKind::TruncatedPoisson => {
                let max_batch_size = max_batch_size.ok_or_else(|| missing("max_batch_size"))?;
                let dataset_size = dataset_size.ok_or_else(|| missing("dataset_size"))?;
                let truncation = Truncation { dataset_size, max_batch_size };
                unbuffered(BatchSampler::TruncatedPoisson(truncation))
            }
            SamplerKind::FixedSize => unbuffered(BatchSampler::FixedSize),
            SamplerKind::RandomAllocation => {
                let value = uses_per_epoch.unwrap_or(1);
                let uses_per_epoch = u32::try_from(value).map_err(|_| {
                    MechanismError::outside("uses_per_epoch", value as f64, "1..=4294967295")
                })?;
                unbuffered(BatchSampler::RandomAllocation { uses_per_epoch })
            }
            SamplerKind::PartialShuffle => {
                buffer.map(|buffer_examples| BatchSampler::PartialShuffle { buffer_examples })
            }
            SamplerKind::SlidingBuffer => {
                buffer.map(|buffer_examples| BatchSampler::SlidingBuffer { buffer_examples })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What this sampler needs.
    fn needed(kind: SamplerKind) -> SamplerParameters {
        let is_truncated = kind == SamplerKind::TruncatedPoisson;
        SamplerParameters {
            buffer_examples: kind.has_buffer().then_some(7),
            dataset_size: is_truncated.then_some(12),
            max_batch_size: is_truncated.then_some(3),
            ..SamplerParameters::default()
        }
    }

    #[test]
    fn names_round_trip() {
        for kind in SamplerKind::ALL {
            assert_eq!(kind.to_string().parse(), Ok(kind));
            let sampler = kind.with_parameters(needed(kind)).unwrap();
            assert_eq!(sampler.kind(), kind);
            assert_eq!(sampler.buffer_examples(), needed(kind).buffer_examples);
            assert_eq!(sampler.truncation().map(|t| t.max_batch_size), needed(kind).max_batch_size);
            assert_eq!(sampler.to_string(), kind.name());
        }
    }

    #[test]
    fn only_truncated_batches_have_a_maximum_size() {
        for kind in SamplerKind::ALL {
            let parameters = SamplerParameters { max_batch_size: Some(3), ..needed(kind) };
            let found = kind.with_parameters(parameters).map(BatchSampler::truncation);
            let expected = match kind {
                SamplerKind::TruncatedPoisson => {
                    Ok(Some(Truncation { dataset_size: 12, max_batch_size: 3 }))
                }
                _ => Err(MechanismError::unused("max_batch_size", 3, kind)),
            };
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn truncated_batches_need_both_numbers() {
        let sampler = SamplerKind::TruncatedPoisson;
        let without_records = SamplerParameters { dataset_size: None, ..needed(sampler) };
        let missing = |name| MechanismError::missing(name, "sampler truncated-poisson");
        assert_eq!(sampler.with_parameters(without_records), Err(missing("dataset_size")));
        assert_eq!(sampler.with_buffer(None), Err(missing("max_batch_size")));
    }

    #[test]
    fn only_random_allocation_has_uses_per_epoch() {
        for kind in SamplerKind::ALL {
            let parameters = SamplerParameters { uses_per_epoch: Some(3), ..needed(kind) };
            let found = kind.with_parameters(parameters).map(BatchSampler::uses_per_epoch);
            let expected = match kind {
                SamplerKind::RandomAllocation => Ok(Some(3)),
                _ => Err(MechanismError::unused("uses_per_epoch", 3, kind)),
            };
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn exactly_the_buffered_samplers_need_a_buffer_size() {
        for kind in SamplerKind::ALL {
            let with_buffer = |buffer_examples| {
                kind.with_parameters(SamplerParameters { buffer_examples, ..needed(kind) })
            };
            assert_eq!(with_buffer(None).is_ok(), !kind.has_buffer());
            assert_eq!(with_buffer(Some(1)).is_ok(), kind.has_buffer());
        }
        let error = SamplerKind::SlidingBuffer.with_buffer(None).unwrap_err();
        assert_eq!(
            error.to_string(),
            "buffer_examples is missing and sampler sliding-buffer needs it; pass a number of \
             records, at most those of an epoch"
        );
    }
}

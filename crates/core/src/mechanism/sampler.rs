//! Batch samplers with their parameters.

use std::fmt;

use super::{MechanismError, SamplerKind};

/// How a simulated training run forms its batches; other samplers are only accounted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum BatchSampler {
    /// Each record is in each batch independently with probability 1/T.
    Poisson,
    /// A fresh permutation each epoch, split into batches.
    Shuffle,
    /// One permutation, used in every epoch.
    PersistentShuffle,
    /// Each record is in one batch of each epoch, uniformly and independently of the others.
    BallsInBins,
    /// The same order in every epoch.
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
}

/// The name alone, without the buffer: a buffer is a parameter of its own in commands and files.
impl fmt::Display for BatchSampler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind().fmt(f)
    }
}

impl SamplerKind {
    /// The simulated sampler with its buffer.
    ///
    /// # Errors
    /// A buffered sampler without a buffer, a buffer for a sampler without one, or a sampler that is
    /// not simulated.
    pub fn with_buffer(self, buffer_examples: Option<u64>) -> Result<BatchSampler, MechanismError> {
        let unbuffered = |sampler| match buffer_examples {
            None => Ok(sampler),
            Some(value) => Err(MechanismError::BufferUnused { sampler: self, value }),
        };
        let buffer = buffer_examples.ok_or(MechanismError::BufferMissing { sampler: self });
        match self {
            SamplerKind::Poisson => unbuffered(BatchSampler::Poisson),
            SamplerKind::Shuffle => unbuffered(BatchSampler::Shuffle),
            SamplerKind::PersistentShuffle => unbuffered(BatchSampler::PersistentShuffle),
            SamplerKind::BallsInBins => unbuffered(BatchSampler::BallsInBins),
            SamplerKind::Deterministic => unbuffered(BatchSampler::Deterministic),
            SamplerKind::BatchThenShuffle => unbuffered(BatchSampler::BatchThenShuffle),
            SamplerKind::TruncatedPoisson => Err(MechanismError::NotSimulated { sampler: self }),
            SamplerKind::FixedSize | SamplerKind::RandomAllocation => {
                Err(MechanismError::NotSimulated { sampler: self })
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

    #[test]
    fn names_round_trip() {
        for kind in SamplerKind::ALL {
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
        for kind in SamplerKind::SIMULATED {
            let buffer = kind.has_buffer().then_some(7);
            let sampler = kind.with_buffer(buffer).unwrap();
            assert_eq!(sampler.kind(), kind);
            assert_eq!(sampler.buffer_examples(), buffer);
            assert_eq!(sampler.to_string(), kind.name());
        }
    }

    #[test]
    fn samplers_that_are_not_simulated_are_refused() {
        for kind in SamplerKind::ALL {
            let is_refused =
                matches!(kind.with_buffer(None), Err(MechanismError::NotSimulated { .. }));
            assert_eq!(is_refused, !SamplerKind::SIMULATED.contains(&kind), "{kind}");
        }
    }

    #[test]
    fn exactly_the_buffered_samplers_need_a_buffer_size() {
        for kind in SamplerKind::SIMULATED {
            assert_eq!(kind.with_buffer(None).is_ok(), !kind.has_buffer());
            assert_eq!(kind.with_buffer(Some(1)).is_ok(), kind.has_buffer());
        }
        let error = SamplerKind::SlidingBuffer.with_buffer(None).unwrap_err();
        assert_eq!(
            error.to_string(),
            "buffer_examples is missing and sampler sliding-buffer needs it; pass its number \
             of records"
        );
    }
}

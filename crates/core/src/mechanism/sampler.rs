//! How batches are drawn.

/// How a training run forms its batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum BatchSampler {
    /// Each record is in each batch independently with probability 1/T.
    Poisson,
    /// A fresh permutation each epoch, cut into batches.
    Shuffle,
    /// One permutation, used in every epoch.
    PersistentShuffle,
    /// Each record falls into one batch of each epoch, uniformly, independently of the others.
    BallsInBins,
    /// The same order, always.
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

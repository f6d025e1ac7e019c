//! ε or δ of a training, proven or drawn.

use dpscope_core::accounting::{Accounted, Cell, Schedule};
use dpscope_core::adjacency::{Adjacency, Scope};
use serde::Serialize;

/// The document of `dpscope bound`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BoundReport {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "dpscope.bound/1")))]
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// What is bounded.
    pub subject: BoundSubject,
    /// What neighbouring data sets differ in, if it was chosen; else one gradient is zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adjacency: Option<Adjacency>,
    /// Most records of a truncated batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_batch_size: Option<u64>,
    /// The value on the requested side.
    #[serde(flatten)]
    pub value: Accounted,
    /// Noise, steps and epochs.
    pub settings: Schedule,
    /// All values of the exact pair; none for another subject.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<PairBounds>,
    /// What the values of the pair were drawn from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draws: Option<PairDraws>,
}

/// How batches are drawn, or the exact pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum BoundSubject {
    /// Each record is in each batch with the same probability.
    Poisson,
    /// Each record is in the same batch of each epoch.
    Deterministic,
    /// Each record is in one batch of each epoch, drawn uniformly and independently.
    BallsInBins,
    /// Poisson batches, of which a uniform subset is kept if they exceed a maximum size.
    TruncatedPoisson,
    /// A uniform subset of fixed size is drawn in each step.
    FixedSize,
    /// Each record is in a uniform set of batches of each epoch.
    RandomAllocation,
    /// The data are reshuffled in every epoch.
    Shuffle,
    /// The data are shuffled once, for all epochs.
    PersistentShuffle,
    /// The exact worst-case pair of shuffled batches.
    Pair,
}

impl BoundReport {
    /// What neighbouring data sets differ in; none for a value about one pair.
    #[must_use]
    pub fn neighbours(&self) -> Option<&'static str> {
        let adjacency = self.adjacency.unwrap_or(Adjacency::ZeroOut);
        let is_independent = match self.subject {
            BoundSubject::Poisson | BoundSubject::BallsInBins | BoundSubject::RandomAllocation => {
                true
            }
            BoundSubject::TruncatedPoisson
            | BoundSubject::FixedSize
            | BoundSubject::Deterministic
            | BoundSubject::Shuffle
            | BoundSubject::PersistentShuffle
            | BoundSubject::Pair => false,
        };
        let is_truncated = self.subject == BoundSubject::TruncatedPoisson;
        (self.value.scope == Scope::Mechanism).then_some(match adjacency {
            Adjacency::ZeroOut if is_independent => {
                "one record's gradient is replaced by zero, or the record is removed while the \
                 probabilities of all others stay the same"
            }
            Adjacency::ZeroOut => "one record's gradient is replaced by zero",
            Adjacency::AddRemove if is_independent => {
                "one record more or less, while the probabilities of all others stay the same"
            }
            Adjacency::AddRemove if is_truncated => {
                "one record less, at the same sampling rate and maximum batch size"
            }
            Adjacency::AddRemove => "one record more or less, at the same batch size",
            Adjacency::Replace => "one record is replaced by any other",
        })
    }
}

/// Lower limit, estimate and upper value of the exact pair.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PairBounds {
    /// Rigorous; the closed form where nothing was drawn.
    pub lower: Accounted,
    /// Without coverage.
    pub estimate: Cell,
    /// Proven.
    pub upper: Accounted,
}

/// Draws of the exact pair.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PairDraws {
    /// Draws for the lower limit.
    pub observations: u64,
    /// Decimal digits.
    pub seed: String,
    /// The device that drew.
    pub device: String,
}

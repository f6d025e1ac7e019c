//! ε or δ of a training, proven or drawn.

use dpscope_core::accounting::{Accounted, Cell, Schedule};
use dpscope_core::adjacency::{Adjacency, Scope};
use dpscope_core::mechanism::SamplerKind;
use serde::Serialize;

use crate::words::BOUNDED;

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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "String"))]
#[serde(into = "&'static str")]
pub enum BoundSubject {
    /// Batches of this sampler.
    Sampler(SamplerKind),
    /// The exact worst-case pair of shuffled batches.
    Pair,
}

impl From<BoundSubject> for &'static str {
    fn from(subject: BoundSubject) -> Self {
        subject.name()
    }
}

impl BoundSubject {
    /// Every subject with what the help of `bound` says of it.
    pub fn all() -> impl Iterator<Item = (Self, &'static str)> {
        let pair =
            (BoundSubject::Pair, "The exact worst-case pair of shuffled batches, as audited");
        let samplers = BOUNDED.into_iter();
        samplers.map(|(sampler, says)| (BoundSubject::Sampler(sampler), says)).chain([pair])
    }

    /// The name in commands and documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            BoundSubject::Sampler(sampler) => sampler.name(),
            BoundSubject::Pair => "pair",
        }
    }

    /// The sampler; none for the exact pair.
    #[must_use]
    pub const fn sampler(self) -> Option<SamplerKind> {
        match self {
            BoundSubject::Sampler(sampler) => Some(sampler),
            BoundSubject::Pair => None,
        }
    }

    /// Whether the sampler has a property.
    #[must_use]
    pub fn is(self, property: impl Fn(SamplerKind) -> bool) -> bool {
        self.sampler().is_some_and(property)
    }
}

impl BoundReport {
    /// What neighbouring data sets differ in; none for a value about one pair.
    #[must_use]
    pub fn neighbours(&self) -> Option<&'static str> {
        let adjacency = self.adjacency.unwrap_or(Adjacency::ZeroOut);
        let is_independent = self.subject.is(SamplerKind::keeps_other_records);
        let is_truncated = self.subject.is(SamplerKind::truncates);
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

//! Loaders: the samplers, and ways to form batches of which less is proven.

use std::fmt;

use crate::mechanism::{BatchSampler, SamplerKind, Truncation};

/// Ways to form batches that are no [`SamplerKind`].
///
/// | batches | lower bound | upper bound |
/// |---|---|---|
/// | `WithReplacement` | Poisson pair at q = 1 − (1 − 1/N)^B | unknown |
/// | `OncePerEpoch` | unknown | deterministic batches, under zero-out adjacency |
/// | `Unknown` | unknown | unknown |
///
/// With replacement, and all other gradients zero, the target's gradient enters a sum once or
/// several times, which moves outputs further in the direction in which the likelihood ratio rises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum OtherBatches {
    /// Each record of a batch is drawn from all records, so that a batch may contain one twice.
    WithReplacement,
    /// Each record is in at most one batch of an epoch; the distribution of the order is unknown.
    OncePerEpoch,
    /// Nothing is known.
    Unknown,
}

impl OtherBatches {
    /// All of them.
    pub const ALL: [OtherBatches; 3] =
        [OtherBatches::WithReplacement, OtherBatches::OncePerEpoch, OtherBatches::Unknown];

    /// The name in commands and documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            OtherBatches::WithReplacement => "with-replacement",
            OtherBatches::OncePerEpoch => "once-per-epoch",
            OtherBatches::Unknown => "unknown",
        }
    }
}

/// How a loader forms batches, without parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(untagged))]
pub enum LoaderKind {
    /// A sampler.
    Sampler(SamplerKind),
    /// Something else.
    Other(OtherBatches),
}

impl LoaderKind {
    /// The sampler, if it is one.
    #[must_use]
    pub const fn sampler(self) -> Option<SamplerKind> {
        match self {
            LoaderKind::Sampler(kind) => Some(kind),
            LoaderKind::Other(_) => None,
        }
    }

    /// Whether batches are cut from an order of the records: if one is removed, those after it move to
    /// other batches.
    #[must_use]
    pub const fn cuts_an_order(self) -> bool {
        match self {
            LoaderKind::Sampler(kind) => kind.cuts_an_order(),
            LoaderKind::Other(other) => matches!(other, OtherBatches::OncePerEpoch),
        }
    }

    /// The name in commands and documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            LoaderKind::Sampler(kind) => kind.name(),
            LoaderKind::Other(other) => other.name(),
        }
    }

    /// What has this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let samplers = SamplerKind::ALL.into_iter().map(LoaderKind::Sampler);
        let others = OtherBatches::ALL.into_iter().map(LoaderKind::Other);
        samplers.chain(others).find(|kind| kind.name() == name)
    }
}

impl fmt::Display for LoaderKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl From<SamplerKind> for LoaderKind {
    fn from(kind: SamplerKind) -> Self {
        LoaderKind::Sampler(kind)
    }
}

/// How a loader forms batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(untagged))]
pub enum LoaderBatches {
    /// A sampler.
    Sampler(BatchSampler),
    /// Something else.
    Other(OtherBatches),
}

impl LoaderBatches {
    /// Batches of an epoch that contain a record.
    #[must_use]
    pub fn uses_per_epoch(self) -> u64 {
        match self {
            LoaderBatches::Sampler(sampler) => sampler.uses_per_epoch().unwrap_or(1).into(),
            LoaderBatches::Other(_) => 1,
        }
    }

    /// The records and the most of them in a batch, if batches are truncated.
    #[must_use]
    pub const fn truncation(self) -> Option<Truncation> {
        match self {
            LoaderBatches::Sampler(sampler) => sampler.truncation(),
            LoaderBatches::Other(_) => None,
        }
    }

    /// Without parameters.
    #[must_use]
    pub const fn kind(self) -> LoaderKind {
        match self {
            LoaderBatches::Sampler(sampler) => LoaderKind::Sampler(sampler.kind()),
            LoaderBatches::Other(other) => LoaderKind::Other(other),
        }
    }

    /// Records in the buffer, if there is one.
    #[must_use]
    pub const fn buffer_examples(self) -> Option<u64> {
        match self {
            LoaderBatches::Sampler(sampler) => sampler.buffer_examples(),
            LoaderBatches::Other(_) => None,
        }
    }
}

impl fmt::Display for LoaderBatches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind().fmt(f)
    }
}

impl From<BatchSampler> for LoaderBatches {
    fn from(sampler: BatchSampler) -> Self {
        LoaderBatches::Sampler(sampler)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_known() {
        let samplers = SamplerKind::ALL.map(LoaderKind::Sampler);
        let others = OtherBatches::ALL.map(LoaderKind::Other);
        for kind in samplers.into_iter().chain(others) {
            assert_eq!(LoaderKind::named(kind.name()), Some(kind));
        }
        assert_eq!(LoaderKind::named("Shuffle"), None);
    }
}

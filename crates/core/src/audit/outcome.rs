//! A value of ε with coverage or without.

use super::bound::{EpsilonEstimate, EpsilonLowerBound, Evidence};

/// A value of ε: with coverage, or without.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome {
    /// A value with coverage.
    Bound(EpsilonLowerBound),
    /// A value without.
    Estimate(EpsilonEstimate),
}

/// Whether a value of ε has coverage: it exceeds the true ε with a stated chance at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum OutcomeKind {
    /// With coverage: a lower bound.
    Bound,
    /// Without coverage.
    Estimate,
}

impl Outcome {
    /// Whether the value has coverage.
    #[must_use]
    pub const fn kind(&self) -> OutcomeKind {
        match self {
            Outcome::Bound(_) => OutcomeKind::Bound,
            Outcome::Estimate(_) => OutcomeKind::Estimate,
        }
    }

    /// The bound, if the value has coverage.
    #[must_use]
    pub const fn bound(&self) -> Option<&EpsilonLowerBound> {
        match self {
            Outcome::Bound(bound) => Some(bound),
            Outcome::Estimate(_) => None,
        }
    }

    /// The estimate, if the value has no coverage.
    #[must_use]
    pub const fn estimate(&self) -> Option<&EpsilonEstimate> {
        match self {
            Outcome::Bound(_) => None,
            Outcome::Estimate(estimate) => Some(estimate),
        }
    }

    /// The largest of several outcomes of one audit: a bound if all are bounds, at the sum of their
    /// significances ([`EpsilonLowerBound::best_of`]).
    #[must_use]
    pub fn best_of(outcomes: &[Outcome]) -> Option<Outcome> {
        let bounds: Vec<EpsilonLowerBound> = outcomes
            .iter()
            .filter_map(|outcome| match outcome {
                Outcome::Bound(bound) => Some(*bound),
                Outcome::Estimate(_) => None,
            })
            .collect();
        if bounds.len() == outcomes.len() {
            return EpsilonLowerBound::best_of(&bounds).map(Outcome::Bound);
        }
        let largest = outcomes.iter().max_by(|a, b| a.value().total_cmp(&b.value()))?;
        Some(largest.into_estimate())
    }

    /// This value without coverage.
    #[must_use]
    pub fn into_estimate(self) -> Outcome {
        match self {
            Outcome::Bound(bound) => Outcome::Estimate(bound.into_estimate()),
            estimate @ Outcome::Estimate(_) => estimate,
        }
    }

    /// Value of ε, in nats.
    #[must_use]
    pub fn value(&self) -> f64 {
        match self {
            Outcome::Bound(bound) => bound.value(),
            Outcome::Estimate(estimate) => estimate.value(),
        }
    }

    /// The deciding cut.
    #[must_use]
    pub fn evidence(&self) -> &Evidence {
        match self {
            Outcome::Bound(bound) => bound.evidence(),
            Outcome::Estimate(estimate) => estimate.evidence(),
        }
    }
}

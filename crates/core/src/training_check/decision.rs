//! The decision on a claim from bounds on ε, for every entry point.

use super::{LoaderKind, TrainingError};
use crate::adjacency::Adjacency;
use crate::audit::claim::PrivacyClaim;

/// δ and adjacency at which ε of a training is asked for, with the ε that is claimed, if one is.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckTarget {
    /// Claimed ε.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub epsilon: Option<f64>,
    /// Privacy parameter δ.
    pub delta: f64,
    /// What neighbouring data sets differ in.
    pub adjacency: Adjacency,
}

impl CheckTarget {
    /// δ where nothing is claimed and none is stated.
    pub const DEFAULT_DELTA: f64 = 1e-5;

    /// δ of a target: that of a claim is a part of it and never assumed.
    #[must_use]
    pub fn delta_of(claim: Option<f64>, stated: Option<f64>) -> Option<f64> {
        stated.or(claim.is_none().then_some(Self::DEFAULT_DELTA))
    }

    /// The claim, if there is one.
    #[must_use]
    pub fn claim(&self) -> Option<PrivacyClaim> {
        let CheckTarget { epsilon, delta, adjacency } = *self;
        epsilon.map(|epsilon| PrivacyClaim { epsilon, delta, adjacency })
    }

    pub(super) fn check(&self) -> Result<(), TrainingError> {
        self.claim().map_or(Ok(()), |claim| Ok(claim.check()?))
    }
}

impl From<&PrivacyClaim> for CheckTarget {
    fn from(claim: &PrivacyClaim) -> Self {
        let PrivacyClaim { epsilon, delta, adjacency } = *claim;
        CheckTarget { epsilon: Some(epsilon), delta, adjacency }
    }
}

/// What is proven about the claim of a described training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum CheckVerdict {
    /// A proven lower bound exceeds the claim.
    Refuted,
    /// A proven upper bound does not exceed the claim. This is about the description, not the code.
    HoldsAsDescribed,
    /// The claim lies between the proven bounds, or a bound is missing.
    Inconclusive,
}

/// Bounds on ε of a training at the δ of a claim, as far as they are known.
///
/// # Example
/// ```
/// use dpscope_core::adjacency::Adjacency;
/// use dpscope_core::mechanism::SamplerKind;
/// use dpscope_core::training_check::{CheckVerdict, EpsilonBounds};
///
/// let shuffled = |claimed| {
///     let adjacencies = (Adjacency::ZeroOut, claimed);
///     EpsilonBounds::new(SamplerKind::Shuffle.into(), adjacencies, Some(4.06), Some(4.38))
/// };
/// assert_eq!(shuffled(Adjacency::ZeroOut).verdict(5.0), CheckVerdict::HoldsAsDescribed);
/// let add_remove = shuffled(Adjacency::AddRemove);
/// assert_eq!(add_remove.verdict(5.0), CheckVerdict::Inconclusive);
/// assert!(add_remove.holds_for_zero_out_alone(5.0));
/// assert_eq!(add_remove.verdict(4.0), CheckVerdict::Refuted);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct EpsilonBounds {
    /// Lower bound on ε: some neighbours leak at least as much.
    pub lower: Option<f64>,
    /// Upper bound on ε under the adjacency of the claim.
    pub upper: Option<f64>,
    /// Upper bound on ε under zero-out adjacency, if it is none under that of the claim.
    pub zero_out_upper: Option<f64>,
}

impl EpsilonBounds {
    /// Bounds of a loader, of which the upper one is proven under the first adjacency, for a claim under
    /// the second.
    #[must_use]
    pub fn new(
        loader: LoaderKind,
        (proven, claimed): (Adjacency, Adjacency),
        lower: Option<f64>,
        upper: Option<f64>,
    ) -> Self {
        let is_zero_out = proven == Adjacency::ZeroOut;
        if proven == claimed || (is_zero_out && loader.has_zero_out_bound_under(claimed)) {
            EpsilonBounds { lower, upper, zero_out_upper: None }
        } else {
            EpsilonBounds { lower, upper: None, zero_out_upper: upper.filter(|_| is_zero_out) }
        }
    }

    /// The verdict on a claimed ε. Bounds that contradict each other decide nothing.
    #[must_use]
    pub fn verdict(&self, claimed: f64) -> CheckVerdict {
        let is_refuted = self.lower.is_some_and(|lower| lower > claimed);
        let is_covered = self.upper.is_some_and(|upper| upper <= claimed);
        match (is_refuted, is_covered) {
            (true, false) => CheckVerdict::Refuted,
            (false, true) => CheckVerdict::HoldsAsDescribed,
            _ => CheckVerdict::Inconclusive,
        }
    }

    /// Whether a claim that is open under its own adjacency is proven under zero-out adjacency.
    #[must_use]
    pub fn holds_for_zero_out_alone(&self, claimed: f64) -> bool {
        let zero_out = EpsilonBounds { upper: self.zero_out_upper, ..*self };
        self.verdict(claimed) == CheckVerdict::Inconclusive
            && zero_out.verdict(claimed) == CheckVerdict::HoldsAsDescribed
    }
}

impl LoaderKind {
    /// Whether an upper bound on ε that is proven under zero-out adjacency also holds under `adjacency`:
    /// under add-remove, if other records stay in their batches when one is removed.
    #[must_use]
    pub const fn has_zero_out_bound_under(self, adjacency: Adjacency) -> bool {
        match adjacency {
            Adjacency::ZeroOut => true,
            Adjacency::Replace => false,
            Adjacency::AddRemove => match self {
                LoaderKind::Sampler(sampler) if sampler.limits_batch_size() => false,
                loader => !loader.cuts_an_order(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::SamplerKind;

    #[test]
    fn bounds_of_another_adjacency_decide_nothing() {
        use Adjacency::{AddRemove, Replace, ZeroOut};
        use CheckVerdict::{HoldsAsDescribed, Inconclusive};
        for (sampler, proven, claimed, expected) in [
            (SamplerKind::Shuffle, ZeroOut, ZeroOut, HoldsAsDescribed),
            (SamplerKind::Shuffle, ZeroOut, AddRemove, Inconclusive),
            (SamplerKind::BallsInBins, ZeroOut, AddRemove, HoldsAsDescribed),
            (SamplerKind::BallsInBins, ZeroOut, Replace, Inconclusive),
            (SamplerKind::FixedSize, ZeroOut, AddRemove, Inconclusive),
            (SamplerKind::FixedSize, Replace, Replace, HoldsAsDescribed),
            (SamplerKind::FixedSize, Replace, AddRemove, Inconclusive),
        ] {
            let bounds =
                EpsilonBounds::new(sampler.into(), (proven, claimed), Some(1.0), Some(2.0));
            assert_eq!(bounds.verdict(2.0), expected, "{sampler} {claimed:?}");
            assert_eq!(bounds.verdict(0.9), CheckVerdict::Refuted);
            let is_open = expected == Inconclusive && proven == ZeroOut;
            assert_eq!(bounds.holds_for_zero_out_alone(2.0), is_open, "{sampler} {claimed:?}");
        }
    }

    #[test]
    fn bounds_that_contradict_each_other_decide_nothing() {
        let bounds = EpsilonBounds { lower: Some(3.0), upper: Some(1.0), zero_out_upper: None };
        assert_eq!(bounds.verdict(2.0), CheckVerdict::Inconclusive);
        assert_eq!(EpsilonBounds::default().verdict(2.0), CheckVerdict::Inconclusive);
        assert_eq!(bounds.verdict(f64::NAN), CheckVerdict::Inconclusive);
    }
}

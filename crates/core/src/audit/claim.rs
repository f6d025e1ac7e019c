//! Claims about privacy, and verdicts on them.

use crate::adjacency::Adjacency;
use crate::audit::bound::{Assumes, EpsilonLowerBound};
use crate::format::given;

/// The claim under test: "the training is (ε, δ)-DP under this adjacency".
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PrivacyClaim {
    /// Claimed ε, at least 0, in nats.
    pub epsilon: f64,
    /// Claimed δ, in [0, 1).
    pub delta: f64,
    /// The neighbouring relation.
    pub adjacency: Adjacency,
}

/// The verdict of an audit on a claim. "Not refuted" is no proof of the claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Verdict {
    /// The claim is false, at the confidence of the bound.
    Refuted,
    /// The audit found no more leakage than claimed.
    NotRefuted,
    /// There is no valid bound, or none that could have exceeded the claim.
    Inconclusive,
}

/// The reason for a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum VerdictReason {
    /// The bound exceeds the claimed ε.
    BoundExceedsClaim,
    /// Theory proves an ε of the mechanism above the claim.
    ProvenLowerBound,
    /// The recorded outputs contain no noise, so no ε is finite.
    NoNoise,
    /// The bound does not exceed the claimed ε.
    BoundWithinClaim,
    /// No result of the audit could have exceeded the claimed ε.
    CeilingWithinClaim,
    /// The rule has no coverage.
    EstimateOnly,
    /// A finding invalidates the coverage of the bound.
    CoverageLost,
    /// The bound depends on an assumption.
    BoundAssumesMore,
    /// The bound does not exceed the claimed ε, but the data are not what its attack assumes.
    AttackMismatch,
}

impl VerdictReason {
    /// What a lower bound on ε says of a claimed ε, if the audit could have shown no more than
    /// `ceiling`; none where its bounds have no ceiling.
    #[must_use]
    pub fn of_bound(bound: f64, ceiling: Option<f64>, claimed: f64) -> Self {
        if bound > claimed {
            VerdictReason::BoundExceedsClaim
        } else if ceiling.is_some_and(|ceiling| ceiling <= claimed) {
            VerdictReason::CeilingWithinClaim
        } else {
            VerdictReason::BoundWithinClaim
        }
    }

    /// [`VerdictReason::AttackMismatch`] if the data contradict what the attack assumes, unless the bound refutes
    /// the claim all the same.
    #[must_use]
    pub fn or_mismatch(self, is_mismatch: bool) -> Self {
        if is_mismatch && self != VerdictReason::BoundExceedsClaim {
            VerdictReason::AttackMismatch
        } else {
            self
        }
    }

    /// The verdict that follows.
    #[must_use]
    pub const fn verdict(self) -> Verdict {
        match self {
            VerdictReason::BoundExceedsClaim
            | VerdictReason::ProvenLowerBound
            | VerdictReason::NoNoise => Verdict::Refuted,
            VerdictReason::BoundWithinClaim => Verdict::NotRefuted,
            VerdictReason::EstimateOnly
            | VerdictReason::CeilingWithinClaim
            | VerdictReason::CoverageLost
            | VerdictReason::BoundAssumesMore
            | VerdictReason::AttackMismatch => Verdict::Inconclusive,
        }
    }
}

/// A verdict and its reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClaimVerdict {
    /// The verdict.
    pub outcome: Verdict,
    /// Its reason.
    pub reason: VerdictReason,
}

impl From<VerdictReason> for ClaimVerdict {
    fn from(reason: VerdictReason) -> Self {
        ClaimVerdict { outcome: reason.verdict(), reason }
    }
}

impl ClaimVerdict {
    /// Refuted where `lower`, proven of the audited training, exceeds the claimed ε, whatever the audit
    /// found.
    #[must_use]
    pub fn with_proven(self, lower: Option<f64>, claimed: f64) -> Self {
        match lower {
            Some(lower) if lower > claimed && self.outcome != Verdict::Refuted => {
                VerdictReason::ProvenLowerBound.into()
            }
            _ => self,
        }
    }
}

/// A claim that cannot be compared with an audit.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ClaimError {
    /// ε is not a finite number ≥ 0.
    #[error("the claimed epsilon is {}; it must be a finite number >= 0", given(*.epsilon))]
    Epsilon {
        /// The value.
        epsilon: f64,
    },
    /// The claim and the audit have different δ.
    #[error(
        "the claim has delta {}, but the audit {}; values at different delta cannot be compared",
        given(*.claimed), given(*.audited)
    )]
    Delta {
        /// δ of the claim.
        claimed: f64,
        /// δ of the audit.
        audited: f64,
    },
}

impl PrivacyClaim {
    /// Checks the numbers of the claim.
    ///
    /// # Errors
    /// An ε that is not a finite number ≥ 0.
    pub fn check(&self) -> Result<(), ClaimError> {
        if !(self.epsilon >= 0.0 && self.epsilon.is_finite()) {
            return Err(ClaimError::Epsilon { epsilon: self.epsilon });
        }
        Ok(())
    }

    /// Checks that the claim can be compared with an audit at δ = `audited`.
    ///
    /// # Errors
    /// An ε that is not a finite number ≥ 0, or a claim at another δ.
    pub fn check_against(&self, audited: f64) -> Result<(), ClaimError> {
        self.check()?;
        if self.delta == audited {
            Ok(())
        } else {
            Err(ClaimError::Delta { claimed: self.delta, audited })
        }
    }

    /// Compares this claim with a bound for a pair of neighbours under zero-out adjacency.
    ///
    /// # Guarantee
    /// Only a bound that assumes nothing decides
    /// (`unit::a_bound_that_assumes_more_decides_nothing`), and a claim that no bound could have
    /// exceeded stays open (`unit::a_claim_above_the_ceiling_stays_open`).
    ///
    /// # Errors
    /// An ε that is not a finite number ≥ 0, or a bound at another δ.
    pub fn verdict(&self, bound: &EpsilonLowerBound) -> Result<ClaimVerdict, ClaimError> {
        self.check_against(bound.evidence().delta)?;
        Ok(ClaimVerdict::from(if bound.assumes() != Assumes::Nothing {
            VerdictReason::BoundAssumesMore
        } else {
            let ceiling = bound.evidence().ceiling;
            VerdictReason::of_bound(bound.value(), Some(ceiling), self.epsilon)
        }))
    }

    /// Why a bound for a zero-out pair applies to a claim under this adjacency.
    #[must_use]
    pub const fn adjacency_note(adjacency: Adjacency) -> &'static str {
        match adjacency {
            Adjacency::ZeroOut => "claim and audit both use zero-out adjacency",
            Adjacency::AddRemove => {
                "an add/remove claim is compared with zero-out adjacency; for DP-SGD the two are the \
                 same unless another record takes its place in the batch"
            }
            Adjacency::Replace => {
                "a replace claim is compared with zero-out adjacency: this is valid only if a \
                 record with zero gradient is admissible in the data"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::bound::at_fixed_cut;
    use crate::audit::trade_off::{Cut, ErrorCounts, Trials};

    fn bound() -> EpsilonLowerBound {
        let errors = ErrorCounts { false_positives: 10, false_negatives: 10 };
        let trials = Trials { target: 1000, zero_out: 1000 };
        at_fixed_cut(Cut { threshold: 0.0, errors }, trials, 1e-5, 0.05).unwrap()
    }

    fn claim(epsilon: f64, delta: f64) -> PrivacyClaim {
        PrivacyClaim { epsilon, delta, adjacency: Adjacency::AddRemove }
    }

    #[test]
    fn only_a_larger_bound_refutes() {
        let value = bound().value();
        let verdict = |epsilon| claim(epsilon, 1e-5).verdict(&bound()).unwrap();
        assert_eq!(verdict(value - 1e-9), VerdictReason::BoundExceedsClaim.into());
        assert_eq!(verdict(value), VerdictReason::BoundWithinClaim.into());
        assert_eq!(verdict(value - 1e-9).outcome, Verdict::Refuted);
        assert_eq!(verdict(value).outcome, Verdict::NotRefuted);
    }

    #[test]
    fn a_claim_above_the_ceiling_stays_open() {
        let ceiling = bound().evidence().ceiling;
        let reason = |epsilon| claim(epsilon, 1e-5).verdict(&bound()).unwrap().reason;
        assert_eq!(reason(ceiling), VerdictReason::CeilingWithinClaim);
        assert_eq!(reason(ceiling - 1e-9), VerdictReason::BoundWithinClaim);
        assert_eq!(VerdictReason::CeilingWithinClaim.verdict(), Verdict::Inconclusive);
    }

    #[test]
    fn a_bound_that_assumes_more_decides_nothing() {
        for assumes in [Assumes::IndependentCanaries, Assumes::GaussianCurve] {
            let verdict = claim(0.0, 1e-5).verdict(&bound().assuming(assumes)).unwrap();
            assert_eq!(verdict.outcome, Verdict::Inconclusive);
            assert_eq!(verdict.reason, VerdictReason::BoundAssumesMore);
        }
    }

    #[test]
    fn another_delta_or_a_bad_epsilon_is_an_error() {
        assert!(matches!(claim(1.0, 1e-6).verdict(&bound()), Err(ClaimError::Delta { .. })));
        assert!(matches!(claim(f64::NAN, 1e-5).verdict(&bound()), Err(ClaimError::Epsilon { .. })));
        assert!(matches!(claim(-1.0, 1e-5).verdict(&bound()), Err(ClaimError::Epsilon { .. })));
    }
}

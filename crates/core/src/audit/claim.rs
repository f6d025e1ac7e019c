//! Claims about privacy, and what a bound says about them.

use crate::adjacency::Adjacency;
use crate::audit::bound::EpsilonLowerBound;
use crate::format::given;

/// What is tested: "the training is (ε, δ)-DP under this adjacency".
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PrivacyClaim {
    /// ε, ≥ 0.
    pub epsilon: f64,
    /// δ, in [0, 1).
    pub delta: f64,
    /// The neighbouring relation.
    pub adjacency: Adjacency,
}

/// What a bound says about a claim. "Not refuted" proves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Verdict {
    /// The claim is false, unless the bound is one of the few that fail.
    Refuted,
    /// This audit did not find more than was claimed.
    NotRefuted,
}

/// A claim that cannot be compared.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ClaimError {
    /// ε is no privacy parameter.
    #[error("the claimed epsilon is {}; it must be a finite number >= 0", given(*.epsilon))]
    Epsilon {
        /// The value.
        epsilon: f64,
    },
    /// The claim and the audit speak of different δ.
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

    /// Compares a bound, which holds for a pair of neighbours under zero-out adjacency, with this
    /// claim.
    ///
    /// # Errors
    /// An ε that is not a finite number ≥ 0, or a bound at another δ.
    pub fn verdict(&self, bound: &EpsilonLowerBound) -> Result<Verdict, ClaimError> {
        self.check()?;
        let audited = bound.evidence().delta;
        if self.delta != audited {
            return Err(ClaimError::Delta { claimed: self.delta, audited });
        }
        let refuted = bound.value() > self.epsilon;
        Ok(if refuted { Verdict::Refuted } else { Verdict::NotRefuted })
    }

    /// Why a zero-out pair speaks about this claim's adjacency.
    #[must_use]
    pub fn adjacency_note(&self) -> &'static str {
        match self.adjacency {
            Adjacency::ZeroOut => "claim and audit both use zero-out adjacency",
            Adjacency::AddRemove => {
                "an add/remove claim is compared with zero-out adjacency; for DP-SGD the two are \
                 semantically equal"
            }
            Adjacency::Replace => {
                "a replace claim is compared with zero-out adjacency: that holds only where a \
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
        assert_eq!(claim(value - 1e-9, 1e-5).verdict(&bound()), Ok(Verdict::Refuted));
        assert_eq!(claim(value, 1e-5).verdict(&bound()), Ok(Verdict::NotRefuted));
    }

    #[test]
    fn another_delta_or_a_bad_epsilon_is_an_error() {
        assert!(matches!(claim(1.0, 1e-6).verdict(&bound()), Err(ClaimError::Delta { .. })));
        assert!(matches!(claim(f64::NAN, 1e-5).verdict(&bound()), Err(ClaimError::Epsilon { .. })));
        assert!(matches!(claim(-1.0, 1e-5).verdict(&bound()), Err(ClaimError::Epsilon { .. })));
    }
}

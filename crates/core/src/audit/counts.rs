//! Audits of error counts at one threshold.

use super::auc::Auc;
use super::bound::{BoundError, Statement, at_fixed_cut};
use super::finding::Finding;
use super::outcome::Outcome;
use super::result::AuditResult;
use super::trade_off::{Cut, ErrorCounts, Trials};
use crate::recorded::independence::FALSE_ALARM;

/// Error counts of an attack at one threshold that was fixed beforehand.
///
/// # Example
/// ```
/// use dpscope_core::audit::Counts;
/// use dpscope_core::audit::bound::Statement;
///
/// let counts = Counts {
///     false_positives: 12,
///     zero_out_trials: 1000,
///     false_negatives: 480,
///     target_trials: 1000,
/// };
/// let result = counts.audit(Statement::default())?;
/// assert_eq!(format!("{:.4}", result.epsilon()), "3.1531");
/// # Ok::<(), dpscope_core::audit::bound::BoundError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counts {
    /// Runs of D′ in which the attack decided for the target.
    pub false_positives: u64,
    /// Runs of D′.
    pub zero_out_trials: u64,
    /// Runs of D in which the attack decided against the target.
    pub false_negatives: u64,
    /// Runs of D.
    pub target_trials: u64,
}

impl Counts {
    /// The bound from Clopper–Pearson limits of both rates; see [`at_fixed_cut`].
    ///
    /// # Guarantee
    /// As [`at_fixed_cut`]
    /// (`tests/coverage/bounds.rs::fixed_cut_covers_by_enumeration_and_its_twin_does_not`).
    ///
    /// # Errors
    /// A world without runs, more errors than runs, or a probability outside its domain.
    pub fn audit(&self, statement: Statement) -> Result<AuditResult, BoundError> {
        let Statement { delta, significance } = statement;
        let bound = at_fixed_cut(self.cut(), self.trials(), delta, significance)?;
        let auc = Auc::of_errors(self.cut().errors, self.trials(), FALSE_ALARM)?;
        let reversed = auc.is_reversed().then_some(Finding::ScoresReversed { auc });
        Ok(AuditResult::new(Outcome::Bound(bound), significance).with_findings(reversed))
    }

    /// The errors, at an unknown threshold (NaN).
    #[must_use]
    pub const fn cut(&self) -> Cut {
        let Counts { false_positives, false_negatives, .. } = *self;
        Cut { threshold: f64::NAN, errors: ErrorCounts { false_positives, false_negatives } }
    }

    /// Runs of each world.
    #[must_use]
    pub const fn trials(&self) -> Trials {
        Trials { target: self.target_trials, zero_out: self.zero_out_trials }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::OutcomeKind;

    #[test]
    fn counts_have_a_bound_at_an_unknown_threshold() {
        let counts = Counts {
            false_positives: 12,
            zero_out_trials: 1000,
            false_negatives: 480,
            target_trials: 900,
        };
        let result = counts.audit(Statement::default()).unwrap();
        assert_eq!((result.kind(), result.threshold()), (OutcomeKind::Bound, None));
        assert_eq!(result.evidence().trials, Trials { target: 900, zero_out: 1000 });
        assert_eq!(result.findings(), []);
        let reversed = Counts { false_positives: 700, ..counts }.audit(Statement::default());
        let reversed = reversed.unwrap();
        assert!(matches!(reversed.findings(), [Finding::ScoresReversed { .. }]));
        assert!(Counts { target_trials: 479, ..counts }.audit(Statement::default()).is_err());
        assert!(Counts { target_trials: 0, ..counts }.audit(Statement::default()).is_err());
    }
}

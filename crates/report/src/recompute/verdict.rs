//! Verdicts that follow from bounds and findings.

use dpscope_core::audit::claim::{ClaimVerdict, VerdictReason};
use dpscope_core::audit::one_run::OneRunFinding;
use dpscope_core::audit::{Finding, OutcomeKind};
use serde_json::json;

use super::checker::Checker;

/// What the findings of a report do to its verdicts.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Coverage {
    is_estimate: bool,
    costs_coverage: bool,
    leaves_claims_open: bool,
    contradicts_description: bool,
    has_no_noise: bool,
}

impl Coverage {
    /// By the findings of an audit of two worlds.
    pub(crate) fn of_two_worlds(report: &Checker<'_>, findings: &[Finding]) -> Self {
        Coverage {
            is_estimate: report.is("/result/threshold_rule", "max-uncorrected"),
            costs_coverage: findings.iter().any(Finding::costs_coverage),
            leaves_claims_open: findings.iter().any(Finding::leaves_claims_open),
            contradicts_description: findings.iter().any(Finding::contradicts_description),
            has_no_noise: findings.iter().any(|it| matches!(it, Finding::NoNoise { .. })),
        }
    }

    /// By the findings of an audit with canaries.
    pub(crate) fn of_canaries(findings: &[OneRunFinding]) -> Self {
        Coverage {
            costs_coverage: findings.iter().any(OneRunFinding::costs_coverage),
            leaves_claims_open: findings.iter().any(OneRunFinding::leaves_claims_open),
            ..Coverage::default()
        }
    }

    /// Whether findings contradict the description of the training.
    pub(crate) const fn contradicts_description(self) -> bool {
        self.contradicts_description
    }

    /// Whether values have coverage.
    pub(crate) const fn kind(self) -> OutcomeKind {
        if self.is_estimate || self.costs_coverage {
            OutcomeKind::Estimate
        } else {
            OutcomeKind::Bound
        }
    }

    /// The verdict on a claim, from the reason of the numbers alone.
    pub(crate) fn verdict(self, numbers: VerdictReason) -> ClaimVerdict {
        ClaimVerdict::from(if self.has_no_noise {
            VerdictReason::NoNoise
        } else if self.costs_coverage {
            VerdictReason::CoverageLost
        } else if self.is_estimate {
            VerdictReason::EstimateOnly
        } else if self.leaves_claims_open && numbers != VerdictReason::BoundExceedsClaim {
            VerdictReason::AttackMismatch
        } else {
            numbers
        })
    }
}

impl Checker<'_> {
    /// Compares the verdict on a claim or a limit, if there is one, with that of a value on the same
    /// quantity, and of its ceiling.
    pub(crate) fn expect_verdict(
        &mut self,
        pointer: &str,
        coverage: Coverage,
        values: (f64, Option<f64>),
    ) {
        self.expect_verdict_with(None, pointer, coverage, values);
    }

    /// As [`Self::expect_verdict`], where theory proves `lower` of the training.
    pub(crate) fn expect_verdict_with(
        &mut self,
        lower: Option<f64>,
        pointer: &str,
        coverage: Coverage,
        (value, ceiling): (f64, Option<f64>),
    ) {
        if let Some(claim) = self.compared(&format!("{pointer}/epsilon")) {
            let verdict = coverage.verdict(VerdictReason::of_bound(value, ceiling, claim));
            self.expect_all(&format!("{pointer}/verdict"), verdict.with_proven(lower, claim));
        }
    }

    /// Compares the verdict on everything that was tested with those at these places: the worst, and of
    /// equals the first.
    pub(crate) fn expect_overall_verdict(&mut self, places: &[&str]) {
        let outcomes = ["refuted", "inconclusive", "not-refuted"];
        let worst = outcomes.iter().find_map(|outcome| {
            let is = |place: &&&str| self.text(&format!("{place}/outcome")) == Some(*outcome);
            places.iter().find(is).copied()
        });
        let expected = worst.map(|place| {
            let [outcome, reason] =
                ["outcome", "reason"].map(|field| self.text(&format!("{place}/{field}")));
            json!({ "outcome": outcome, "reason": reason })
        });
        self.expect_all("/verdict", expected);
    }
}

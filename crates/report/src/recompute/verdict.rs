//! Verdicts that follow from bounds and findings.

use dpscope_core::audit::OutcomeKind;
use dpscope_core::audit::claim::{ClaimVerdict, VerdictReason};
use serde_json::json;

use super::checker::Checker;

/// Findings that leave an estimate alone.
const COST_COVERAGE: [&str; 7] = [
    "partial_run",
    "coins_follow_order",
    "second_scores",
    "repeated_scores",
    "number_outside_design",
    "unseen_not_uniform",
    "control_seen",
];

/// Findings that leave a claim open which the bound does not exceed.
const LEAVE_CLAIMS_OPEN: [&str; 21] = [
    "no_canary",
    "canary_size_differs",
    "worlds_swapped",
    "outputs_negated",
    "other_batches_differ",
    "slope_differs",
    "noise_reused",
    "outputs_vary_less_than_noise",
    "scores_reversed",
    "cosines_reversed",
    "control_not_seen",
    "no_scores",
    "spread_too_small",
    "noise_below_stated",
    "canary_weight",
    "few_replies",
    "unequal_replies",
    "arrival_follows_class",
    "scores_follow_class",
    "participation_above_claimed",
    // where it is not audited
    "order_fixed",
];

/// What the findings of a report do to its verdicts.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Coverage {
    is_estimate: bool,
    costs_coverage: bool,
    leaves_claims_open: bool,
    has_no_noise: bool,
}

impl Coverage {
    /// Reads the findings. Their codes say what they cost; that they were found needs the data.
    pub(super) fn of(report: &mut Checker<'_>) -> Self {
        let mut found = Coverage {
            is_estimate: report.is("/result/threshold_rule", "max-uncorrected"),
            ..Self::default()
        };
        for index in 0..report.len("/findings") {
            let at = |field: &str| format!("/findings/{index}/{field}");
            let (code, costs) = (at("code"), at("costs_coverage"));
            let is = |names: &[&str]| names.iter().any(|name| report.is(&code, name));
            let is_dependence = is(&["dependence"]);
            let costs_coverage = match is_dependence {
                // its numbers are data
                true => report.flag(&costs),
                false => is(&COST_COVERAGE),
            };
            let is_audited = report.flag(&at("data/is_audited"));
            found.leaves_claims_open |= is(&LEAVE_CLAIMS_OPEN) && !is_audited;
            found.has_no_noise |= is(&["no_noise"]);
            found.costs_coverage |= costs_coverage;
            if !is_dependence {
                report.expect(&costs, costs_coverage);
            }
        }
        found
    }

    /// Whether values have coverage.
    pub(super) const fn kind(self) -> OutcomeKind {
        if self.is_estimate || self.costs_coverage {
            OutcomeKind::Estimate
        } else {
            OutcomeKind::Bound
        }
    }

    /// The verdict on a claim, from the reason of the numbers alone.
    pub(super) fn verdict(self, numbers: VerdictReason) -> ClaimVerdict {
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

/// What a value, and a ceiling if there is one, say of a claim.
pub(super) fn reason_of(value: f64, ceiling: Option<f64>, claim: f64) -> VerdictReason {
    if value > claim {
        VerdictReason::BoundExceedsClaim
    } else if ceiling.is_some_and(|ceiling| ceiling <= claim) {
        VerdictReason::CeilingWithinClaim
    } else {
        VerdictReason::BoundWithinClaim
    }
}

impl Checker<'_> {
    /// Compares the verdict on a claim or a limit, if there is one, with that of a value on the same
    /// quantity, and of its ceiling.
    pub(super) fn expect_verdict(
        &mut self,
        pointer: &str,
        coverage: Coverage,
        (value, ceiling): (f64, Option<f64>),
    ) {
        if let Some(claim) = self.compared(&format!("{pointer}/epsilon")) {
            let verdict = coverage.verdict(reason_of(value, ceiling, claim));
            self.expect_all(&format!("{pointer}/verdict"), verdict);
        }
    }

    /// Compares the verdict on everything that was tested with those at these places: the worst, and of
    /// equals the first.
    pub(super) fn expect_overall_verdict(&mut self, places: &[&str]) {
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

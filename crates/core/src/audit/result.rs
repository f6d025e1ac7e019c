//! The result of an audit.

use super::bound::{EpsilonEstimate, EpsilonLowerBound, Evidence};
use super::claim::{ClaimError, ClaimVerdict, PrivacyClaim, VerdictReason};
use super::finding::Finding;
use super::outcome::{Outcome, OutcomeKind};
use crate::gdp::gdp_mu_lower_bound;

/// A value of ε with its evidence and findings.
///
/// # Guarantee
/// A result with a finding that costs coverage is an estimate: findings are added by
/// [`with_findings`](Self::with_findings) alone, which turns a bound into an estimate where it must
/// (`unit::a_finding_that_costs_coverage_leaves_an_estimate`).
#[derive(Debug, Clone, PartialEq)]
pub struct AuditResult {
    outcome: Outcome,
    significance: f64,
    target_side: TargetSide,
    uncorrected_maximum: Option<EpsilonEstimate>,
    findings: Vec<Finding>,
}

/// On which side of a threshold the attack decides for the target's world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum TargetSide {
    /// Scores above the threshold.
    #[default]
    Above,
    /// Scores below it: the attack was made on negated scores.
    Below,
}

impl TargetSide {
    /// A threshold of the attack's scores on the scale of the recorded ones; none where it is not a
    /// finite number: unknown, or below every score.
    #[must_use]
    pub fn threshold(self, threshold: f64) -> Option<f64> {
        let recorded = match self {
            TargetSide::Above => threshold,
            TargetSide::Below => 0.0 - threshold, // without a negative zero
        };
        recorded.is_finite().then_some(recorded)
    }
}

impl AuditResult {
    /// A result without findings, of an attack that decides for the target above its threshold.
    #[must_use]
    pub fn new(outcome: Outcome, significance: f64) -> Self {
        AuditResult {
            outcome,
            significance,
            target_side: TargetSide::Above,
            uncorrected_maximum: None,
            findings: Vec::new(),
        }
    }

    /// Adds the largest value over all thresholds to this result, as published audits report it.
    #[must_use]
    pub fn with_uncorrected_maximum(self, uncorrected_maximum: Option<EpsilonEstimate>) -> Self {
        AuditResult { uncorrected_maximum, ..self }
    }

    /// Adds findings to this result, which is then an estimate if one of them costs coverage.
    #[must_use]
    pub fn with_findings(mut self, findings: impl IntoIterator<Item = Finding>) -> Self {
        self.findings.extend(findings);
        if self.findings.iter().any(Finding::costs_coverage) {
            self.outcome = self.outcome.into_estimate();
        }
        self
    }

    /// States that the attack behind this result was made on negated scores.
    #[must_use]
    pub fn reversed(self) -> Self {
        AuditResult { target_side: TargetSide::Below, ..self }
    }

    /// The value, with coverage or without.
    #[must_use]
    pub const fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// The chance that a bound is wrong: the significance that the threshold rule received.
    #[must_use]
    pub const fn significance(&self) -> f64 {
        self.significance
    }

    /// On which side of the threshold the attack decides for the target's world.
    #[must_use]
    pub const fn target_side(&self) -> TargetSide {
        self.target_side
    }

    /// The largest value over all thresholds, an estimate; none if it was not computed.
    #[must_use]
    pub const fn uncorrected_maximum(&self) -> Option<&EpsilonEstimate> {
        self.uncorrected_maximum.as_ref()
    }

    /// Whether the value has coverage.
    #[must_use]
    pub const fn kind(&self) -> OutcomeKind {
        self.outcome.kind()
    }

    /// Value of ε, in nats.
    #[must_use]
    pub fn epsilon(&self) -> f64 {
        self.outcome.value()
    }

    /// The bound, if the value has coverage.
    #[must_use]
    pub const fn bound(&self) -> Option<&EpsilonLowerBound> {
        self.outcome.bound()
    }

    /// The estimate, if the value has no coverage.
    #[must_use]
    pub const fn estimate(&self) -> Option<&EpsilonEstimate> {
        self.outcome.estimate()
    }

    /// The deciding threshold with its counts and limits.
    #[must_use]
    pub fn evidence(&self) -> &Evidence {
        self.outcome.evidence()
    }

    /// Findings about the code or the protocol.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The deciding threshold on the scale of the recorded scores; none where it is not a finite
    /// number: unknown, or below every score.
    #[must_use]
    pub fn threshold(&self) -> Option<f64> {
        self.target_side.threshold(self.evidence().threshold)
    }

    /// A lower bound on μ of Gaussian differential privacy from the limits of both rates; none for
    /// an estimate.
    #[must_use]
    pub fn gdp_mu(&self) -> Option<f64> {
        let Evidence { fpr_upper, fnr_upper, .. } = *self.bound()?.evidence();
        gdp_mu_lower_bound(fpr_upper, fnr_upper).ok()
    }

    /// The verdict on a claim.
    ///
    /// # Guarantee
    /// Only a bound that assumes nothing refutes (`unit::estimates_decide_nothing`,
    /// `crates/core/src/audit/claim.rs::a_bound_that_assumes_more_decides_nothing`).
    ///
    /// # Errors
    /// A claimed ε that is not a finite number ≥ 0, or a claim at another δ.
    pub fn verdict(&self, claim: &PrivacyClaim) -> Result<ClaimVerdict, ClaimError> {
        claim.check_against(self.evidence().delta)?;
        if self.findings.iter().any(|finding| matches!(finding, Finding::NoNoise { .. })) {
            return Ok(VerdictReason::NoNoise.into());
        }
        if let Some(bound) = self.bound() {
            let verdict = claim.verdict(bound)?;
            let is_open = matches!(
                verdict.reason,
                VerdictReason::BoundWithinClaim | VerdictReason::CeilingWithinClaim
            );
            let is_mismatch = is_open && self.findings.iter().any(Finding::leaves_claims_open);
            return Ok(if is_mismatch { VerdictReason::AttackMismatch.into() } else { verdict });
        }
        Ok(ClaimVerdict::from(if self.findings.iter().any(Finding::costs_coverage) {
            VerdictReason::CoverageLost
        } else {
            VerdictReason::EstimateOnly
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adjacency::{Adjacency, World};
    use crate::audit::bound::at_fixed_cut;
    use crate::audit::claim::Verdict;
    use crate::audit::trade_off::{Cut, ErrorCounts, Trials};
    use crate::recorded::OutputParameter;

    fn result() -> AuditResult {
        let errors = ErrorCounts { false_positives: 10, false_negatives: 10 };
        let trials = Trials { target: 1000, zero_out: 1000 };
        let bound = at_fixed_cut(Cut { threshold: 0.5, errors }, trials, 1e-5, 0.05).unwrap();
        AuditResult::new(Outcome::Bound(bound), 0.05)
    }

    const CLAIM: PrivacyClaim =
        PrivacyClaim { epsilon: 1.0, delta: 1e-5, adjacency: Adjacency::AddRemove };

    #[test]
    fn a_finding_that_costs_coverage_leaves_an_estimate() {
        let harmless = Finding::FailedRuns { target: 1, zero_out: 0 };
        assert_eq!(result().with_findings([harmless]).kind(), OutcomeKind::Bound);
        let partial = Finding::PartialRun { counted: 1, planned: 2 };
        let demoted = result().with_findings([harmless, partial]);
        assert_eq!(
            (demoted.kind(), demoted.epsilon()),
            (OutcomeKind::Estimate, result().epsilon())
        );
        assert_eq!((demoted.gdp_mu(), demoted.findings().len()), (None, 2));
        let verdict = demoted.verdict(&CLAIM).unwrap();
        assert_eq!(verdict.outcome, Verdict::Inconclusive);
        assert_eq!(verdict.reason, VerdictReason::CoverageLost);
    }

    #[test]
    fn outputs_without_noise_refute_every_claim() {
        let noiseless = Finding::NoNoise { world: World::Target };
        let partial = Finding::PartialRun { counted: 1, planned: 2 };
        for result in [result(), result().with_findings([partial])] {
            let verdict = result.with_findings([noiseless]).verdict(&CLAIM).unwrap();
            assert_eq!(verdict, VerdictReason::NoNoise.into());
            assert_eq!(verdict.outcome, Verdict::Refuted);
        }
    }

    #[test]
    fn data_that_contradict_the_attack_leave_a_claim_open() {
        let reason = |finding: Finding, epsilon: f64| {
            let claim = PrivacyClaim { epsilon, ..CLAIM };
            result().with_findings([finding]).verdict(&claim).unwrap().reason
        };
        let noise = OutputParameter { value: 0.5, lower: 0.4, upper: 0.6 };
        for finding in [
            Finding::OrderFixed { step: 3, is_audited: false },
            Finding::NoiseReused { share: 0.5, expected: 0.08, is_over_epochs: false },
            Finding::NoiseBelowStated { epochs: None, noise, stated: 1.0, phases: 1 },
        ] {
            assert_eq!(reason(finding, 5.0), VerdictReason::AttackMismatch);
            assert_eq!(reason(finding, 0.1), VerdictReason::BoundExceedsClaim);
        }
        let audited = Finding::OrderFixed { step: 3, is_audited: true };
        assert_eq!(reason(audited, 5.0), VerdictReason::BoundWithinClaim);
        assert_eq!(reason(audited, 100.0), VerdictReason::CeilingWithinClaim);
        let harmless = Finding::FailedRuns { target: 1, zero_out: 0 };
        assert_eq!(reason(harmless, 5.0), VerdictReason::BoundWithinClaim);
    }

    #[test]
    fn estimates_decide_nothing() {
        assert_eq!(result().verdict(&CLAIM).unwrap().outcome, Verdict::Refuted);
        let estimate = AuditResult::new(result().outcome().into_estimate(), 0.05);
        let verdict = estimate.verdict(&CLAIM).unwrap();
        assert_eq!(verdict.outcome, Verdict::Inconclusive);
        assert_eq!(verdict.reason, VerdictReason::EstimateOnly);
        let other = PrivacyClaim { delta: 1e-6, ..CLAIM };
        assert!(estimate.verdict(&other).is_err());
    }

    #[test]
    fn negated_scores_have_negated_thresholds() {
        assert_eq!(result().threshold(), Some(0.5));
        assert_eq!(result().reversed().threshold(), Some(-0.5));
        assert_eq!(TargetSide::Below.threshold(0.0).map(f64::is_sign_negative), Some(false));
        assert_eq!(TargetSide::Above.threshold(f64::NEG_INFINITY), None);
    }
}

//! Canary clients of one federated training: from their cosines to the report.

use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::one_run::OneRunFinding;
use dpscope_core::audit::one_shot::{
    CanaryDesign, CosineNull, NullTails, OneShotQuestion, OneShotResult, ScoreChecks,
    repeated_cosines, unseen_finding,
};
use dpscope_report::record::{ClaimTest, OneShotEstimate, OneShotReport, PrivacyUnit};
use dpscope_report::words::{CanaryNull, OneShotAttacker, OneShotDesign};

use crate::{CommittedFederatedPlan, Cosines, RecordedError, class_findings};

/// What was fixed before the training: by a plan, or as stated.
#[derive(Debug, Clone, PartialEq)]
pub struct FederatedSettings {
    /// Number of trained parameters.
    pub dimension: u64,
    /// How the number of canaries was drawn; none if it was fixed and is that of the scores.
    pub design: Option<CanaryDesign>,
    /// Canaries that took part; none if each has a cosine.
    pub inserted: Option<u64>,
    /// What the attacker sees.
    pub attacker: OneShotAttacker,
    /// Server rounds over which each cosine is the maximum.
    pub server_rounds: u64,
    /// δ of the bounds.
    pub delta: f64,
    /// Chance that a bound is wrong.
    pub significance: f64,
    /// What the bound certifies.
    pub adjacency: Adjacency,
    /// Whether a plan fixed all of it.
    pub is_committed: bool,
}

impl From<&CommittedFederatedPlan> for FederatedSettings {
    fn from(committed: &CommittedFederatedPlan) -> Self {
        let plan = &committed.plan;
        Self {
            dimension: plan.dimension,
            design: Some(plan.design),
            inserted: Some(committed.inserted()),
            attacker: plan.attacker,
            server_rounds: plan.server_rounds,
            delta: plan.delta,
            significance: plan.significance,
            adjacency: plan.adjacency,
            is_committed: true,
        }
    }
}

/// Null probabilities of the seen canaries.
#[derive(Debug, Clone)]
pub struct FederatedScores {
    /// ln p of each canary that has a score.
    pub tails: NullTails,
    /// Where these are limits: exact ones of another statistic, for checks of the protocol.
    pub exact_tails: Option<NullTails>,
    /// Cosines that are numbers.
    pub cosines: Vec<f64>,
    /// Canaries that took part.
    pub inserted: u64,
    /// Cosine of the control client; none in a file of cosines.
    pub control: Option<f64>,
    /// Whether it took part, as stated, and is seen.
    pub is_control_seen: bool,
    /// What is known before the bounds are computed.
    pub findings: Vec<OneRunFinding>,
}

impl FederatedScores {
    /// From a file of cosines; `plan` is the one that fixed the settings.
    ///
    /// # Errors
    /// Cosines of canaries that did not take part, or without a null probability.
    pub fn of_cosines(
        cosines: &Cosines,
        null: &CosineNull,
        settings: &FederatedSettings,
        plan: Option<&CommittedFederatedPlan>,
    ) -> Result<Self, RecordedError> {
        let inserted = match settings.inserted {
            Some(inserted) => inserted,
            None => {
                cosines.check_any()?;
                cosines.number()
            }
        };
        cosines.check(inserted)?;
        let findings = match plan.filter(|_| settings.server_rounds == 1) {
            Some(plan) => class_findings(null, plan, cosines.numbered())?,
            None => Vec::new(),
        };
        Ok(Self {
            tails: cosines.tails(null, settings.server_rounds)?,
            exact_tails: None,
            cosines: cosines.known(),
            inserted,
            control: None,
            is_control_seen: false,
            findings,
        })
    }

    /// The report of these scores; `unseen` are cosines of directions that no client sent.
    ///
    /// # Errors
    /// Scores or settings without a bound, or a claim that cannot be compared.
    pub fn report(
        &self,
        settings: &FederatedSettings,
        null: &CosineNull,
        unseen: Option<&Cosines>,
        test: &ClaimTest,
    ) -> Result<OneShotReport, RecordedError> {
        let number = CanaryDesign::Fixed { canaries: self.inserted };
        let question = OneShotQuestion {
            design: settings.design.unwrap_or(number),
            inserted: self.inserted,
            delta: settings.delta,
            significance: settings.significance,
            null_significance: 0.0,
            server_rounds: settings.server_rounds,
        };
        let result = OneShotResult::new(&self.tails, question)?;
        let is_exact = settings.server_rounds == 1;
        let checks = ScoreChecks::new(self.exact_tails.as_ref().unwrap_or(&self.tails));
        let mut findings = self.findings.clone();
        if is_exact || self.exact_tails.is_some() {
            findings.extend(checks.findings()?);
        }
        findings.extend(repeated_cosines(&self.cosines));
        if let Some(unseen) = unseen {
            unseen.check_any()?;
            findings.extend(unseen_finding(&unseen.tails(null, 1)?));
        }
        let design = OneShotDesign {
            number: question.design,
            inserted: self.inserted,
            null: CanaryNull::Cosines { dimension: settings.dimension },
            attacker: settings.attacker,
            unit: PrivacyUnit::User,
            adjacency: settings.adjacency,
            is_committed: settings.is_committed,
        };
        let mean = is_exact.then(|| checks.standardised_mean());
        let report = OneShotReport::new(result.with_findings(findings), design, mean, test)?;
        let estimates = match is_exact {
            true => OneShotEstimate::all(null, &self.cosines, settings.delta),
            false => Vec::new(),
        };
        let report = OneShotReport { estimates, ..report };
        Ok(if self.is_control_seen { report.with_seen_control() } else { report })
    }
}

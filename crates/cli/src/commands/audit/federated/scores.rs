//! Null probabilities of the canaries, from cosines or from models.

use std::path::Path;

use dpscope_core::audit::one_run::OneRunFinding;
use dpscope_core::audit::one_shot::{CosineNull, NullTails};
use dpscope_core::random::content_seed;

use super::class::score_findings;
use super::cosines::Cosines;
use crate::failure::Failure;
use crate::federated_plan::CommittedFederatedPlan;

/// Directions that no client sent, whose cosines are tested for uniformity.
pub(super) const UNSEEN: u64 = 200;

/// Null probabilities of the seen canaries.
pub(super) struct CanaryScores {
    pub(super) tails: NullTails,
    /// Where these are limits: exact ones of another statistic, for checks of the protocol.
    pub(super) exact_tails: Option<NullTails>,
    /// Cosines that are numbers.
    pub(super) cosines: Vec<f64>,
    pub(super) inserted: u64,
    /// Cosine of the control client; none in a file of cosines.
    pub(super) control: Option<f64>,
    pub(super) findings: Vec<OneRunFinding>,
}

/// A plan and its folder.
pub(super) struct OpenPlan<'a> {
    pub(super) folder: &'a Path,
    pub(super) committed: CommittedFederatedPlan,
}

impl CanaryScores {
    /// From a file of cosines.
    pub(super) fn of_cosines(
        path: &Path,
        null: &CosineNull,
        server_rounds: u64,
        inserted: Option<u64>,
        plan: Option<&OpenPlan<'_>>,
    ) -> Result<Self, Failure> {
        let file = Cosines::read(path)?;
        let inserted = inserted.unwrap_or(file.len());
        file.check(inserted, path)?;
        let tails = file.tails(null, server_rounds, path)?;
        let cosines = file.known();
        let mut findings = Vec::new();
        if let Some(plan) = plan {
            let digest = format!("{:014x}", content_seed([&file.by_canary(), &[]]));
            if CommittedFederatedPlan::is_second(plan.folder, &digest)? {
                findings.push(OneRunFinding::SecondScores);
            }
            if server_rounds == 1 {
                findings.extend(score_findings(null, &plan.committed, file.numbered())?);
            }
        }
        Ok(Self { tails, exact_tails: None, cosines, inserted, control: None, findings })
    }
}

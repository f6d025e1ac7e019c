//! One finding for each cause.

use super::RecordedOutputs;
use crate::audit::finding::Finding;
use crate::audit::slope::ScoreSlope;
use crate::recorded::StepEffect;
use crate::recorded::independence::{Dependence, IndependenceChecks};

/// What the outputs indicate about the code behind them.
pub(super) struct Causes {
    pub(super) findings: Vec<Finding>,
    /// Whether the noise is not what was stated.
    pub(super) has_noise_faults: bool,
}

impl RecordedOutputs<'_> {
    /// One finding for each cause: outputs without noise explain everything else; copies of runs
    /// explain faults of the noise, which explain what the attack does not see; a fixed order explains
    /// repeated positions, and a drift scores that are no likelihood ratios.
    pub(super) fn causes(
        &self,
        checks: &IndependenceChecks,
        slope: Option<ScoreSlope>,
        audited_step: Option<u64>,
        of_scores: &[Finding],
    ) -> Causes {
        let failed = of_scores.iter().copied().filter(is_failed_runs);
        let noiseless = self.noiseless();
        if !noiseless.is_empty() {
            let findings = failed.chain(noiseless).collect();
            return Causes { findings, has_noise_faults: true };
        }
        let noise = self.noise_fault();
        let has_noise_faults = noise.is_some();
        let mut found: Vec<Finding> = Finding::of_checks(checks).collect();
        if found.iter().any(is_copy) {
            found.retain(is_copy);
            return Causes { findings: failed.chain(found).collect(), has_noise_faults };
        }
        if let Some(step) = self.fixed_order(&found) {
            found.retain(|finding| !is_repeated_position(finding));
            found.push(Finding::OrderFixed { step, is_audited: audited_step == Some(step) });
        }
        let drifts = found.iter().any(is_repeated_position);
        let power = match has_noise_faults {
            true => None,
            false => self.power(slope.filter(|_| !drifts)),
        };
        let of_scores = of_scores
            .iter()
            .copied()
            .filter(|finding| is_failed_runs(finding) || (power.is_none() && !has_noise_faults));
        let findings = of_scores.chain(noise).chain(power).chain(found).collect();
        Causes { findings, has_noise_faults }
    }

    /// The step of a target that is there in every run. The effect of a step is known only where the
    /// positions repeat.
    fn fixed_order(&self, found: &[Finding]) -> Option<u64> {
        let step = found.iter().find_map(|finding| match finding {
            Finding::Dependence {
                dependence: Dependence::RepeatedPositionsOverRuns { step, .. },
                ..
            } => Some(*step),
            _ => None,
        })?;
        let index = usize::try_from(step).ok()?;
        let effect = StepEffect::at(self.target, self.zero_out, index);
        effect.is_none_or(StepEffect::may_be_fixed).then_some(step)
    }
}

fn is_failed_runs(finding: &Finding) -> bool {
    matches!(finding, Finding::FailedRuns { .. })
}

fn is_copy(finding: &Finding) -> bool {
    matches!(
        finding,
        Finding::Dependence {
            dependence: Dependence::DuplicatedRuns { .. } | Dependence::IdenticalRuns { .. },
            ..
        }
    )
}

fn is_repeated_position(finding: &Finding) -> bool {
    matches!(
        finding,
        Finding::Dependence {
            dependence: Dependence::RepeatedPositionsOverRuns { .. }
                | Dependence::RepeatedPositionsOverEpochs { .. },
            ..
        }
    )
}

//! One finding for each cause.

use super::behaviour::Behaviour;
use super::{Examined, RecordedOutputs};
use crate::audit::finding::Finding;
use crate::recorded::independence::Dependence;
use crate::recorded::{
    OutputModel, OutputPhase, Placement, RecordedUses, SamplerEvidence, StepComparison, StepEffect,
};

/// What the outputs indicate about the code behind them.
#[derive(Debug, Default)]
pub(super) struct Causes {
    pub(super) findings: Vec<Finding>,
    /// What each phase did.
    pub(super) phases: Vec<OutputPhase>,
    /// Parameters of the best explanation.
    pub(super) model: Option<OutputModel>,
    /// The largest ratio below 1 of the noise to the stated one that these outputs find.
    pub(super) noise_ratio_found: Option<f64>,
    /// Which steps are tested for other noise.
    pub(super) step_comparison: Option<StepComparison>,
    /// Likelihoods of samplers; none where no one set of parameters describes the outputs.
    pub(super) samplers: Option<SamplerEvidence>,
    /// What the recorded uses show.
    pub(super) uses: Option<RecordedUses>,
}

impl RecordedOutputs<'_> {
    /// One finding for each cause: outputs without noise explain everything else; copies of runs
    /// explain faults of the noise, which explain what the attack does not see; a fixed order explains
    /// repeated positions, and less noise outputs that are nearly equal.
    pub(super) fn causes(
        &self,
        examined: &Examined<'_>,
        audited_step: Option<u64>,
        of_scores: &[Finding],
    ) -> Causes {
        let failed = of_scores.iter().copied().filter(is_failed_runs);
        let Examined { checks, noiseless, cells } = *examined;
        let of_worlds = self.noiseless(noiseless);
        if !of_worlds.is_empty() {
            let findings = failed.chain(of_worlds).collect();
            return Causes { findings, ..Causes::default() };
        }
        let mut found: Vec<Finding> = Finding::of_checks(checks).collect();
        if found.iter().any(is_copy) {
            found.retain(is_copy);
            let findings = failed.chain(found).collect();
            return Causes { findings, ..Causes::default() };
        }
        let fixed_step = self.fixed_order(&found);
        if let Some(step) = fixed_step {
            found.retain(|finding| !is_repeated_position(finding));
            found.push(Finding::OrderFixed { step, is_audited: audited_step == Some(step) });
        }
        let Behaviour { phases, model, noise_ratio_found, step_comparison, least_noise, findings } =
            self.behaviour(fixed_step, noiseless, cells);
        let stated = self.scorer.mechanism().noise_multiplier;
        let reused = self.noise_reuse(least_noise.unwrap_or(stated), noiseless);
        // the largest output of an epoch is at a step with more noise more often
        if findings.iter().any(is_of_steps) {
            found.retain(|finding| !is_repeated_position(finding));
        }
        // outputs of a run with one noise are no independent evidence of anything else
        let findings = if reused.is_some() { Vec::new() } else { findings };
        let has_model = reused.is_none() && findings.iter().all(has_one_model);
        let is_noise_shared = found.iter().any(is_shared_noise);
        let compared = cells.filter(|_| has_model);
        let samplers = compared.and_then(|cells| {
            let evidence = self.sampler_evidence(cells, model, is_noise_shared)?;
            Some(SamplerEvidence { is_fitted: model.is_some() && !findings.is_empty(), ..evidence })
        });
        let uses = self.recorded_uses();
        // a fixed order and other uses are samplers, too, and have findings of their own
        let is_open = fixed_step.is_none() && !findings.iter().any(is_of_uses);
        let refuted =
            is_open.then(|| self.sampler_refuted(uses.as_ref(), samplers.as_ref())).flatten();
        if let Some(Finding::SamplerRefuted { shown, .. }) = refuted {
            found.retain(|finding| !explains(shown, finding));
        }
        let is_explained =
            reused.or(refuted).is_some() || findings.iter().any(Finding::leaves_claims_open);
        let of_scores =
            of_scores.iter().copied().filter(|finding| is_failed_runs(finding) || !is_explained);
        let findings =
            of_scores.chain(reused).chain(findings).chain(refuted).chain(found).collect();
        Causes { findings, phases, model, noise_ratio_found, step_comparison, samplers, uses }
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

/// Whether one set of parameters, with the stated uses of the target, describes the outputs of all
/// epochs beside such a finding.
fn has_one_model(finding: &Finding) -> bool {
    match finding {
        Finding::NoiseBelowStated { epochs, .. }
        | Finding::NoiseAboveStated { epochs, .. }
        | Finding::OutputsScaled { epochs, noise: None, .. }
        | Finding::RecordsNotClipped { epochs, .. }
        | Finding::CanarySizeDiffers { epochs, .. } => epochs.is_none(),
        Finding::OtherBatchesDiffer { .. } | Finding::OutputsNegated { .. } => true,
        _ => false,
    }
}

fn is_of_steps(finding: &Finding) -> bool {
    matches!(finding, Finding::NoiseDiffersByStep { .. } | Finding::NoNoiseAtSteps { .. })
}

fn is_of_uses(finding: &Finding) -> bool {
    matches!(finding, Finding::UsesDiffer { .. } | Finding::OutputsDiffer { .. })
}

/// Whether the sampler that is shown repeats positions.
fn explains(shown: Option<Placement>, finding: &Finding) -> bool {
    match shown {
        Some(
            Placement::PersistentShuffle | Placement::FixedStep | Placement::FirstBatches { .. },
        ) => is_repeated_position(finding),
        _ => false,
    }
}

fn is_shared_noise(finding: &Finding) -> bool {
    matches!(finding, Finding::Dependence { dependence: Dependence::SharedNoise { .. }, .. })
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

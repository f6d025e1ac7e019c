//! What the code behind recorded outputs did: noise, uses and size of the target, in each phase.

use super::RecordedOutputs;
use crate::adjacency::World;
use crate::audit::finding::Finding;
use crate::mechanism::{BatchedGaussian, OutputOptions, OutputScorer, ThreatModel};
use crate::recorded::independence::RecordedRuns;
use crate::recorded::{
    Cells, Explanation, Fitted, FoundSteps, NEARLY_ONE, NEARLY_SCALED, NoiselessCells,
    OtherBatchMean, OutputModel, OutputParameter, OutputPhase, PhaseFit, PhaseFits, Presence,
    StepComparison, StepEffect, no_noise_in_empty_batches, noise_by_step,
};

/// Chance that an interval of b misses it.
const SIGNIFICANCE: f64 = 3e-4;

/// What the outputs show of the code.
#[derive(Debug, Default)]
pub(super) struct Behaviour {
    pub(super) phases: Vec<OutputPhase>,
    /// Parameters of the explanation of all epochs; none with too few outputs.
    pub(super) model: Option<OutputModel>,
    /// The largest ratio below 1 of the noise to the stated one that these outputs find.
    pub(super) noise_ratio_found: Option<f64>,
    /// Which steps are tested for other noise; none for one step per epoch.
    pub(super) step_comparison: Option<StepComparison>,
    /// The least σ of all phases, worlds and steps with other noise.
    pub(super) least_noise: Option<f64>,
    pub(super) findings: Vec<Finding>,
}

impl RecordedOutputs<'_> {
    /// Fits what each phase did, and one finding for each cause: steps without noise or with other
    /// noise, then a wrong threat model, then the least BIC of a phase that is not as stated.
    ///
    /// # Guarantee
    /// Correct code has a finding with probability about 1.2e-3 at most
    /// (`unit::correct_code_has_no_finding`).
    pub(super) fn behaviour(
        &self,
        fixed_step: Option<u64>,
        noiseless: &NoiselessCells,
        cells: Option<&Cells>,
    ) -> Behaviour {
        let fitted = cells.and_then(|cells| self.fitted_behaviour(fixed_step, noiseless, cells));
        fitted.unwrap_or_default()
    }

    /// The outputs without a drift; none with too few runs.
    pub(super) fn cells(&self, noiseless: &NoiselessCells) -> Option<Cells> {
        let stated = OutputModel::stated(self.scorer)?;
        let cells = Cells::new(self.target, self.zero_out, noiseless)?;
        let steps = 0..self.steps_per_epoch() as usize;
        let chances: Vec<f64> = steps.map(|step| self.scorer.target_chance(step)).collect();
        Some(cells.without_drift(&stated, &chances))
    }

    fn fitted_behaviour(
        &self,
        fixed_step: Option<u64>,
        noiseless: &NoiselessCells,
        cells: &Cells,
    ) -> Option<Behaviour> {
        let stated = OutputModel::stated(self.scorer)?;
        let mut findings: Vec<Finding> = steps_without_noise(noiseless).into_iter().collect();
        let zeros = no_noise_in_empty_batches([self.target, self.zero_out], noiseless);
        findings.extend(
            zeros.map(|(zeros, outputs)| Finding::NoNoiseInEmptyBatches { zeros, outputs }),
        );
        let steps = noise_by_step(cells, self.with_sums(), &stated);
        findings
            .extend(steps.iter().map(|found| Finding::NoiseDiffersByStep { found: found.noise }));
        let is_general = steps.as_ref().is_some_and(FoundSteps::is_general);
        let mut presence = self.presence(fixed_step);
        if let Some(found) = steps.as_ref().filter(|_| !is_general) {
            let differing =
                presence.iter_mut().zip(&found.differs).filter(|(_, differs)| **differs);
            differing.for_each(|(presence, _)| *presence = None);
        }
        let least_noise = steps.as_ref().map(|found| found.noise.noise.value);
        let step_comparison = StepComparison::of(cells, self.sums.is_some());
        let mut behaviour = Behaviour { least_noise, step_comparison, ..Behaviour::default() };
        let fitted = Fitted {
            cells,
            with_sums: self.with_sums(),
            uses: self.uses,
            presence: &presence,
            stated: &stated,
        };
        if let Some(fits) = fitted.fits() {
            let (fits, wrong) = self.with_threat_model(&fitted, fits);
            let mut of_phases = self.of_phases(&fits);
            // noise that differs at many steps, or is missing in some, explains what the phases show of it,
            // and of the shape of the outputs
            of_phases.retain(|finding| match finding {
                _ if is_of_noise(finding) => zeros.is_none() && !is_general,
                _ => !is_general || self.uses.is_some() || !is_of_shape(finding),
            });
            // another scale, sign or clip norm moves b, too
            let is_b_explained = of_phases.iter().any(moves_other_mean);
            findings.extend(wrong.filter(|_| !is_b_explained));
            findings.extend(of_phases);
            let explanation = match fits.all.is_found() {
                true => fits.all.cause(),
                false => Explanation::Stated,
            };
            let model = fits.all.fit.model(explanation);
            behaviour.phases = fits.rows();
            behaviour.noise_ratio_found = fits.noise_ratio_found();
            let noise = behaviour.phases.iter().map(|phase| phase.noise.value);
            let each = noise.chain(fits.all.noise_by_world()).chain(least_noise);
            behaviour.least_noise = Some(each.fold(model.noise_multiplier, f64::min));
            behaviour.model = Some(model);
        }
        Some(Behaviour { findings, ..behaviour })
    }

    /// Outputs and recorded sums of D and D′.
    fn with_sums(&self) -> Option<[[RecordedRuns<'_>; 2]; 2]> {
        Some([[self.target, self.zero_out], self.sums?])
    }

    /// Whether the target is at each step. Only one that the outputs show to be fixed is taken to be
    /// there: a pooled step has the stated chance whatever the sampler is.
    fn presence(&self, fixed_step: Option<u64>) -> Vec<Option<Presence>> {
        let steps = self.steps_per_epoch() as usize;
        let slot = self.scorer.target_steps();
        let may_be_fixed = |step: usize| {
            StepEffect::at(self.target, self.zero_out, step).is_none_or(StepEffect::may_be_fixed)
        };
        let fixed = match fixed_step.and_then(|step| usize::try_from(step).ok()) {
            None if slot.len() == 1 && (steps == 1 || may_be_fixed(slot.start)) => Some(slot.start),
            fixed => fixed,
        };
        let at = |step| match fixed {
            None => Presence::Drawn,
            Some(fixed) if fixed == step => Presence::Always,
            Some(_) => Presence::Never,
        };
        (0..steps).map(|step| Some(at(step))).collect()
    }

    /// The fits under the threat model whose parameters, all stated, are most likely, with a finding if
    /// that is another one; the fits of the stated one, with a finding if no threat model has the mean
    /// of the other batches.
    fn with_threat_model(
        &self,
        fitted: &Fitted<'_>,
        fits: PhaseFits,
    ) -> (PhaseFits, Option<Finding>) {
        let expected = fitted.stated.other_mean;
        let mean_of = |fits: &PhaseFits| {
            let found = fits.all.fit.mean_under(Explanation::Noise, SIGNIFICANCE);
            OtherBatchMean::new(found, expected)
        };
        let mean = mean_of(&fits);
        if !mean.differs() {
            return (fits, None);
        }
        let mechanism = self.scorer.mechanism();
        let models = ThreatModel::ALL.into_iter().filter_map(|threat_model| {
            let mechanism = BatchedGaussian { threat_model, ..*mechanism };
            let scorer = OutputScorer::new(&mechanism, OutputOptions::default()).ok()?;
            Some((threat_model, OutputModel::stated(&scorer)?))
        });
        let best = models
            .max_by(|(_, a), (_, b)| fitted.ln_likelihood(a).total_cmp(&fitted.ln_likelihood(b)));
        if let Some((threat_model, model)) =
            best.filter(|(found, _)| *found != mechanism.threat_model)
            && let Some(others) = (Fitted { stated: &model, ..*fitted }).fits()
        {
            let mean = mean_of(&others);
            // threat models with one contrast differ in b alone, which is free
            let is_better =
                others.all.fit.least_criterion() < fits.all.fit.least_criterion() + 1e-3;
            if is_better && mean.differs() && mean.is_near(model.other_mean) {
                let threat_model = Some(threat_model);
                return (others, Some(Finding::OtherBatchesDiffer { mean, threat_model }));
            }
        }
        (fits, Some(Finding::OtherBatchesDiffer { mean, threat_model: None }))
    }

    /// One finding for each cause among the phases that are not as stated.
    fn of_phases(&self, fits: &PhaseFits) -> Vec<Finding> {
        let faults = fits.faults();
        let mut findings: Vec<Finding> = Vec::new();
        let mut causes: Vec<Explanation> = Vec::new();
        for phase in &faults {
            let cause = phase.cause();
            if causes.contains(&cause) {
                continue;
            }
            causes.push(cause);
            let alike = faults.iter().filter(|phase| phase.cause() == cause);
            let worst = alike.clone().min_by(|a, b| a.p_value.total_cmp(&b.p_value));
            if let Some(&worst) = worst {
                let epochs = (!fits.is_all(worst)).then_some(worst.epochs);
                let count = alike.count() as u32;
                findings.extend(self.of_cause(worst, cause, epochs, count));
            }
        }
        findings
    }

    fn of_cause(
        &self,
        phase: &PhaseFit,
        cause: Explanation,
        epochs: Option<[u32; 2]>,
        phases: u32,
    ) -> Option<Finding> {
        let stated = phase.stated().noise_multiplier;
        match cause {
            Explanation::Stated => None,
            Explanation::Noise => of_noise(phase.noise_under(cause), stated, epochs, phases),
            Explanation::NoiseByWorld => {
                let [target, zero_out] = phase.noise_by_world();
                Some(Finding::NoiseDiffersByWorld { target, zero_out })
            }
            Explanation::Uses => {
                let (uses, stated) = (phase.deciding(cause), phase.stated().uses);
                let is_off = uses.times(1.0 / stated).is_outside(NEARLY_ONE);
                is_off.then(|| {
                    self.absent(phase).unwrap_or(Finding::UsesDiffer { epochs, uses, stated })
                })
            }
            Explanation::Size => {
                let size = phase.size_in_target();
                size.is_outside(NEARLY_ONE).then(|| {
                    self.absent(phase).unwrap_or(Finding::CanarySizeDiffers { epochs, size })
                })
            }
            Explanation::Scaled => {
                let factor = phase.deciding(cause);
                let noise = phase.noise_instead_of_scale();
                factor.is_outside(NEARLY_SCALED).then_some(Finding::OutputsScaled {
                    epochs,
                    factor,
                    noise,
                })
            }
            Explanation::Unclipped => {
                let factor = phase.deciding(cause);
                factor
                    .is_outside(NEARLY_SCALED)
                    .then_some(Finding::RecordsNotClipped { epochs, factor })
            }
            Explanation::Negated => {
                Some(Finding::OutputsNegated { size: self.canary()?.size(SIGNIFICANCE) })
            }
            Explanation::Swapped => {
                Some(Finding::WorldsSwapped { size: self.canary()?.size(SIGNIFICANCE) })
            }
            Explanation::All => self.of_several(phase, epochs, phases),
        }
    }

    /// Several parameters that differ; the noise alone where the others may be as stated.
    fn of_several(
        &self,
        phase: &PhaseFit,
        epochs: Option<[u32; 2]>,
        phases: u32,
    ) -> Option<Finding> {
        let (uses, size) = (phase.uses(), phase.size());
        let noise = phase.noise_under(Explanation::All);
        let stated = phase.stated().noise_multiplier;
        let is_target_off = uses.times(1.0 / phase.stated().uses).is_outside(NEARLY_ONE)
            || size.is_outside(NEARLY_ONE);
        match is_target_off {
            true => Some(self.absent(phase).unwrap_or(Finding::OutputsDiffer {
                epochs,
                noise,
                stated,
                uses,
                size,
            })),
            false => of_noise(noise, stated, epochs, phases),
        }
    }

    /// The worlds are alike, as far as their means show.
    fn absent(&self, phase: &PhaseFit) -> Option<Finding> {
        let size = self.canary()?.size(SIGNIFICANCE);
        let is_absent = size.lower <= 0.0
            && (size.upper < NEARLY_ONE[1] || phase.size_in_target().upper < NEARLY_ONE[0]);
        (is_absent && size.upper >= 0.0).then_some(Finding::NoCanary { size })
    }
}

fn of_noise(
    noise: OutputParameter,
    stated: f64,
    epochs: Option<[u32; 2]>,
    phases: u32,
) -> Option<Finding> {
    match noise {
        _ if noise.upper < NEARLY_SCALED[0] * stated => {
            Some(Finding::NoiseBelowStated { epochs, noise, stated, phases })
        }
        _ if noise.lower > NEARLY_SCALED[1] * stated => {
            Some(Finding::NoiseAboveStated { epochs, noise, stated, phases })
        }
        _ => None,
    }
}

/// Steps without noise, unless all are: then the whole world has none.
fn steps_without_noise(noiseless: &NoiselessCells) -> Option<Finding> {
    if World::BOTH.into_iter().any(|world| noiseless.is_whole(world)) {
        return None;
    }
    let steps = noiseless.steps();
    Some(Finding::NoNoiseAtSteps {
        epochs: noiseless.epochs(),
        step: *steps.first()? as u32,
        steps: steps.len() as u32,
        world: noiseless.only_world(),
    })
}

fn is_of_noise(finding: &Finding) -> bool {
    matches!(
        finding,
        Finding::NoiseBelowStated { .. }
            | Finding::NoiseAboveStated { .. }
            | Finding::NoiseDiffersByWorld { .. }
            | Finding::OutputsScaled { .. }
            | Finding::OutputsDiffer { .. }
    )
}

/// Whether a finding depends on how outputs are distributed about their means.
fn is_of_shape(finding: &Finding) -> bool {
    matches!(
        finding,
        Finding::UsesDiffer { .. }
            | Finding::CanarySizeDiffers { .. }
            | Finding::RecordsNotClipped { .. }
    )
}

fn moves_other_mean(finding: &Finding) -> bool {
    matches!(
        finding,
        Finding::OutputsScaled { .. }
            | Finding::RecordsNotClipped { .. }
            | Finding::OutputsNegated { .. }
    )
}

#[cfg(test)]
mod tests;

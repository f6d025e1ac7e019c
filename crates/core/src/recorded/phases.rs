//! Recorded outputs by phase: all epochs together, and each epoch.

use super::cells::Cells;
use super::holm::{FALSE_ALARM, holm};
use super::independence::RecordedRuns;
use super::mixture::{Explanation, NoisePower, OutputFit, OutputGroup, OutputGroups, Presence};
use super::output_model::OutputModel;
use super::output_parameter::OutputParameter;
use super::recorded_sums::RecordedSums;
use crate::adjacency::World;
use crate::special::chi_square;

/// Most phases; more epochs are grouped.
const MOST_PHASES: usize = 16;

/// Significance of the intervals of a table.
const INTERVAL: f64 = 0.05;

/// κ and uses are known apart if the limits of each are less than this factor apart.
const APART: f64 = 4.0;

/// 2 ln of the likelihood ratio from which on the evidence for one of two explanations is very strong.
///
/// # Reference
/// R. E. Kass and A. E. Raftery, "Bayes factors", 1995, section 3.2.
const VERY_STRONG: f64 = 10.0;

/// What the outputs of a phase show, with 95 % intervals.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutputPhase {
    /// First and last epoch, from 0.
    pub epochs: [u32; 2],
    /// Standard deviation of the noise, clip norms.
    pub noise: OutputParameter,
    /// Whether it was computed from recorded sums, for any sampler and threat model.
    pub is_noise_exact: bool,
    /// Batches of an epoch that contain the target; none where the outputs show the product alone.
    pub uses: Option<OutputParameter>,
    /// What the target adds to its batch, clip norms; none where the outputs show the product alone.
    pub size: Option<OutputParameter>,
    /// Uses times size: what the target adds in an epoch.
    pub uses_times_size: f64,
    /// Mean of the batches without the target.
    pub other_mean: OutputParameter,
    /// Least p-value of the stated parameters, adjusted for all tests of all phases.
    pub p_value: f64,
}

/// The fit of a phase.
#[derive(Debug)]
pub(crate) struct PhaseFit {
    pub(crate) epochs: [u32; 2],
    pub(crate) fit: OutputFit,
    exact: Option<RecordedSums>,
    steps: f64,
    /// Least adjusted p-value.
    pub(crate) p_value: f64,
}

/// Fits of all epochs together, and of each phase if there are several.
#[derive(Debug)]
pub(crate) struct PhaseFits {
    pub(crate) all: PhaseFit,
    phases: Vec<PhaseFit>,
}

/// What is fitted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fitted<'a> {
    pub(crate) cells: &'a Cells,
    /// Outputs and sums of D and D′.
    pub(crate) with_sums: Option<[[RecordedRuns<'a>; 2]; 2]>,
    /// Uses of the target in D and D′.
    pub(crate) uses: Option<[RecordedRuns<'a>; 2]>,
    /// Whether the target is at each step; none for a step that is left out in all epochs.
    pub(crate) presence: &'a [Option<Presence>],
    pub(crate) stated: &'a OutputModel,
}

impl Fitted<'_> {
    /// The fits; none with too few outputs.
    pub(crate) fn fits(&self) -> Option<PhaseFits> {
        let epochs = self.cells.epochs;
        let count = if epochs == 1 { 0 } else { epochs.min(MOST_PHASES) };
        let ranges = (0..count).map(|index| index * epochs / count..(index + 1) * epochs / count);
        let parts = ranges.map(|range| (range.clone(), self.groups(range)));
        let parts: Vec<_> = parts.filter(|(_, groups)| groups.total() > 0.0).collect();
        let joined = match parts.is_empty() {
            true => self.groups(0..epochs),
            false => OutputGroups::joined(parts.iter().map(|(_, groups)| groups)),
        };
        let mut all = self.phase(0..epochs, joined)?;
        let fits = parts.into_iter().map(|(range, groups)| self.phase(range, groups));
        let mut phases = fits.collect::<Option<Vec<_>>>().unwrap_or_default();
        let mut every: Vec<&mut PhaseFit> =
            std::iter::once(&mut all).chain(phases.iter_mut()).collect();
        let p_values: Vec<f64> = every.iter().flat_map(|phase| phase.p_values()).collect();
        let adjusted = holm(&p_values);
        for (phase, adjusted) in every.iter_mut().zip(adjusted.chunks(Explanation::TESTED.len())) {
            phase.p_value = adjusted.iter().copied().fold(1.0, f64::min);
        }
        Some(PhaseFits { all, phases })
    }

    fn phase(&self, epochs: std::ops::Range<usize>, groups: OutputGroups) -> Option<PhaseFit> {
        let fit = OutputFit::of_groups(groups, self.stated, self.cells.steps as f64)?;
        let is_left_out = |cell: usize| {
            self.presence[cell % self.cells.steps].is_none() || self.cells.is_left_out(cell)
        };
        let exact =
            self.with_sums.map(|runs| RecordedSums::new(runs, self.uses, &epochs, is_left_out));
        let epochs = [epochs.start as u32, epochs.end as u32 - 1];
        Some(PhaseFit { epochs, fit, exact, steps: self.cells.steps as f64, p_value: 1.0 })
    }

    /// ln L of all outputs with every parameter as a model states it.
    pub(crate) fn ln_likelihood(&self, model: &OutputModel) -> f64 {
        model.ln_likelihood_of(&self.groups(0..self.cells.epochs), self.cells.steps as f64)
    }

    fn groups(&self, epochs: std::ops::Range<usize>) -> OutputGroups {
        let mut groups = OutputGroups::default();
        for world in World::BOTH {
            for presence in [Presence::Drawn, Presence::Always, Presence::Never] {
                let steps =
                    (0..self.cells.steps).filter(|&step| self.presence[step] == Some(presence));
                let outputs: Vec<f64> =
                    steps.flat_map(|step| self.cells.at(world, epochs.clone(), step)).collect();
                if !outputs.is_empty() {
                    groups.push(OutputGroup::new(world, presence, outputs));
                }
            }
        }
        groups
    }
}

impl PhaseFit {
    /// P-values of [`Explanation::TESTED`].
    fn p_values(&self) -> [f64; Explanation::TESTED.len()] {
        Explanation::TESTED.map(|explanation| {
            let exact = self.exact.as_ref();
            let by_sums =
                exact.and_then(|exact| exact.p_value(explanation, self.stated(), self.steps));
            by_sums.unwrap_or_else(|| self.fit.p_value(explanation))
        })
    }

    pub(crate) fn stated(&self) -> &OutputModel {
        self.fit.stated()
    }

    /// What explains the outputs best: the recorded sums and uses decide if there are any.
    pub(crate) fn cause(&self) -> Explanation {
        let by_sums = self.exact.as_ref().and_then(|exact| exact.cause(self.stated(), self.steps));
        by_sums.unwrap_or_else(|| self.fit.cause())
    }

    /// σ if the noise alone explains the outputs about as well as a scale of all outputs: where b is 0 and
    /// the target's contribution is small beside the noise. None where recorded sums decide.
    pub(crate) fn noise_instead_of_scale(&self) -> Option<OutputParameter> {
        let by_sums = self.exact.as_ref().and_then(|exact| exact.cause(self.stated(), self.steps));
        let of = |explanation| self.fit.ln_likelihood(explanation);
        let ratio = 2.0 * (of(Explanation::Scaled)? - of(Explanation::Noise)?);
        let is_open = by_sums.is_none() && ratio < VERY_STRONG;
        is_open.then(|| self.noise_under(Explanation::Noise))
    }

    /// Whether the phase is not as stated.
    pub(crate) fn is_found(&self) -> bool {
        self.p_value < FALSE_ALARM
    }

    /// σ, by the recorded sums if there are any, otherwise under an explanation.
    pub(crate) fn noise_under(&self, explanation: Explanation) -> OutputParameter {
        match (&self.exact, explanation) {
            (Some(exact), _) => exact.noise().noise_multiplier(INTERVAL),
            (None, Explanation::Noise) => self.fit.deciding(Explanation::Noise, INTERVAL),
            _ => self.fit.noise_multiplier(INTERVAL),
        }
    }

    /// What the target adds to its batch: κ(1 − ρ).
    pub(crate) fn size(&self) -> OutputParameter {
        self.exact_size().unwrap_or_else(|| {
            self.fit.contrast(INTERVAL).times(1.0 - self.stated().zero_out_share)
        })
    }

    fn exact_size(&self) -> Option<OutputParameter> {
        self.exact.as_ref()?.size(INTERVAL)
    }

    /// The size of the target's gradient in D, where that of D′ is as stated: κ of D − ρκ.
    pub(crate) fn size_in_target(&self) -> OutputParameter {
        if let Some(size) = self.exact_size() {
            return size;
        }
        let OutputParameter { value, lower, upper } = self.deciding(Explanation::Size);
        let in_zero_out = self.stated().in_zero_out();
        let [value, lower, upper] = [value, lower, upper].map(|contrast| contrast - in_zero_out);
        OutputParameter { value, lower, upper }
    }

    /// Noise multiplier σ of D and of D′.
    pub(crate) fn noise_by_world(&self) -> [f64; 2] {
        if let Some(exact) = &self.exact {
            return exact.noise_by_world();
        }
        World::BOTH
            .map(|world| self.fit.model_of(Explanation::NoiseByWorld, world).noise_multiplier)
    }

    /// Uses per epoch, all parameters free.
    pub(crate) fn uses(&self) -> OutputParameter {
        let recorded = self.exact.as_ref().and_then(|exact| exact.uses(self.steps));
        recorded.map_or_else(|| self.fit.uses_per_epoch(INTERVAL), OutputParameter::exactly)
    }

    /// The parameter that an explanation adds to b, or its factor.
    pub(crate) fn deciding(&self, explanation: Explanation) -> OutputParameter {
        match (explanation, self.exact_size()) {
            (Explanation::Scaled, Some(_)) => {
                self.noise_under(explanation).times(1.0 / self.stated().noise_multiplier)
            }
            (Explanation::Unclipped, Some(size)) => size.times(1.0 / self.stated().size()),
            (Explanation::Uses, Some(_)) => self.uses(),
            _ => self.fit.deciding(explanation, INTERVAL),
        }
    }

    fn row(&self) -> OutputPhase {
        let model = self.fit.model(Explanation::All);
        let is_fixed = !self.fit.has_drawn() || self.exact_size().is_some();
        let shown = (is_fixed || self.fit.shows_uses()).then(|| (self.uses(), self.size()));
        let is_known = |(uses, size): &(OutputParameter, OutputParameter)| {
            is_fixed || uses.is_within_factor(APART) && size.is_within_factor(APART)
        };
        let (uses, size) = shown.filter(is_known).unzip();
        let product = match (uses, size, self.exact_size()) {
            (Some(uses), Some(size), Some(_)) => uses.value * size.value,
            _ => model.uses * model.size(),
        };
        OutputPhase {
            epochs: self.epochs,
            noise: self.noise_under(Explanation::All),
            is_noise_exact: self.exact.is_some(),
            uses,
            size,
            uses_times_size: product,
            other_mean: self.fit.other_mean(INTERVAL),
            p_value: self.p_value,
        }
    }
}

impl PhaseFits {
    /// The largest ratio below 1 of the noise of all epochs to the stated one that these outputs find
    /// with probability [`NoisePower::POWER`].
    pub(crate) fn noise_ratio_found(&self) -> Option<f64> {
        let PhaseFit { fit, exact, steps, .. } = &self.all;
        let power = match exact {
            Some(_) => NoisePower::with_sums(),
            None => NoisePower::of_outputs(fit.stated(), *steps as u32)?,
        };
        let tests = (self.phases.len() + 1) * Explanation::TESTED.len();
        power.ratio_found(0.5 * fit.outputs(), tests, NoisePower::POWER)
    }

    /// The phases; one row for all epochs if there is one epoch.
    pub(crate) fn rows(&self) -> Vec<OutputPhase> {
        match self.phases.is_empty() {
            true => vec![self.all.row()],
            false => self.phases.iter().map(PhaseFit::row).collect(),
        }
    }

    /// Whether a fit is that of all epochs together.
    pub(crate) fn is_all(&self, phase: &PhaseFit) -> bool {
        std::ptr::eq(phase, &self.all)
    }

    /// The phases whose outputs are not as stated, or all epochs together where they are alike: the
    /// likelihood ratio of one explanation with its own parameters in each phase.
    pub(crate) fn faults(&self) -> Vec<&PhaseFit> {
        let found: Vec<&PhaseFit> = self.phases.iter().filter(|phase| phase.is_found()).collect();
        if found.is_empty() || (self.all.is_found() && self.are_alike(self.all.cause())) {
            return [&self.all].into_iter().filter(|phase| phase.is_found()).collect();
        }
        found
    }

    fn are_alike(&self, explanation: Explanation) -> bool {
        if self.phases.len() < 2 {
            return true;
        }
        let ln_likelihood =
            |phase: &PhaseFit| phase.fit.ln_likelihood(explanation).unwrap_or(f64::NEG_INFINITY);
        let apart: f64 = self.phases.iter().map(ln_likelihood).sum();
        let degrees = explanation.parameters() * (self.phases.len() - 1);
        let ratio = 2.0 * (apart - ln_likelihood(&self.all));
        chi_square::tails(degrees as f64, ratio)[1] >= FALSE_ALARM
    }
}

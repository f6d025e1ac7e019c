//! Recorded outputs as a mixture of two normal distributions: what may be behind them, and how sure that
//! is.

mod copies;
mod explanation;
mod groups;
mod likelihood;
mod maximum;
mod noise_power;
mod placement;
mod profile;
mod step_noise;

pub use explanation::Explanation;
pub(crate) use groups::{OutputGroup, OutputGroups, Presence};
pub use noise_power::NoisePower;
pub(crate) use step_noise::NoiseOfStep;

use super::output_model::OutputModel;
use super::output_parameter::OutputParameter;
use crate::adjacency::World;
use crate::math;
use crate::special::chi_square;
use copies::ln_likelihood_of_copies;
use likelihood::likelihood;
use maximum::{Maximum, maximum};
use placement::Family;
use profile::Profile;

/// Fewer outputs of both worlds together decide nothing.
pub const LEAST_OUTPUTS: usize = 200;

/// Beyond, a profile likelihood interval spans more than a factor of 4.
const LARGEST_ERROR: f64 = 0.6;

/// The maximum of the likelihood under each explanation.
///
/// # Guarantee
/// Outputs are taken for independent. Under a shuffle, where an epoch has the target exactly once, tests
/// reject the stated parameters about as often as they state, or less
/// (`unit::tests_of_stated_parameters_have_their_level`).
#[derive(Debug, Clone)]
pub struct OutputFit {
    groups: OutputGroups,
    stated: OutputModel,
    steps: f64,
    maxima: Vec<(Family, Maximum)>,
}

impl OutputModel {
    /// ln L of outputs of both worlds.
    ///
    /// | argument | meaning | unit |
    /// |---|---|---|
    /// | `target`, `zero_out` | outputs of D and of D′ | clip norms |
    /// | `steps` | T | |
    #[must_use]
    pub fn ln_likelihood(&self, target: &[f64], zero_out: &[f64], steps: u32) -> f64 {
        let groups = of_worlds(target, zero_out);
        self.ln_likelihood_of(&groups, f64::from(steps))
    }

    pub(crate) fn ln_likelihood_of(&self, groups: &OutputGroups, steps: f64) -> f64 {
        let family = Family::new(Explanation::Stated, self, steps, (0.0, 0.0));
        let of_group = |group: &OutputGroup| {
            let place = family.place(group.world, &[self.other_mean, 0.0, 0.0, 0.0]);
            likelihood(group, &place.coordinates).value
        };
        groups.0.iter().map(of_group).sum()
    }
}

fn of_worlds(target: &[f64], zero_out: &[f64]) -> OutputGroups {
    let mut groups = OutputGroups::default();
    for (world, outputs) in [(World::Target, target), (World::ZeroOut, zero_out)] {
        groups.push(OutputGroup::new(world, Presence::Drawn, outputs.to_vec()));
    }
    groups
}

impl OutputFit {
    /// Fits every explanation; none with fewer than [`LEAST_OUTPUTS`] outputs.
    ///
    /// | argument | meaning | unit |
    /// |---|---|---|
    /// | `target`, `zero_out` | outputs of D and of D′, in any order | clip norms |
    /// | `stated` | the stated parameters | |
    /// | `steps` | T | |
    ///
    /// # Numerics
    /// Newton's method with exact derivatives from up to three starts; ln L to 1e-8. From 5,000 outputs of
    /// a world on, those within σ/64 are replaced by their mean.
    ///
    /// # Example
    /// ```
    /// use dpscope_core::recorded::{Explanation, OutputFit, OutputModel};
    ///
    /// // the noise has half of its stated standard deviation
    /// let quantile = |i| dpscope_core::special::normal_quantile((f64::from(i) + 0.5) / 150.0).unwrap();
    /// let outputs: Vec<f64> = (0..150).map(|i| -1.0 + 0.5 * quantile(i)).collect();
    /// let stated = OutputModel {
    ///     other_mean: -1.0, contrast: 1.0, zero_out_share: 0.0, noise_multiplier: 1.0, uses: 1.0,
    /// };
    /// let fit = OutputFit::new(&outputs, &outputs, &stated, 100).unwrap();
    /// assert_eq!(fit.cause(), Explanation::Noise);
    /// assert_eq!(format!("{:.2}", fit.model(Explanation::Noise).noise_multiplier), "0.49");
    /// ```
    #[must_use]
    pub fn new(target: &[f64], zero_out: &[f64], stated: &OutputModel, steps: u32) -> Option<Self> {
        Self::of_groups(of_worlds(target, zero_out), stated, f64::from(steps))
    }

    pub(crate) fn of_groups(
        groups: OutputGroups,
        stated: &OutputModel,
        steps: f64,
    ) -> Option<Self> {
        let explanations = [Explanation::Stated].into_iter().chain(Explanation::FAULTS);
        let is_possible = |explanation: &Explanation| {
            *explanation != Explanation::Unclipped || stated.other_mean != 0.0
        };
        Self::of_explanations(groups, stated, steps, explanations.filter(is_possible))
    }

    /// The parameters of D if all of them are free; none with fewer than [`LEAST_OUTPUTS`] outputs.
    pub(crate) fn model_of_all(
        groups: OutputGroups,
        stated: &OutputModel,
        steps: f64,
    ) -> Option<OutputModel> {
        let fit = Self::of_explanations(groups, stated, steps, std::iter::once(Explanation::All))?;
        Some(fit.model(Explanation::All))
    }

    fn of_explanations(
        groups: OutputGroups,
        stated: &OutputModel,
        steps: f64,
        explanations: impl Iterator<Item = Explanation>,
    ) -> Option<Self> {
        if groups.total() < LEAST_OUTPUTS as f64 {
            return None;
        }
        let middle = groups.middle()?;
        let maxima = explanations.map(|explanation| {
            let family = Family::new(explanation, stated, steps, middle);
            let starts = family.starts().into_iter();
            let found = starts.map(|start| maximum(&groups, &family, [false; 4], start));
            let best = found.max_by(|a, b| a.ln_likelihood.total_cmp(&b.ln_likelihood))?;
            Some((family, best))
        });
        let maxima = maxima.collect::<Option<Vec<_>>>()?;
        Some(OutputFit { groups, stated: *stated, steps, maxima })
    }

    /// Number of outputs of both worlds.
    pub(crate) fn outputs(&self) -> f64 {
        self.groups.total()
    }

    fn found(&self, explanation: Explanation) -> Option<&(Family, Maximum)> {
        self.maxima.iter().find(|(family, _)| family.explanation == explanation)
    }

    /// The largest ln L under an explanation; none for unclipped gradients where b is 0.
    #[must_use]
    pub fn ln_likelihood(&self, explanation: Explanation) -> Option<f64> {
        Some(self.found(explanation)?.1.ln_likelihood)
    }

    /// Free parameters of an explanation that the outputs can show.
    fn free(&self, family: &Family) -> f64 {
        family.used(&self.groups).iter().filter(|used| **used).count() as f64
    }

    /// The p-value of the stated parameters against an explanation that contains them: the likelihood
    /// ratio, χ² with as many degrees of freedom as it has parameters more.
    ///
    /// # Reference
    /// S. S. Wilks, "The large-sample distribution of the likelihood ratio for testing composite
    /// hypotheses", 1938.
    #[must_use]
    pub fn p_value(&self, against: Explanation) -> f64 {
        let (Some((stated, null)), Some((family, found))) =
            (self.found(Explanation::Stated), self.found(against))
        else {
            return 1.0;
        };
        let degrees = self.free(family) - self.free(stated);
        if degrees == 0.0 {
            return 1.0;
        }
        chi_square::tails(degrees, 2.0 * (found.ln_likelihood - null.ln_likelihood))[1]
    }

    /// The explanation other than the stated one with the least −2 ln L + k ln N: Schwarz' criterion
    /// over N outputs. A record that stands twice counts as another number of uses.
    #[must_use]
    pub fn cause(&self) -> Explanation {
        let faults =
            self.maxima.iter().filter(|(family, _)| family.explanation != Explanation::Stated);
        let least = faults.min_by(|a, b| self.criterion(a).total_cmp(&self.criterion(b)));
        match least {
            Some(found) if self.criterion_of_copies() < self.criterion(found) => Explanation::Uses,
            Some((family, _)) => family.explanation,
            None => Explanation::Stated,
        }
    }

    /// Schwarz' criterion of a record that stands twice: only b is free.
    fn criterion_of_copies(&self) -> f64 {
        let b = self.found(Explanation::Uses).map_or(0.0, |(_, found)| found.at[0]);
        let of_copies = ln_likelihood_of_copies(&self.groups, &self.stated, self.steps, b);
        of_copies.map_or(f64::INFINITY, |found| math::ln(self.groups.total()) - 2.0 * found)
    }

    fn criterion(&self, (family, found): &(Family, Maximum)) -> f64 {
        self.free(family) * math::ln(self.groups.total()) - 2.0 * found.ln_likelihood
    }

    pub(crate) fn stated(&self) -> &OutputModel {
        &self.stated
    }

    /// Whether the target is drawn into some of the batches.
    pub(crate) fn has_drawn(&self) -> bool {
        self.groups.has_drawn()
    }

    /// Schwarz' criterion of the best explanation.
    pub(crate) fn least_criterion(&self) -> f64 {
        let criteria = self.maxima.iter().map(|found| self.criterion(found));
        criteria.fold(f64::INFINITY, f64::min)
    }

    /// The parameters of D under an explanation; the stated ones if it was not fitted.
    #[must_use]
    pub fn model(&self, explanation: Explanation) -> OutputModel {
        self.model_of(explanation, World::Target)
    }

    /// The parameters under an explanation, the noise that of one world.
    pub(crate) fn model_of(&self, explanation: Explanation, world: World) -> OutputModel {
        let Some((family, found)) = self.found(explanation) else { return self.stated };
        let place = |world| family.place(world, &found.at).coordinates;
        let [other_mean, contrast, _, logit] = place(World::Target);
        let [_, in_zero_out, ..] = place(World::ZeroOut);
        let [_, _, ln_noise, _] = place(world);
        OutputModel {
            other_mean,
            contrast,
            zero_out_share: in_zero_out / contrast,
            noise_multiplier: math::exp(ln_noise),
            uses: if self.groups.has_drawn() { self.uses(logit) } else { self.stated.uses },
        }
    }

    fn uses(&self, logit: f64) -> f64 {
        self.steps / (1.0 + math::exp(-logit))
    }

    /// Mean b of the other batches with a profile likelihood interval, all four parameters free.
    #[must_use]
    pub fn other_mean(&self, significance: f64) -> OutputParameter {
        self.profiled(Explanation::All, 0, significance, |b| b)
    }

    /// Contrast κ with a profile likelihood interval, all four parameters free.
    #[must_use]
    pub fn contrast(&self, significance: f64) -> OutputParameter {
        self.profiled(Explanation::All, 1, significance, |contrast| contrast)
    }

    /// Noise multiplier σ with a profile likelihood interval, all four parameters free.
    #[must_use]
    pub fn noise_multiplier(&self, significance: f64) -> OutputParameter {
        self.profiled(Explanation::All, 2, significance, math::exp)
    }

    /// Uses per epoch with a profile likelihood interval, all four parameters free.
    #[must_use]
    pub fn uses_per_epoch(&self, significance: f64) -> OutputParameter {
        if !self.groups.has_drawn() {
            return OutputParameter::exactly(self.stated.uses);
        }
        self.profiled(Explanation::All, 3, significance, |logit| self.uses(logit))
    }

    /// Whether the curvature shows κ and p apart: the standard errors of ln κ and of logit p.
    pub(crate) fn shows_uses(&self) -> bool {
        let Some((_, found)) = self.found(Explanation::All) else { return false };
        let of = |index: usize, unit: f64| {
            found.standard_error(index).is_some_and(|error| error < LARGEST_ERROR * unit)
        };
        of(1, found.at[1].abs()) && of(3, 1.0)
    }

    /// The parameter that an explanation adds to b, or its factor, with its profile likelihood
    /// interval: σ, uses per epoch, κ of D, or a factor.
    pub(crate) fn deciding(&self, explanation: Explanation, significance: f64) -> OutputParameter {
        let of =
            |index, map: &dyn Fn(f64) -> f64| self.profiled(explanation, index, significance, map);
        match explanation {
            Explanation::Noise => of(1, &math::exp),
            Explanation::Uses => of(1, &|logit| self.uses(logit)),
            Explanation::Size => of(1, &|contrast| contrast),
            Explanation::Scaled | Explanation::Unclipped => of(0, &math::exp),
            _ => of(0, &|b| b),
        }
    }

    /// b under an explanation, with its profile likelihood interval.
    pub(crate) fn mean_under(
        &self,
        explanation: Explanation,
        significance: f64,
    ) -> OutputParameter {
        self.profiled(explanation, 0, significance, |b| b)
    }

    fn profiled(
        &self,
        explanation: Explanation,
        index: usize,
        significance: f64,
        map: impl Fn(f64) -> f64,
    ) -> OutputParameter {
        let Some((family, found)) = self.found(explanation) else {
            return OutputParameter::exactly(f64::NAN);
        };
        let limit = chi_square::quantile(1.0, 1.0 - significance);
        let profile = Profile { groups: &self.groups, family, found, index, held: [false; 4] };
        let [lower, upper] = profile::interval(&profile, limit).map(&map);
        OutputParameter { value: map(found.at[index]), lower, upper }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Words};

    /// Outputs of runs of 10 steps with the target at a uniform one.
    fn outputs(words: &mut Words, runs: usize, model: &OutputModel) -> [Vec<f64>; 2] {
        let in_zero_out = model.zero_out_share * model.contrast;
        [model.contrast, in_zero_out].map(|contrast| {
            let mut outputs = Vec::new();
            for _ in 0..runs {
                let place = words.below(10);
                outputs.extend((0..10).map(|step| {
                    let own = if step == place { contrast } else { 0.0 };
                    model.other_mean + own + model.noise_multiplier * words.normal()
                }));
            }
            outputs
        })
    }

    const STATED: OutputModel = OutputModel {
        other_mean: -1.0,
        contrast: 2.0,
        zero_out_share: 0.5,
        noise_multiplier: 1.0,
        uses: 1.0,
    };

    #[test]
    fn tests_of_stated_parameters_have_their_level() {
        let (mut rejected, mut rejected_by_half) = ([0; 5], 0);
        let quieter = OutputModel { noise_multiplier: 0.95, ..STATED };
        for repetition in 0..80 {
            let mut words = Words::new(71, Purpose::Test, repetition);
            let [target, zero_out] = outputs(&mut words, 60, &STATED);
            let fit = OutputFit::new(&target, &zero_out, &STATED, 10).unwrap();
            for (count, explanation) in rejected.iter_mut().zip(Explanation::TESTED) {
                *count += u32::from(fit.p_value(explanation) < 0.05);
            }
            // a mutant: noise that is 5 % off
            let [target, zero_out] = outputs(&mut words, 60, &quieter);
            let fit = OutputFit::new(&target, &zero_out, &STATED, 10).unwrap();
            rejected_by_half += u32::from(fit.p_value(Explanation::Noise) < 0.05);
        }
        // 4 of 80 expected; 13 or more with a chance below 2e-4
        assert!(rejected.iter().all(|count| *count < 13), "{rejected:?}");
        assert!(rejected_by_half >= 13, "{rejected_by_half}");
    }
}

//! The noise of a single step.

use super::explanation::Explanation;
use super::groups::{OutputGroup, OutputGroups, Presence};
use super::maximum::{Held, Maximum, maximum};
use super::placement::Family;
use super::profile::{Profile, interval};
use crate::adjacency::World;
use crate::math;
use crate::recorded::output_model::OutputModel;
use crate::recorded::output_parameter::OutputParameter;
use crate::special::chi_square;

/// Standard errors within which no likelihood ratio is computed.
const SURELY_NEAR: f64 = 2.0;

/// Error of ln L: p-values near the limit change by a share of it.
const LAST_GAIN: f64 = 1e-4;

/// ln of the likelihood ratio from which on the target is taken to be at the step in every epoch: a chance
/// deviation of drawn outputs, described as more noise, is far less likely.
const SURELY_ALWAYS: f64 = 10.0;

/// κ is the stated one. b, and how often the target is at the step, are free: a sampler that differs from
/// the stated one is no fault of the noise.
const DRAWN: Held = [false, true, false, false];

/// Where the target is at the step in every epoch, of whatever size, each world has a mean of its own.
const ALWAYS: Held = [false, false, false, true];

/// σ of one step, whatever b and the chance of the target are there.
#[derive(Debug, Clone)]
pub(crate) struct NoiseOfStep {
    groups: OutputGroups,
    family: Family,
    held: Held,
    found: Maximum,
}

impl NoiseOfStep {
    /// Fits the outputs of a step in D and D′, as those of a target that is drawn unless one that is always
    /// there is far more likely; none without outputs.
    pub(crate) fn new(outputs: [Vec<f64>; 2], stated: &OutputModel, steps: f64) -> Option<Self> {
        let drawn = Self::placed((Presence::Drawn, DRAWN), outputs.clone(), stated, steps);
        let always = Self::placed((Presence::Always, ALWAYS), outputs, stated, steps);
        let likelihood = |fit: &Option<Self>| {
            fit.as_ref().map_or(f64::NEG_INFINITY, |fit| fit.found.ln_likelihood)
        };
        match likelihood(&always) > likelihood(&drawn) + SURELY_ALWAYS {
            true => always,
            false => drawn,
        }
    }

    fn placed(
        (presence, held): (Presence, Held),
        outputs: [Vec<f64>; 2],
        stated: &OutputModel,
        steps: f64,
    ) -> Option<Self> {
        let mut groups = OutputGroups::default();
        for (world, outputs) in World::BOTH.into_iter().zip(outputs) {
            groups.push(OutputGroup::new(world, presence, outputs));
        }
        let mut family = Family::new(Explanation::All, stated, steps, groups.middle()?);
        family.last_gain = LAST_GAIN;
        let starts = family.starts().into_iter().skip(1).take(1);
        let starts =
            starts.flat_map(|start| [start, [start[0], start[1], start[2], 0.0]]).collect();
        let found = best(&groups, &family, held, starts)?;
        Some(NoiseOfStep { groups, family, held, found })
    }

    /// σ of the step.
    pub(crate) fn noise_multiplier(&self) -> f64 {
        math::exp(self.found.at[2])
    }

    /// σ with its profile likelihood interval.
    pub(crate) fn estimate(&self, significance: f64) -> OutputParameter {
        let limit = chi_square::quantile(1.0, 1.0 - significance);
        let NoiseOfStep { groups, family, held, found } = self;
        let profile = Profile { groups, family, found, index: 2, held: *held };
        let [lower, upper] = interval(&profile, limit).map(math::exp);
        OutputParameter { value: self.noise_multiplier(), lower, upper }
    }

    /// P-value of a noise multiplier by the likelihood ratio; 1 within two standard errors.
    pub(crate) fn p_value(&self, noise_multiplier: f64) -> f64 {
        let mut held = self.held;
        held[2] = true;
        let ln_noise = math::ln(noise_multiplier);
        let error = self.found.standard_error(2);
        if error.is_some_and(|error| (self.found.at[2] - ln_noise).abs() < SURELY_NEAR * error) {
            return 1.0;
        }
        let [b, contrast, _, logit] = self.found.at;
        let starts = [[b, contrast, ln_noise, logit], [b, contrast, ln_noise, 0.0]];
        best(&self.groups, &self.family, held, starts.to_vec()).map_or(1.0, |null| {
            let ratio = 2.0 * (self.found.ln_likelihood - null.ln_likelihood);
            chi_square::tails(1.0, ratio)[1]
        })
    }
}

fn best(
    groups: &OutputGroups,
    family: &Family,
    held: Held,
    starts: Vec<[f64; 4]>,
) -> Option<Maximum> {
    let found = starts.into_iter().map(|start| maximum(groups, family, held, start));
    found.max_by(|a, b| a.ln_likelihood.total_cmp(&b.ln_likelihood))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Words};

    const STATED: OutputModel = OutputModel {
        other_mean: -1.0,
        contrast: 2.0,
        zero_out_share: 0.5,
        noise_multiplier: 1.0,
        uses: 1.0,
    };

    /// Outputs of a step that has the target with chance 1/10.
    fn outputs(words: &mut Words) -> [Vec<f64>; 2] {
        [STATED.contrast, STATED.in_zero_out()].map(|contrast| {
            let own = |is_there: bool| if is_there { contrast } else { 0.0 };
            (0..400).map(|_| own(words.below(10) == 0) + words.normal() - 1.0).collect()
        })
    }

    #[test]
    fn drawn_outputs_are_not_taken_for_more_noise_with_the_target_in_all() {
        let (mut other_noise, mut of_mutant) = (0, 0);
        for repetition in 0..300 {
            let outputs = outputs(&mut Words::new(3, Purpose::Test, repetition));
            let fit = NoiseOfStep::new(outputs.clone(), &STATED, 10.0).unwrap();
            other_noise += u32::from(fit.p_value(1.0) < 1e-4);
            // a mutant: the more likely fit
            let always = NoiseOfStep::placed((Presence::Always, ALWAYS), outputs, &STATED, 10.0);
            let always = always.unwrap();
            let is_likelier = always.found.ln_likelihood > fit.found.ln_likelihood;
            of_mutant += u32::from(is_likelier && always.p_value(1.0) < 1e-4);
        }
        // .03 expected
        assert_eq!(other_noise, 0);
        assert!(of_mutant > 0);
    }
}

//! What both worlds add to the outputs of an epoch and step: other records contribute other sums while the
//! model trains.

use super::Cells;
use crate::adjacency::World;
use crate::math;
use crate::recorded::mixture::{OutputFit, OutputGroup, OutputGroups, Presence};
use crate::recorded::output_model::OutputModel;
use crate::special::chi_square;

/// Standard errors from which on a deviation of a step or an epoch is a drift: 7e-6 each.
const DRIFT: f64 = 4.5;

/// Chance at which steps where the worlds differ as stated are taken for steps where they do not.
const UNEVEN: f64 = 0.01;

/// Fewer outputs of both worlds have no mean of their own.
const LEAST_OUTPUTS: usize = 20;

/// Newton's method doubles the correct digits with each step.
const MOST_STEPS: usize = 8;

/// Error of a mean, in standard errors.
const ERROR: f64 = 1e-3;

/// Mean and squared standard error.
#[derive(Clone, Copy)]
struct Mean {
    value: f64,
    squared_error: f64,
}

impl Mean {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let n = values.clone().count() as f64;
        let value = values.clone().sum::<f64>() / n;
        let squares: f64 = values.map(|v| (v - value) * (v - value)).sum();
        Mean { value, squared_error: squares / (n * (n - 1.0)) }
    }
}

impl Cells {
    /// Subtracts what both worlds add to the outputs of each epoch and step beyond the mean of all.
    ///
    /// `chances` are the stated chances of the target at each step. Where the worlds differ at each step by
    /// what these imply, the means of all cells are estimated; else a cell that has the target more often
    /// looks like a drift, and only deviations beyond chance are subtracted.
    pub(crate) fn without_drift(self, stated: &OutputModel, chances: &[f64]) -> Self {
        let cells = self.without_outliers(stated.zero_out_share);
        match cells.is_target_as_stated(stated, chances) {
            true => cells.centred(stated, chances),
            false => cells,
        }
    }

    /// Subtracts what both worlds add to single steps, and to single epochs, where that is no chance.
    ///
    /// With ρ the share of the contrast in D′, (mean of D′ − ρ · mean of D)/(1 − ρ) is b wherever the
    /// target is. What deviates from the median of all steps, or of all epochs, is subtracted.
    fn without_outliers(mut self, zero_out_share: f64) -> Self {
        let weights = [-zero_out_share, 1.0].map(|weight| weight / (1.0 - zero_out_share));
        let joined = |[d, d_prime]: [Mean; 2]| Mean {
            value: weights[0] * d.value + weights[1] * d_prime.value,
            squared_error: weights[0] * weights[0] * d.squared_error
                + weights[1] * weights[1] * d_prime.squared_error,
        };
        let by_step: Vec<Mean> = (0..self.steps)
            .map(|step| {
                joined(World::BOTH.map(|world| Mean::of(self.at(world, 0..self.epochs, step))))
            })
            .collect();
        let drift = deviations(&by_step);
        self.subtract(|_, step| drift[step]);
        let by_epoch: Vec<Mean> = (0..self.epochs)
            .map(|epoch| {
                joined(World::BOTH.map(|world| {
                    let runs = self.world(world).chunks_exact(self.epochs * self.steps);
                    let all = epoch * self.steps..(epoch + 1) * self.steps;
                    let cells = all.filter(|cell| !self.left_out[*cell]);
                    let count = cells.clone().count() as f64;
                    let of_run =
                        |run: &[f64]| cells.clone().map(|cell| run[cell]).sum::<f64>() / count;
                    Mean::of(runs.map(of_run))
                }))
            })
            .collect();
        let drift = deviations(&by_epoch);
        self.subtract(|epoch, _| drift[epoch]);
        self
    }

    fn subtract(&mut self, drift: impl Fn(usize, usize) -> f64) {
        let steps = self.steps;
        let drifts: Vec<f64> =
            (0..self.epochs * steps).map(|cell| drift(cell / steps, cell % steps)).collect();
        if drifts.iter().any(|drift| *drift != 0.0) {
            for run in self.worlds.iter_mut().flat_map(|world| world.chunks_exact_mut(drifts.len()))
            {
                run.iter_mut().zip(&drifts).for_each(|(output, drift)| *output -= drift);
            }
        }
    }

    /// Whether the mean difference of the worlds at each step is that of the stated chances, times any size.
    fn is_target_as_stated(&self, stated: &OutputModel, chances: &[f64]) -> bool {
        let at_step = |(step, chance): (usize, &f64)| {
            let [d, d_prime] = World::BOTH.map(|world| {
                let of_run = |run: &mut dyn Iterator<Item = f64>| {
                    let (sum, count) = run.fold((0.0, 0.0), |(s, n), output| (s + output, n + 1.0));
                    sum / count
                };
                let means: Vec<f64> =
                    self.by_run(world, step).map(|mut run| of_run(&mut run)).collect();
                Mean::of(means.into_iter())
            });
            let difference = d.value - d_prime.value - chance * stated.size();
            (difference, d.squared_error + d_prime.squared_error)
        };
        let drawn = chances.iter().enumerate().filter(|(_, chance)| **chance < 1.0);
        let known = drawn.map(at_step).filter(|(difference, _)| difference.is_finite());
        let (differences, squared_errors): (Vec<f64>, Vec<f64>) = known.unzip();
        let n = differences.len() as f64;
        if n < 2.0 {
            return true;
        }
        let mean = differences.iter().sum::<f64>() / n;
        let squares: f64 = differences.iter().map(|d| (d - mean) * (d - mean)).sum();
        let squared_error = squared_errors.iter().sum::<f64>() / n;
        squared_error > 0.0 && chi_square::tails(n - 1.0, squares / squared_error)[1] >= UNEVEN
    }

    /// Subtracts from each cell how far its mean b, the most likely one with one κ, σ and p for all, is from
    /// that of all cells. A mean takes a degree of freedom from the noise, whose deviations grow to make up
    /// for it. Of few runs, steps and epochs have means instead of cells. A cell that always has the target
    /// is left as it is: only its worlds together show b.
    fn centred(mut self, stated: &OutputModel, chances: &[f64]) -> Self {
        let Some(model) = self.model_of_all(stated) else { return self };
        let more = model.uses / stated.uses;
        let chance = |cell: usize| (more * chances[cell % self.steps]).min(1.0);
        let is_open = |cell: &usize| !self.left_out[*cell] && chances[cell % self.steps] < 1.0;
        let cells: Vec<usize> = (0..self.epochs * self.steps).filter(is_open).collect();
        let chances: Vec<f64> = (0..self.epochs * self.steps).map(chance).collect();
        let runs: usize = World::BOTH.map(|world| self.runs(world).len()).iter().sum();
        let steps = self.steps;
        let by = |place: &dyn Fn(usize) -> usize, count: usize| {
            let mut parts = vec![Vec::new(); count];
            cells.iter().for_each(|&cell| parts[place(cell)].push(cell));
            parts
        };
        let partitions = match runs >= LEAST_OUTPUTS {
            true => vec![cells.iter().map(|cell| vec![*cell]).collect()],
            false => vec![by(&|cell| cell % steps, steps), by(&|cell| cell / steps, self.epochs)],
        };
        for mut parts in partitions {
            parts.retain(|part| part.len() * runs >= LEAST_OUTPUTS);
            self.centre(&parts, &model, &chances);
        }
        self
    }

    fn centre(&mut self, parts: &[Vec<usize>], model: &OutputModel, chances: &[f64]) {
        let noise = model.noise_multiplier * model.noise_multiplier;
        let length = self.epochs * self.steps;
        let of_part = |part: &Vec<usize>| {
            let mut outputs: Vec<(f64, Mixture)> = Vec::new();
            for (&cell, world) in part.iter().flat_map(|cell| World::BOTH.map(|w| (cell, w))) {
                let mixture = Mixture::new(model, world, chances[cell]);
                let of_cell = self.world(world).iter().skip(cell).step_by(length);
                outputs.extend(of_cell.map(|output| (*output, mixture)));
            }
            (most_likely_mean(&outputs, model.other_mean, noise), outputs.len() as f64)
        };
        let means: Vec<(f64, f64)> = parts.iter().map(of_part).collect();
        let outputs: f64 = means.iter().map(|(_, outputs)| outputs).sum();
        let of_all = means.iter().map(|(mean, outputs)| mean * outputs).sum::<f64>() / outputs;
        let free = 1.0 - 1.0 / parts.len() as f64;
        for (part, (mean, outputs)) in parts.iter().zip(&means) {
            let stretch = (outputs / (outputs - free)).sqrt();
            for (&cell, world) in
                part.iter().flat_map(|cell| World::BOTH.map(|world| (cell, world)))
            {
                let mixture = Mixture::new(model, world, chances[cell]);
                for output in self.worlds[world.index()].iter_mut().skip(cell).step_by(length) {
                    let deviation = *output - mean;
                    let own = mixture.presence(deviation, noise) * mixture.contrast;
                    *output = of_all + own + stretch * (deviation - own);
                }
            }
        }
    }

    /// The most likely parameters of all outputs together.
    fn model_of_all(&self, stated: &OutputModel) -> Option<OutputModel> {
        let mut groups = OutputGroups::default();
        for world in World::BOTH {
            let of_step = |step| self.at(world, 0..self.epochs, step);
            let outputs = (0..self.steps).flat_map(of_step).collect();
            groups.push(OutputGroup::new(world, Presence::Drawn, outputs));
        }
        OutputFit::model_of_all(groups, stated, self.steps as f64)
    }
}

/// Outputs of a cell in a world: b, and κ or ρκ more with a chance.
#[derive(Clone, Copy)]
struct Mixture {
    contrast: f64,
    logit: f64,
}

impl Mixture {
    fn new(model: &OutputModel, world: World, chance: f64) -> Self {
        let contrast = match world {
            World::Target => model.contrast,
            World::ZeroOut => model.in_zero_out(),
        };
        Mixture { contrast, logit: math::ln(chance) - math::ln_1p(-chance) }
    }

    /// The chance that an output with this deviation from b has the target.
    fn presence(&self, deviation: f64, squared_noise: f64) -> f64 {
        let log_odds =
            self.logit + self.contrast * (deviation - 0.5 * self.contrast) / squared_noise;
        1.0 / (1.0 + math::exp(-log_odds))
    }
}

/// The most likely b of some outputs, by Newton's method.
fn most_likely_mean(outputs: &[(f64, Mixture)], start: f64, squared_noise: f64) -> f64 {
    let n = outputs.len() as f64;
    let error = ERROR * (squared_noise / n).sqrt();
    let mut b = start;
    for _ in 0..MOST_STEPS {
        let (mut slope, mut spread) = (0.0, 0.0);
        for (output, mixture) in outputs {
            let r = mixture.presence(output - b, squared_noise);
            slope += output - b - r * mixture.contrast;
            spread += r * (1.0 - r) * mixture.contrast * mixture.contrast;
        }
        // where the likelihood is not concave, a step of expectation maximisation
        let curvature = n - spread / squared_noise;
        let step = slope / if curvature > 0.1 * n { curvature } else { n };
        b += step;
        if step.abs() < error {
            break;
        }
    }
    b
}

/// How far each mean is from the median of all, where that is no chance. The mean of no outputs is NaN.
fn deviations(means: &[Mean]) -> Vec<f64> {
    let mut sorted: Vec<f64> = means.iter().map(|mean| mean.value).collect();
    sorted.retain(|value| !value.is_nan());
    if sorted.is_empty() {
        return vec![0.0; means.len()];
    }
    sorted.sort_unstable_by(f64::total_cmp);
    let median = 0.5 * (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]);
    let of_mean = |mean: &Mean| {
        let deviation = mean.value - median;
        let is_drift = deviation * deviation > DRIFT * DRIFT * mean.squared_error;
        if is_drift { deviation } else { 0.0 }
    };
    means.iter().map(of_mean).collect()
}

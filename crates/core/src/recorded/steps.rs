//! Steps of an epoch whose noise differs from that of the others.

use std::ops::Range;

use super::cells::Cells;
use super::exact_noise::ExactNoise;
use super::independence::RecordedRuns;
use super::mixture::NoiseOfStep;
use super::output_model::OutputModel;
use super::output_parameter::OutputParameter;
use crate::adjacency::World;
use crate::math;
use crate::special::BetaDistribution;

/// Chance that correct code has steps with other noise, for both tests together.
const FALSE_ALARM: f64 = 2e-4;

/// Outputs of both worlds that are tested together, at least: those of a step in all epochs, or of
/// neighbouring steps.
const LEAST_OUTPUTS: usize = 100;

/// Up to this many groups of steps, the outputs of each are fitted; of more, about as many and those whose
/// variance stands out, unless the noise differs.
const ALWAYS_FITTED: usize = 64;

/// Standard errors from the median variance of all steps from which on a step stands out. The test needs
/// more than 3.7, so that it misses hardly a step that it would find.
const STANDS_OUT: f64 = 2.0;

/// Ratios to the noise of the other steps that are no finding.
const NEARLY: [f64; 2] = [0.99, 1.01];

/// Share of the golden ratio: its multiples are spread evenly, whatever the period of a pattern is.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// Steps of an epoch whose noise differs from that of the others.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepNoise {
    /// The step with the least noise, from 0, or the first of several that were tested together.
    pub step: u32,
    /// The last step that was tested together with it, from 0; itself where each step is tested.
    pub last_step: u32,
    /// Their noise, clip norms.
    pub noise: OutputParameter,
    /// The median of the other steps.
    pub other_noise: f64,
    /// Number of steps that differ; 0 if only all steps together show that they do.
    pub steps: u32,
}

/// Which steps of an epoch are tested for noise that differs from that of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "kebab-case"))]
pub enum StepComparison {
    /// Each one.
    EachStep,
    /// Neighbouring steps together: each has too few outputs.
    Groups {
        /// Number of groups in an epoch.
        groups: u32,
    },
    /// None: two halves of an epoch have too few outputs.
    TooFewOutputs {
        /// Runs of each world with enough outputs.
        runs_needed: u64,
    },
}

impl StepComparison {
    /// What outputs suffice for; none for one step per epoch. Noise that is known from recorded sums needs
    /// no number of outputs.
    pub(crate) fn of(cells: &Cells, has_sums: bool) -> Option<Self> {
        let steps = cells.steps;
        if steps < 2 {
            return None;
        }
        let runs: usize = World::BOTH.map(|world| cells.runs(world).len()).iter().sum();
        let of_step = runs * cells.epochs;
        let groups = steps / LEAST_OUTPUTS.div_ceil(of_step).max(1);
        Some(match groups {
            _ if has_sums || groups == steps => StepComparison::EachStep,
            0 | 1 => StepComparison::TooFewOutputs {
                runs_needed: LEAST_OUTPUTS.div_ceil(2 * cells.epochs * (steps / 2)) as u64,
            },
            _ => StepComparison::Groups { groups: groups as u32 },
        })
    }

    /// The groups of steps that are tested together, in order.
    fn groups(self, steps: usize) -> Vec<Range<usize>> {
        let count = match self {
            StepComparison::EachStep => steps,
            StepComparison::Groups { groups } => groups as usize,
            StepComparison::TooFewOutputs { .. } => 0,
        };
        (0..count).map(|group| group * steps / count..(group + 1) * steps / count).collect()
    }
}

/// Noise of one step.
enum Estimate {
    Exact(ExactNoise),
    Fitted(Box<NoiseOfStep>),
}

impl Estimate {
    fn value(&self) -> f64 {
        match self {
            Estimate::Exact(noise) => noise.noise_multiplier(0.05).value,
            Estimate::Fitted(fit) => fit.noise_multiplier(),
        }
    }

    fn interval(&self) -> OutputParameter {
        match self {
            Estimate::Exact(noise) => noise.noise_multiplier(0.05),
            Estimate::Fitted(fit) => fit.estimate(0.05),
        }
    }

    fn p_value(&self, noise_multiplier: f64) -> f64 {
        match self {
            Estimate::Exact(noise) => noise.p_value(noise_multiplier),
            Estimate::Fitted(fit) => fit.p_value(noise_multiplier),
        }
    }

    fn differs_from(&self, noise_multiplier: f64, significance: f64) -> bool {
        let [least, most] = NEARLY.map(|ratio| ratio * noise_multiplier);
        !(least..most).contains(&self.value()) && self.p_value(noise_multiplier) < significance
    }
}

/// The steps whose noise differs, and which they are.
pub(crate) struct FoundSteps {
    pub(crate) noise: StepNoise,
    /// For each step of an epoch.
    pub(crate) differs: Vec<bool>,
}

impl FoundSteps {
    /// Whether so many steps differ that they shape the outputs of all steps together.
    pub(crate) fn is_general(&self) -> bool {
        self.noise.steps == 0 || 4 * self.noise.steps as usize > self.differs.len()
    }
}

/// Tests whether the noise of all steps, each over all epochs, is equal, and names those that differ. Of few
/// outputs, those of neighbouring steps are taken together.
///
/// Two tests have half of the level each.
/// - Each step, at the level divided by their number: the outputs must distinguish it from the stated noise
///   and from the median of all steps.
/// - All steps together. With x the ln σ̂ of a step in one half of the runs, m the mean of both halves and d half
///   of their difference, the variance of m over n steps ÷ the mean of d² is F distributed with n − 1 and n
///   degrees of freedom if the noise is equal, whatever its precision is. The variance of ln σ between the
///   steps, that of m less the mean of d², must exceed 0.01².
///
/// Steps differ that the outputs distinguish from the stated noise; if every step does, those that they
/// distinguish from the median of all: a fault that all steps share is none of single steps.
///
/// # Guarantee
/// Correct code has such steps with probability about 2e-4 at most, whatever the noise of all steps is
/// (`unit::equal_noise_is_found_equal`,
/// `crates/core/src/audit/outputs/behaviour/tests.rs::correct_code_has_no_finding`).
///
/// # Reference
/// R. A. Fisher, "Statistical methods for research workers", 1925, for the analysis of variance.
pub(crate) fn noise_by_step(
    cells: &Cells,
    with_sums: Option<[[RecordedRuns<'_>; 2]; 2]>,
    stated: &OutputModel,
) -> Option<FoundSteps> {
    let groups = StepComparison::of(cells, with_sums.is_some())?.groups(cells.steps);
    let regular = regular_groups(groups.len());
    let chosen: Vec<bool> = regular
        .iter()
        .zip(standing_out(cells, &groups))
        .map(|(is, stands)| *is || stands)
        .collect();
    let recorded = Recorded { cells, with_sums, stated, groups: &groups };
    let mut estimates = recorded.estimates(&chosen, Part::ALL);
    let significance = FALSE_ALARM / groups.len() as f64;
    let evenly = estimates.iter().zip(&regular).filter(|(_, is_regular)| **is_regular);
    let evenly: Vec<&Estimate> = evenly.filter_map(|(estimate, _)| estimate.as_ref()).collect();
    let median_noise = median(evenly.iter().map(|estimate| estimate.value()))?;
    let differs_from_both = |estimate: &Estimate| {
        let each = [median_noise, stated.noise_multiplier];
        each.into_iter().all(|noise| estimate.differs_from(noise, 0.5 * significance))
    };
    let are_equal =
        !estimates.iter().flatten().any(differs_from_both) && !recorded.steps_differ(&regular);
    if are_equal {
        return None;
    }
    let is_off =
        |estimate: &&Estimate| estimate.differs_from(stated.noise_multiplier, significance);
    let reference = match evenly.iter().all(is_off) {
        true => median_noise,
        false => stated.noise_multiplier,
    };
    if chosen.contains(&false) {
        let missing: Vec<bool> = chosen.iter().map(|is_chosen| !is_chosen).collect();
        let others = recorded.estimates(&missing, Part::ALL);
        estimates.iter_mut().zip(others).for_each(|(one, other)| *one = one.take().or(other));
    }
    let differs = |e: &Estimate| e.differs_from(reference, significance);
    let differs: Vec<bool> = estimates.iter().map(|e| e.as_ref().is_some_and(differs)).collect();
    let is_any = differs.contains(&true);
    let estimated = || {
        let pairs = groups.iter().zip(&estimates).zip(&differs);
        pairs.filter_map(|((group, e), differs)| Some((group, e.as_ref()?, *differs)))
    };
    let named = estimated().filter(|(.., differs)| *differs || !is_any);
    let (group, least, _) = named.min_by(|a, b| a.1.value().total_cmp(&b.1.value()))?;
    let others = estimated().filter(|(.., differs)| !differs).map(|(_, e, _)| e.value());
    let of_steps: Vec<bool> = groups
        .iter()
        .zip(&differs)
        .flat_map(|(group, differs)| vec![*differs; group.len()])
        .collect();
    let noise = StepNoise {
        step: group.start as u32,
        last_step: group.end as u32 - 1,
        noise: least.interval(),
        other_noise: median(others).unwrap_or(reference),
        steps: of_steps.iter().filter(|differs| **differs).count() as u32,
    };
    Some(FoundSteps { noise, differs: of_steps })
}

/// Every `stride`-th run from `first` on.
#[derive(Clone, Copy)]
struct Part {
    first: usize,
    stride: usize,
}

impl Part {
    const ALL: Part = Part { first: 0, stride: 1 };
    const HALVES: [Part; 2] = [Part { first: 0, stride: 2 }, Part { first: 1, stride: 2 }];
}

/// What the noise of groups of steps is computed from.
struct Recorded<'a> {
    cells: &'a Cells,
    with_sums: Option<[[RecordedRuns<'a>; 2]; 2]>,
    stated: &'a OutputModel,
    groups: &'a [Range<usize>],
}

impl Recorded<'_> {
    /// The noise of the chosen groups; none with too few outputs.
    fn estimates(&self, chosen: &[bool], part: Part) -> Vec<Option<Estimate>> {
        let groups = self.groups.iter().zip(chosen);
        match self.with_sums {
            Some(runs) => {
                // each group is a step
                let noise = beside_sums(runs, self.cells, part).into_iter().zip(chosen);
                let is_known = |noise: &ExactNoise| noise.outputs() > 0.0;
                let noise = noise.map(|(noise, is)| Some(noise).filter(|n| *is && is_known(n)));
                noise.map(|noise| noise.map(Estimate::Exact)).collect()
            }
            None => {
                groups.map(|(group, is)| is.then(|| self.fitted(group, part)).flatten()).collect()
            }
        }
    }

    fn fitted(&self, group: &Range<usize>, Part { first, stride }: Part) -> Option<Estimate> {
        let outputs = World::BOTH.map(|world| {
            let of_step =
                |step| self.cells.by_run(world, step).skip(first).step_by(stride).flatten();
            group.clone().flat_map(of_step).collect::<Vec<_>>()
        });
        let is_enough = stride * (outputs[0].len() + outputs[1].len()) >= LEAST_OUTPUTS;
        let steps = self.cells.steps as f64;
        let fit = is_enough.then(|| NoiseOfStep::new(outputs, self.stated, steps));
        fit.flatten().map(|fit| Estimate::Fitted(Box::new(fit)))
    }

    /// Whether the noise of the chosen steps differs more than that of two halves of the runs.
    fn steps_differ(&self, chosen: &[bool]) -> bool {
        let [first, second] = Part::HALVES.map(|part| self.estimates(chosen, part));
        let ln = |estimate: &Estimate| math::ln(estimate.value().max(f64::MIN_POSITIVE));
        let pairs = first.iter().zip(&second);
        let pairs = pairs.filter_map(|(one, other)| Some([ln(one.as_ref()?), ln(other.as_ref()?)]));
        let nearly = NEARLY[1] - 1.0;
        variance_between(&pairs.collect::<Vec<_>>()).is_some_and(|(between, p_value)| {
            between > nearly * nearly && p_value < 0.5 * FALSE_ALARM
        })
    }
}

/// Variance between pairs beyond that within them, and the chance of at least their ratio if all have one
/// mean; none with fewer than two pairs, or where the values of each pair are equal.
fn variance_between(pairs: &[[f64; 2]]) -> Option<(f64, f64)> {
    let n = pairs.len() as f64;
    let mean = |[a, b]: &[f64; 2]| 0.5 * (a + b);
    let of_all = pairs.iter().map(mean).sum::<f64>() / n;
    let squares = |values: &mut dyn Iterator<Item = f64>| values.map(|v| v * v).sum::<f64>();
    let of_means = squares(&mut pairs.iter().map(|pair| mean(pair) - of_all)) / (n - 1.0);
    let within = squares(&mut pairs.iter().map(|[a, b]| 0.5 * (a - b))) / n;
    if pairs.len() < 2 || !(within > 0.0) {
        return None;
    }
    // F(m, n) exceeds f with the probability that Beta(n/2, m/2) is below n/(n + m f)
    let ratio = of_means / within;
    let distribution = BetaDistribution::new(0.5 * n, 0.5 * (n - 1.0)).ok()?;
    Some((of_means - within, distribution.cdf(n / (n + (n - 1.0) * ratio)).ok()?))
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// All of a few groups; of more, some that are spread evenly and do not depend on the outputs.
fn regular_groups(groups: usize) -> Vec<bool> {
    let share = ALWAYS_FITTED as f64 / groups as f64;
    (0..groups).map(|group| (GOLDEN * group as f64).fract() < share).collect()
}

/// The groups of steps whose variance is not that of most.
fn standing_out(cells: &Cells, groups: &[Range<usize>]) -> Vec<bool> {
    let moments: Vec<[f64; 2]> = groups.iter().map(|group| central_moments(cells, group)).collect();
    let finite = || moments.iter().filter(|[second, _]| second.is_finite());
    let Some(median) = median(finite().map(|[second, _]| *second)) else {
        return vec![false; groups.len()];
    };
    let fourth = finite().map(|[_, fourth]| fourth).sum::<f64>() / finite().count() as f64;
    let outputs = |group: &Range<usize>| {
        let of_world = |world| outputs_of(cells, world, group).count();
        World::BOTH.map(of_world).iter().sum::<usize>()
    };
    let most = groups.iter().map(outputs).max().unwrap_or(1);
    let error = ((fourth - median * median).max(0.0) / most as f64).sqrt();
    moments.iter().map(|[second, _]| (second - median).abs() > STANDS_OUT * error).collect()
}

/// The outputs of a world at a group of steps, in all epochs.
fn outputs_of<'a>(
    cells: &'a Cells,
    world: World,
    group: &Range<usize>,
) -> impl Iterator<Item = f64> + Clone + 'a {
    group.clone().flat_map(move |step| cells.at(world, 0..cells.epochs, step))
}

/// The second and fourth central moments of the outputs of a group, each world about its mean.
fn central_moments(cells: &Cells, group: &Range<usize>) -> [f64; 2] {
    let (mut moments, mut count) = ([0.0; 2], 0.0);
    for world in World::BOTH {
        let outputs = outputs_of(cells, world, group);
        let n = outputs.clone().count() as f64;
        let mean = outputs.clone().sum::<f64>() / n;
        for square in outputs.map(|output| (output - mean) * (output - mean)) {
            moments[0] += square;
            moments[1] += square * square;
        }
        count += n;
    }
    moments.map(|moment| moment / count)
}

fn beside_sums(
    [outputs, sums]: [[RecordedRuns<'_>; 2]; 2],
    cells: &Cells,
    Part { first, stride }: Part,
) -> Vec<ExactNoise> {
    let mut noise = vec![ExactNoise::default(); cells.steps];
    for (outputs, sums) in outputs.iter().zip(&sums) {
        for (run, of_run) in outputs.runs().zip(sums.runs()).skip(first).step_by(stride) {
            for (cell, (output, sum)) in run.iter().zip(of_run).enumerate() {
                if !cells.is_left_out(cell) {
                    noise[cell % cells.steps].add(*output, *sum);
                }
            }
        }
    }
    noise
}

#[cfg(test)]
mod tests;

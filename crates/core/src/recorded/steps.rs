//! Steps of an epoch whose noise differs from that of the others.

use super::cells::Cells;
use super::exact_noise::ExactNoise;
use super::independence::RecordedRuns;
use super::mixture::NoiseOfStep;
use super::output_model::OutputModel;
use super::output_parameter::OutputParameter;
use crate::adjacency::World;

/// Chance that correct code has a step with other noise, for all steps together.
const FALSE_ALARM: f64 = 2e-4;

/// Fewer outputs of a step, in both worlds, are not tested.
const LEAST_OUTPUTS: usize = 100;

/// Up to this many steps, the outputs of each are fitted; of more, these many and those whose variance
/// stands out.
const ALWAYS_FITTED: usize = 64;

/// Standard errors from the median variance of all steps from which on a step stands out. The test needs
/// more than 3.7, so that it misses hardly a step that it would find.
const STANDS_OUT: f64 = 2.0;

/// Ratios to the noise of the other steps that are no finding.
const NEARLY: [f64; 2] = [0.99, 1.01];

/// Steps of an epoch whose noise differs from that of the others.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepNoise {
    /// The step with the least noise, from 0.
    pub step: u32,
    /// Its noise, clip norms.
    pub noise: OutputParameter,
    /// The median of all steps.
    pub other_noise: f64,
    /// Steps that differ.
    pub steps: u32,
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
}

/// The steps whose noise differs, and which they are.
pub(crate) struct FoundSteps {
    pub(crate) noise: StepNoise,
    /// For each step of an epoch.
    pub(crate) differs: Vec<bool>,
}

/// Compares the noise of each step, over all epochs, with the stated one and with the median of all steps:
/// a fault that all steps share is none of single steps.
///
/// # Guarantee
/// Correct code has such steps with probability about 2e-4 at most: Bonferroni over steps
/// (`crates/core/src/audit/outputs/behaviour/tests.rs::correct_code_has_no_finding`).
pub(crate) fn noise_by_step(
    cells: &Cells,
    with_sums: Option<[[RecordedRuns<'_>; 2]; 2]>,
    stated: &OutputModel,
    is_left_out: &[bool],
) -> Option<FoundSteps> {
    let steps = cells.steps;
    if steps < 2 {
        return None;
    }
    let estimates: Vec<Option<Estimate>> = match with_sums {
        Some(runs) => beside_sums(runs, steps)
            .into_iter()
            .zip(is_left_out)
            .map(|(noise, is_left_out)| (!is_left_out).then_some(noise))
            .collect(),
        None => (0..steps)
            .zip(steps_to_fit(cells))
            .map(|(step, is_fitted)| {
                if is_left_out[step] || !is_fitted {
                    return None;
                }
                let outputs = World::BOTH
                    .map(|world| cells.at(world, 0..cells.epochs, step).collect::<Vec<_>>());
                let is_enough = outputs[0].len() + outputs[1].len() >= LEAST_OUTPUTS;
                let fit = is_enough.then(|| NoiseOfStep::new(outputs, stated, steps as f64));
                fit.flatten().map(|fit| Estimate::Fitted(Box::new(fit)))
            })
            .collect(),
    };
    let mut values: Vec<f64> = estimates.iter().flatten().map(Estimate::value).collect();
    values.sort_unstable_by(f64::total_cmp);
    let median = *values.get(values.len() / 2)?;
    let differs_from = |estimate: &Estimate, noise: f64| {
        let [least, most] = NEARLY.map(|ratio| ratio * noise);
        !(least..most).contains(&estimate.value())
            && estimate.p_value(noise) * (steps as f64) < FALSE_ALARM
    };
    let differs = |estimate: &Estimate| {
        [median, stated.noise_multiplier].into_iter().all(|noise| differs_from(estimate, noise))
    };
    let differs: Vec<bool> =
        estimates.iter().map(|estimate| estimate.as_ref().is_some_and(differs)).collect();
    let found = estimates.iter().zip(&differs).enumerate().filter(|(_, (_, differs))| **differs);
    let found = found.filter_map(|(step, (estimate, _))| Some((step, estimate.as_ref()?)));
    let (step, least) = found.min_by(|a, b| a.1.value().total_cmp(&b.1.value()))?;
    let noise = StepNoise {
        step: step as u32,
        noise: least.interval(),
        other_noise: median,
        steps: differs.iter().filter(|differs| **differs).count() as u32,
    };
    Some(FoundSteps { noise, differs })
}

/// Which steps are fitted: all of a few, otherwise some at equal distances and those whose variance is not
/// that of most steps.
fn steps_to_fit(cells: &Cells) -> Vec<bool> {
    let steps = cells.steps;
    let moments: Vec<[f64; 2]> = (0..steps).map(|step| central_moments(cells, step)).collect();
    let mut variances: Vec<f64> = moments.iter().map(|[second, _]| *second).collect();
    variances.sort_unstable_by(f64::total_cmp);
    let median = variances[steps / 2];
    let fourth = moments.iter().map(|[_, fourth]| fourth).sum::<f64>() / steps as f64;
    let outputs = World::BOTH.map(|world| cells.at(world, 0..cells.epochs, 0).count());
    let error = ((fourth - median * median).max(0.0) / (outputs[0] + outputs[1]) as f64).sqrt();
    let stride = steps.div_ceil(ALWAYS_FITTED);
    let is_fitted = |(step, [second, _]): (usize, &[f64; 2])| {
        step.is_multiple_of(stride) || (second - median).abs() > STANDS_OUT * error
    };
    moments.iter().enumerate().map(is_fitted).collect()
}

/// The second and fourth central moments of the outputs of a step, each world about its mean.
fn central_moments(cells: &Cells, step: usize) -> [f64; 2] {
    let (mut moments, mut count) = ([0.0; 2], 0.0);
    for world in World::BOTH {
        let outputs = cells.at(world, 0..cells.epochs, step);
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

fn beside_sums([outputs, sums]: [[RecordedRuns<'_>; 2]; 2], steps: usize) -> Vec<Estimate> {
    let mut noise = vec![ExactNoise::default(); steps];
    for (outputs, sums) in outputs.into_iter().zip(sums) {
        for (index, (output, sum)) in outputs.values().iter().zip(sums.values()).enumerate() {
            noise[index % steps].add(*output, *sum);
        }
    }
    noise.into_iter().map(Estimate::Exact).collect()
}

/// Steps at which the outputs of both worlds equal their noiseless values in all runs and epochs.
pub(crate) fn has_no_noise_at(
    cells: &Cells,
    is_noiseless: impl Fn(World, &[f64]) -> bool,
) -> Vec<bool> {
    let at_step = |step: usize| {
        World::BOTH.into_iter().all(|world| {
            let outputs: Vec<f64> = cells.at(world, 0..cells.epochs, step).collect();
            is_noiseless(world, &outputs)
        })
    };
    (0..cells.steps).map(at_step).collect()
}

//! Self-test: a device must reproduce the first steps of the CPU before its runs are counted.

use dpscope_engine::{Control, GpuError, UnitRange};
use rayon::prelude::*;

use super::host_rows::HostRows;
use super::pipelines::SELF_TEST_MODELS;
use super::plan::GpuPlan;
use super::wave::{PassRows, Waves};
use crate::run::{Runner, StepResult};
use crate::trainer::DpSgd;
use crate::training::Training;

/// Runs per world.
const RUNS: u64 = SELF_TEST_MODELS / 2;

/// Steps per run.
pub(super) const STEPS: u64 = 2;

/// Relative tolerance for f32 sums in a different order, and for normals.
pub(super) const ROUNDING: f64 = 1e-4;

/// Tolerance per record, in clip norms, for units within rounding error of a kink of their
/// activation.
pub(super) const KINK: f64 = 0.01;

/// Tolerance for outputs, in units of max(1, noise multiplier).
const OUTPUT: f64 = 2e-3;

/// Relative tolerance for the rounding of parameters before and after a step, with a margin.
pub(super) const PARAMETER: f64 = 1.0 / 4_194_304.0;

/// Compares the first steps of the first runs with the CPU, each step starting from the device's
/// own parameters: records must be equal, parameters and outputs equal within rounding.
pub(super) async fn check(
    waves: &mut Waves,
    cpu: &DpSgd,
    control: &dyn Control,
) -> Result<(), GpuError> {
    let training = cpu.training();
    let range = UnitRange { first: 0, end: RUNS.min(waves.pipelines.max_units) };
    let runs = range.len();
    let mut wave = waves.begin(range, control).await?;
    let plan = &wave.pipelines.plan;
    let mut rows = HostRows::new(training, cpu.threads(), plan, range);
    let length = training.outputs_per_run();
    let mut before = training.initial.repeat(2 * runs as usize);
    for step in 0..STEPS.min(length as u64) {
        let steps = u64::from(training.mechanism.steps_per_epoch);
        let (epoch, within) = ((step / steps) as u32, (step % steps) as u32);
        if within == 0 {
            rows.draw(epoch, control)?;
        }
        wave.step(&rows, epoch, within).await?;
        let device_step = DeviceStep {
            rows: wave.rows().await?,
            parameters: wave.parameters(0, 2 * runs).await?,
            outputs: wave.outputs().await?.chunks(length).map(|run| run[step as usize]).collect(),
            last_pass: plan.passes(rows.max_batch(within)) - 1,
        };
        let count = training.network.parameters();
        let twins: Vec<(u64, StepResult)> = cpu.threads().install(|| {
            let models = DpSgd::streams(range).into_par_iter().zip(before.par_chunks(count));
            let step_from = |runner: &mut Runner<'_>, (stream, before): (u64, &[f32])| {
                (stream / 2, runner.step_from(stream, step, before))
            };
            models.map_init(|| Runner::new(training), step_from).collect()
        });
        for (model, (run, twin)) in twins.iter().enumerate() {
            let from = &before[model * count..][..count];
            let world = if (model as u64) < runs { "D" } else { "D′" };
            device_step.difference(model, from, twin, plan, training).map_or(Ok(()), |what| {
                Err(GpuError::Unfit(format!(
                    "self-test: run {run} of {world}, step {step}: {what}"
                )))
            })?;
        }
        before = device_step.parameters;
    }
    Ok(())
}

/// The state of a device after a step.
struct DeviceStep {
    rows: Vec<u32>,
    parameters: Vec<f32>,
    outputs: Vec<f32>,
    last_pass: u32,
}

impl DeviceStep {
    /// Describes how a model's step from parameters `before` differs from the CPU's, if it does.
    fn difference(
        &self,
        model: usize,
        before: &[f32],
        twin: &StepResult,
        plan: &GpuPlan,
        training: &Training,
    ) -> Option<String> {
        let size = plan.words_per_model().rows;
        let rows = plan.host_rows(&twin.records, twin.batch.mean, self.last_pass);
        let found = &self.rows[model * size..][..size];
        if let Some(at) = found.iter().zip(&rows).position(|(found, row)| found != row) {
            return Some(format!("row {at} is {}, but {} on the CPU", found[at], rows[at]));
        }
        let (output, expected) = (f64::from(self.outputs[model]), f64::from(twin.output));
        if !output.is_finite() && !expected.is_finite() {
            return None; // the run has failed on both
        }
        let tolerance = OUTPUT * training.mechanism.noise_multiplier.max(1.0);
        if !((output - expected).abs() <= tolerance) {
            return Some(format!("the output is {output}, but {expected} on the CPU"));
        }
        let found = &self.parameters[model * before.len()..][..before.len()];
        let away = distance(found, &twin.parameters);
        let tolerance = parameter_tolerance(before, twin, training);
        let is_wrong = !(away <= tolerance);
        is_wrong.then(|| {
            format!("the parameters differ by {away:e} from the CPU, more than {tolerance:e}")
        })
    }
}

/// Tolerance for the distance between the parameters of device and CPU.
fn parameter_tolerance(before: &[f32], twin: &StepResult, training: &Training) -> f64 {
    let batch_size = training.mean_batch_size();
    let kink = KINK * training.settings.clip_norm * batch_size.sqrt();
    let step = distance(before, &twin.parameters);
    let length = distance(&vec![0.0; before.len()], &twin.parameters);
    ROUNDING * step + kink * training.settings.learning_rate / batch_size + PARAMETER * length
}

pub(super) fn distance(a: &[f32], b: &[f32]) -> f64 {
    let square = |(a, b): (&f32, &f32)| {
        let difference = f64::from(*a) - f64::from(*b);
        difference * difference
    };
    a.iter().zip(b).map(square).sum::<f64>().sqrt()
}

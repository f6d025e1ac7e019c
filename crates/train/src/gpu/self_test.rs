//! Steps that a device must take as the CPU does before its runs count.

use std::time::Instant;

use dpscope_core::adjacency::World;
use dpscope_engine::backend::gpu::Failure;
use dpscope_engine::{Control, ObservationRange};
use rayon::prelude::*;

use super::host_rows::HostRows;
use super::plan::GpuPlan;
use super::wave::Waves;
use crate::run::{Runner, StepResult};
use crate::trainer::DpSgd;
use crate::training::Training;

/// Runs of each world.
const RUNS: u64 = 2;

/// Models of both worlds.
pub(super) const MODELS: u64 = 2 * RUNS;

/// Steps of each run.
const STEPS: u64 = 2;

/// Relative difference of sums of f32 in another order, and of normals.
const ROUNDING: f64 = 1e-4;

/// What a record may move otherwise, in clip norms: one of which a unit is within rounding of a kink.
const KINK: f64 = 0.01;

/// Largest difference of outputs, in max(1, noise standard deviation).
const OUTPUT: f64 = 2e-3;

/// Half a unit in the last place of parameters, before and after the step, with room.
const PARAMETER: f64 = 1.0 / 4_194_304.0;

/// The caller's stop button, with a clock.
pub(super) struct Watch<'a> {
    started: Instant,
    keep_going: &'a (dyn Fn() -> bool + Sync),
}

impl<'a> Watch<'a> {
    pub(super) fn new(keep_going: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Watch { started: Instant::now(), keep_going }
    }
}

impl Control for Watch<'_> {
    fn keep_going(&self) -> bool {
        (self.keep_going)()
    }

    fn now_ms(&self) -> f64 {
        self.started.elapsed().as_secs_f64() * 1e3
    }
}

/// Compares the first steps of the first runs with the CPU's, each from the parameters that the device
/// had before it: records exactly, parameters and outputs within rounding.
pub(super) fn check(waves: &mut Waves, cpu: &DpSgd, control: &dyn Control) -> Result<(), Failure> {
    let training = cpu.training();
    let range = ObservationRange { first: 0, end: RUNS.min(waves.loaded.most_runs) };
    let runs = range.len();
    let mut wave = waves.begun(range, control)?;
    let plan = &wave.loaded.plan;
    let mut rows = HostRows::new(cpu, plan, range);
    let length = training.outputs_per_run();
    let mut before = training.initial.repeat(2 * runs as usize);
    for step in 0..STEPS.min(length as u64) {
        let steps = u64::from(training.mechanism.steps_per_epoch);
        let (epoch, within) = ((step / steps) as u32, (step % steps) as u32);
        if within == 0 {
            rows.draw(epoch, control)?;
        }
        wave.step(&mut rows, epoch, within)?;
        let found = Found {
            rows: wave.rows()?,
            parameters: {
                let [mut target, zero_out] = World::BOTH.map(|world| wave.parameters(world, runs));
                target.as_mut().map_err(|failure| failure.clone())?.extend(zero_out?);
                target?
            },
            outputs: wave.outputs()?.chunks(length).map(|run| run[step as usize]).collect(),
            last_pass: plan.passes(rows.most_kept(within)) - 1,
        };
        let count = training.network.parameters();
        let twins: Vec<(u64, StepResult)> = cpu.pool().install(|| {
            let models = DpSgd::runs(range).into_par_iter().zip(before.par_chunks(count));
            let once = |runner: &mut Runner<'_>, ((world, run), before): ((World, u64), &[f32])| {
                (run, runner.once(world, run, step, before))
            };
            models.map_init(|| Runner::new(training), once).collect()
        });
        for (model, (run, twin)) in twins.iter().enumerate() {
            let from = &before[model * count..][..count];
            let world = if (model as u64) < runs { "D" } else { "D′" };
            found.differs(model, from, twin, plan, training).map_or(Ok(()), |what| {
                Err(Failure::Unfit(format!("self-test: run {run} of {world}, step {step}: {what}")))
            })?;
        }
        before = found.parameters;
    }
    Ok(())
}

/// What a device made of a step.
struct Found {
    rows: Vec<u32>,
    parameters: Vec<f32>,
    outputs: Vec<f32>,
    last_pass: u32,
}

impl Found {
    /// What a model's step has that the CPU's has not, from parameters `before`.
    fn differs(
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
            return Some(format!("row {at} is {}, and {} on the CPU", found[at], rows[at]));
        }
        let (output, expected) = (f64::from(self.outputs[model]), f64::from(twin.output));
        if !output.is_finite() && !expected.is_finite() {
            return None; // the run has failed on both
        }
        let most = OUTPUT * training.mechanism.noise_multiplier.max(1.0);
        if !((output - expected).abs() <= most) {
            return Some(format!("the output is {output}, and {expected} on the CPU"));
        }
        let found = &self.parameters[model * before.len()..][..before.len()];
        let (away, most) = (distance(found, &twin.parameters), allowed(before, twin, training));
        let is_wrong = !(away <= most);
        is_wrong.then(|| format!("the parameters are {away:e} from the CPU's, more than {most:e}"))
    }
}

/// How far parameters may be from the CPU's, in length.
fn allowed(before: &[f32], twin: &StepResult, training: &Training) -> f64 {
    let batch_size = f64::from(training.batch_size);
    let kink = KINK * training.settings.clip_norm * batch_size.sqrt();
    let step = distance(before, &twin.parameters);
    let length = distance(&vec![0.0; before.len()], &twin.parameters);
    ROUNDING * step + kink * training.settings.learning_rate / batch_size + PARAMETER * length
}

fn distance(a: &[f32], b: &[f32]) -> f64 {
    let square = |(a, b): (&f32, &f32)| {
        let difference = f64::from(*a) - f64::from(*b);
        difference * difference
    };
    a.iter().zip(b).map(square).sum::<f64>().sqrt()
}

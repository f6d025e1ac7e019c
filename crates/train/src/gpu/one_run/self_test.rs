//! Self-test of trainings with many canaries: rows, steps, products and losses beside the CPU's.

use dpscope_engine::{Control, GpuError, UnitRange};
use dpscope_shaders::train::EpochBatches;
use rayon::prelude::*;

use super::super::host_rows::HostRows;
use super::super::pipelines::SELF_TEST_MODELS;
use super::super::self_test::{KINK, PARAMETER, ROUNDING, STEPS, distance};
use super::super::wave::{Wave, Waves};
use super::outputs::evaluation;
use crate::models::Trainer;
use crate::one_run::{Evaluation, OneRunStep, OneRunTraining, OneRunner};

/// Tolerance of ⟨gradient, noisy sum⟩ in units of KINK·‖gradient‖·C·max(1, σ): a gradient that a kink
/// changes by KINK meets noise of at most four standard deviations.
const DEVIATIONS: f64 = 4.0;

/// Compares the first units of a wave with the CPU: rows must be equal, parameters, velocities,
/// products and losses equal within rounding, each step from the device's own parameters.
pub(super) async fn check(
    waves: &mut Waves,
    trainer: &Trainer<OneRunTraining>,
    control: &dyn Control,
) -> Result<(), GpuError> {
    let training = trainer.training();
    let range = UnitRange { first: 0, end: SELF_TEST_MODELS.min(waves.pipelines.max_units) };
    let mut wave = waves.begin(range, control).await?;
    check_rows(&mut wave, training, range).await?;
    let plan = &wave.pipelines.plan;
    let mut rows = HostRows::new(training, trainer.threads(), plan, range);
    let mechanism = training.mechanism();
    let per_epoch = u64::from(mechanism.steps_per_epoch);
    let units = range.len() as usize;
    let mut before = (training.started().repeat(units), Vec::new());
    for step in 0..STEPS.min(u64::from(mechanism.epochs) * per_epoch) {
        let (epoch, within) = ((step / per_epoch) as u32, (step % per_epoch) as u32);
        if within == 0 {
            rows.draw(epoch, control)?;
        }
        wave.step(&rows, epoch, within).await?;
        let after = (wave.parameters(0, range.len()).await?, wave.velocities().await?);
        let products = if plan.observed() > 0 { wave.outputs().await? } else { Vec::new() };
        let slot = (step % u64::from(plan.steps_per_reading())) as usize;
        let expected = steps_from(trainer, range, step, &before);
        for (model, expected) in expected.iter().enumerate() {
            let part = |all: &[f32]| all[model * all.len() / units..][..all.len() / units].to_vec();
            let found = Found {
                before: part(&before.0),
                parameters: part(&after.0),
                velocity: part(&after.1),
                products: part(&products).split_off(slot * 2 * expected.products.len()),
            };
            found.difference(expected, training).map_or(Ok(()), |what| {
                Err(GpuError::Unfit(format!("self-test: unit {model}, step {step}: {what}")))
            })?;
        }
        before = after;
    }
    wave.evaluate().await?;
    let losses = wave.outputs().await?;
    check_losses(trainer, &losses, &before.0)
}

/// The rows of steps with canaries, if the device selects them.
async fn check_rows(
    wave: &mut Wave<'_>,
    training: &OneRunTraining,
    range: UnitRange,
) -> Result<(), GpuError> {
    let plan = &wave.pipelines.plan;
    if plan.select_rows().is_empty() {
        return Ok(());
    }
    let (first, count) = (training.base_records(), training.canaries().len() as u32);
    let canaries = [0, count / 2, count - 1].map(|canary| first + canary);
    let batches = training.batches();
    let mut drawn = vec![EpochBatches::default(); range.len() as usize];
    for epoch in [0, training.mechanism().epochs - 1] {
        for (unit, drawn) in (range.first..).zip(&mut drawn) {
            batches.draw(training.seed(), unit, epoch, drawn);
        }
        let step_of = |(unit, canary)| batches.step_of(training.seed(), unit, epoch, canary);
        let all = (range.first..range.end).flat_map(|unit| canaries.map(|canary| (unit, canary)));
        let mut steps: Vec<u32> = all.filter_map(step_of).collect();
        steps.sort_unstable();
        steps.dedup();
        for (step, pass) in
            steps.into_iter().flat_map(|step| (0..plan.passes(None)).map(move |pass| (step, pass)))
        {
            wave.select(epoch, step, pass).await?;
            let found = wave.rows().await?;
            let of_models = found.chunks(plan.words_per_model().rows);
            for ((unit, found), drawn) in (range.first..).zip(of_models).zip(&drawn) {
                let mut records = Vec::new();
                training.select_included(unit, drawn.members_at(step as usize), &mut records);
                let expected = plan.host_rows(&records, 0.0, pass);
                let rows = plan.rows() as usize;
                let differ = (0..rows).find(|&row| found[row] != expected[row]);
                if let Some(row) = differ {
                    return Err(GpuError::Unfit(format!(
                        "self-test: unit {unit}, step {step} of epoch {epoch}: row {row} is {}, but {} \
                         on the CPU",
                        found[row], expected[row]
                    )));
                }
            }
        }
    }
    Ok(())
}

/// A step of each unit by the CPU, from parameters and velocities of the device.
fn steps_from(
    trainer: &Trainer<OneRunTraining>,
    range: UnitRange,
    step: u64,
    (parameters, velocities): &(Vec<f32>, Vec<f32>),
) -> Vec<OneRunStep> {
    let training = trainer.training();
    let count = training.network().parameters();
    let from = |all: &[f32], model: u64| -> Vec<f32> {
        all.chunks(count).nth(model as usize).unwrap_or_default().to_vec()
    };
    let units = (0..range.len()).into_par_iter();
    let train = |runner: &mut OneRunner<'_>, model: u64| {
        let velocity = from(velocities, model);
        runner.step_from((range.first + model, step), &from(parameters, model), &velocity)
    };
    trainer.threads().install(|| units.map_init(|| OneRunner::new(training), train).collect())
}

/// The state of a model on the device around a step.
struct Found {
    before: Vec<f32>,
    parameters: Vec<f32>,
    velocity: Vec<f32>,
    /// Two words per canary, of this step and later ones.
    products: Vec<f32>,
}

impl Found {
    /// Describes how the step differs from the CPU's, if it does.
    fn difference(&self, expected: &OneRunStep, training: &OneRunTraining) -> Option<String> {
        let settings = training.settings();
        let batch_size = training.mean_batch_size();
        let sum = KINK * settings.clip_norm * batch_size.sqrt();
        let rate = settings.learning_rate / batch_size;
        let length = |x: &[f32]| distance(&vec![0.0; x.len()], x);
        if !expected.parameters.iter().all(|entry| entry.is_finite()) {
            let is_lost = self.parameters.iter().any(|entry| !entry.is_finite());
            return (!is_lost).then(|| "it diverges on the CPU only".to_owned());
        }
        let tolerance = ROUNDING * distance(&self.before, &expected.parameters)
            + sum * rate
            + PARAMETER * length(&expected.parameters);
        let away = distance(&self.parameters, &expected.parameters);
        if !(away <= tolerance) {
            return Some(format!(
                "the parameters differ by {away:e} from the CPU, more than {tolerance:e}"
            ));
        }
        if !self.velocity.is_empty() {
            let tolerance = ROUNDING * length(&expected.velocity) + sum;
            let away = distance(&self.velocity, &expected.velocity);
            if !(away <= tolerance) {
                return Some(format!(
                    "the velocity differs by {away:e} from the CPU, more than {tolerance:e}"
                ));
            }
        }
        let noise = training.mechanism().noise_multiplier.max(1.0) * settings.clip_norm;
        let products = expected.products.iter().zip(self.products.chunks_exact(2)).enumerate();
        products.map(|(canary, (expected, found))| (canary, *expected, found)).find_map(
            |(canary, (square, along), found)| {
                let limits = [2.0 * KINK * square, DEVIATIONS * KINK * square.sqrt() * noise];
                let pairs = [(square, found[0], limits[0]), (along, found[1], limits[1])];
                let wrong = pairs.into_iter().find(|(expected, found, limit)| {
                    !((expected - f64::from(*found)).abs() <= *limit)
                });
                wrong.map(|(expected, found, _)| {
                    format!("a product of canary {canary} is {found}, but {expected} on the CPU")
                })
            },
        )
    }
}

/// Losses of all models at the device's own parameters.
fn check_losses(
    trainer: &Trainer<OneRunTraining>,
    losses: &[f32],
    parameters: &[f32],
) -> Result<(), GpuError> {
    let training = trainer.training();
    let count = training.network().parameters();
    let units = parameters.len() / count;
    let mut runner = OneRunner::new(training);
    for (unit, parameters) in parameters.chunks(count).enumerate() {
        let words = losses.len() / units;
        let found = evaluation(training, &losses[unit * words..][..words]);
        let expected = runner.evaluation(parameters);
        if let Some(what) = loss_difference(&found, &expected) {
            return Err(GpuError::Unfit(format!("self-test: unit {unit}: {what}")));
        }
    }
    Ok(())
}

fn loss_difference(found: &Evaluation, expected: &Evaluation) -> Option<String> {
    let is_equal = |found: f64, expected: f64, count: f64| {
        let is_lost = !found.is_finite() && !expected.is_finite();
        is_lost || (found - expected).abs() <= ROUNDING * (count + expected.abs())
    };
    let pairs = found.canaries.iter().zip(&expected.canaries).enumerate();
    let differing =
        |(_, (found, expected)): &(usize, (&f64, &f64))| !is_equal(**found, **expected, 1.0);
    if let Some((canary, (found, expected))) = pairs.into_iter().find(differing) {
        return Some(format!("the loss of canary {canary} is {found}, but {expected} on the CPU"));
    }
    let (losses, count) = (found.held_out_loss, expected.evaluated as f64);
    if !is_equal(losses, expected.held_out_loss, count) {
        let expected = expected.held_out_loss;
        return Some(format!("held-out losses are {losses}, but {expected} on the CPU"));
    }
    // ties within rounding
    let most = 2 + expected.evaluated / 50;
    (found.correct.abs_diff(expected.correct) > most)
        .then(|| format!("{} are correct, but {} on the CPU", found.correct, expected.correct))
}

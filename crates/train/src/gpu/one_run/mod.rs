//! Trainings with many canaries on a GPU: waves of units.

mod outputs;
mod self_test;

use dpscope_engine::{Control, GpuError, UnitRange};
use dpscope_shaders::train::EpochBatches;
use rayon::prelude::*;

use super::host_rows::{HostBatches, HostRows};
use super::pipelines::SELF_TEST_MODELS;
use super::plan::GpuPlan;
use super::queue::OnDevice;
use super::subject::Subject;
use super::wave::Waves;
use crate::models::Trainer;
use crate::one_run::{LogLikelihoodRatio, OneRunTraining, OneRunner, Ratios, TrainedUnit};
use crate::run::max_rows;
use outputs::evaluation;

impl OnDevice for OneRunTraining {
    fn subject(&self) -> Subject<'_> {
        let settings = self.settings();
        let is_debiased = settings.is_white_box && settings.debias_records > 0;
        Subject {
            unsupported: is_debiased.then_some("debias_records above 0"),
            max_rows: max_rows(self.mean_batch_size(), self.batches().is_fixed_size()),
            // parameters and velocities of the self-test
            read_models: 2 * SELF_TEST_MODELS,
            plan: Box::new(|max_rows| GpuPlan::of_one_run(self, self.started(), max_rows)),
        }
    }

    async fn self_test(
        trainer: &Trainer<Self>,
        waves: &mut Waves,
        control: &dyn Control,
    ) -> Result<(), GpuError> {
        self_test::check(waves, trainer, control).await
    }

    async fn train_wave(
        trainer: &Trainer<Self>,
        waves: &mut Waves,
        range: UnitRange,
        control: &dyn Control,
    ) -> Result<Vec<TrainedUnit>, GpuError> {
        let training = trainer.training();
        let mechanism = *training.mechanism();
        let mut wave = waves.begin(range, control).await?;
        let plan = &wave.pipelines.plan;
        let mut rows = HostRows::new(training, trainer.threads(), plan, range);
        let mut ratios = vec![training.no_ratios(); range.len() as usize];
        let steps = mechanism.epochs * mechanism.steps_per_epoch;
        let mut unread = Vec::new();
        for before in 0..steps {
            let position = (before / mechanism.steps_per_epoch, before % mechanism.steps_per_epoch);
            if position.1 == 0 {
                rows.draw(position.0, control)?;
            }
            wave.step(&rows, position.0, position.1).await?;
            unread.push(position.1);
            let is_full = unread.len() == plan.steps_per_reading() as usize;
            if plan.observed() > 0 && (is_full || before + 1 == steps) {
                let products = wave.outputs().await?;
                add_products(trainer, &products, &unread, &mut ratios);
                unread.clear();
            }
        }
        wave.evaluate().await?;
        let losses = wave.outputs().await?;
        let start = OneRunner::new(training).start_losses(training.started());
        let models = losses.par_chunks(plan.words_per_model().outputs).zip(&ratios);
        let unit = |(model, (losses, ratios)): (usize, (&[f32], &Ratios<'_>))| {
            let scores = ratios.iter().map(LogLikelihoodRatio::score);
            evaluation(training, losses).unit(range.first + model as u64, &start, scores)
        };
        Ok(trainer.threads().install(|| models.enumerate().map(unit).collect()))
    }
}

/// Adds the products of some steps, each the step within its epoch, to the scores of each model.
fn add_products(
    trainer: &Trainer<OneRunTraining>,
    products: &[f32],
    steps: &[u32],
    ratios: &mut [Ratios<'_>],
) {
    let training = trainer.training();
    let per_model = products.len() / ratios.len();
    let last = training.mechanism().steps_per_epoch - 1;
    let add = |(products, ratios): (&[f32], &mut Ratios<'_>)| {
        for (&step, products) in steps.iter().zip(products.chunks_exact(2 * ratios.len())) {
            for (ratio, products) in ratios.iter_mut().zip(products.chunks_exact(2)) {
                let products = (f64::from(products[0]), f64::from(products[1]));
                if ratio.is_possible(step as usize) {
                    ratio.add(step as usize, training.step_ratio(products, 0.0));
                }
                if step == last {
                    ratio.end_epoch();
                }
            }
        }
    };
    trainer.threads().install(|| products.par_chunks(per_model).zip(ratios).for_each(add));
}

impl HostBatches for OneRunTraining {
    fn draw(&self, stream: u64, epoch: u32, drawn: &mut EpochBatches) {
        self.batches().draw(self.seed(), stream, epoch, drawn);
    }

    fn select(&self, stream: u64, members: &[u32], records: &mut Vec<u32>) -> f64 {
        self.select_included(stream, members, records);
        0.0
    }
}

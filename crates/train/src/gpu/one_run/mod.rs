//! Trainings with many canaries on a GPU: waves of units.

mod outputs;
mod self_test;

use std::fmt;

use dpscope_engine::gpu::Adapter;
use dpscope_engine::{Control, Device, EngineError, GpuError, Queue, QueueError, UnitRange, Wave};
use dpscope_shaders::train::EpochBatches;
use rayon::prelude::*;

use super::device::{Tested, WaveDevice};
use super::host_rows::{HostBatches, HostRows};
use super::pipelines::{SELF_TEST_MODELS, SourceEdit};
use super::plan::GpuPlan;
use super::size::WaveLimits;
use super::subject::Subject;
use super::wave::Waves;
use crate::TrainError;
use crate::one_run::{
    LogLikelihoodRatio, OneRunEvidence, OneRunTrainer, OneRunTraining, TrainedUnit,
};
use crate::run::max_rows;
use crate::threads::Threads;
use outputs::evaluation;

/// A device that trains models with canaries; the CPU trainer is the reference of its self-test.
#[derive(Debug)]
pub(crate) struct GpuOneRun {
    device: WaveDevice,
}

impl GpuOneRun {
    /// Opens an adapter and runs the self-test; `edit` changes kernels, for tests.
    pub(crate) async fn open(
        trainer: &OneRunTrainer,
        adapter: &Adapter,
        limits: WaveLimits,
        edit: Option<SourceEdit>,
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Result<Self, EngineError> {
        // the pre-training of all models
        trainer.training().start(keep_going).ok_or(EngineError::Stopped)?;
        let device = WaveDevice::open(trainer, adapter, limits, edit, keep_going).await?;
        Ok(GpuOneRun { device })
    }

    /// Name and float mode.
    pub(crate) fn device(&self) -> Device {
        self.device.device()
    }

    /// Destroys the device, like a driver reset.
    pub(crate) fn lose_device(&self, may_reopen: bool) {
        if !may_reopen {
            self.device.forbid_reopening();
        }
        self.device.lose();
    }

    /// Trains and scores the models of some units, or of the first of them.
    async fn train(
        &self,
        trainer: &OneRunTrainer,
        range: UnitRange,
        control: &dyn Control,
    ) -> Result<(UnitRange, Vec<TrainedUnit>), GpuError> {
        let train =
            async |waves: &mut Waves, range| train_wave(waves, trainer, range, control).await;
        self.device.train(trainer, range, control, train).await
    }
}

/// The white-box scores so far of the canaries of one model.
type Ratios<'a> = Vec<LogLikelihoodRatio<'a>>;

/// Trains the models of a wave.
async fn train_wave(
    waves: &mut Waves,
    trainer: &OneRunTrainer,
    range: UnitRange,
    control: &dyn Control,
) -> Result<Vec<TrainedUnit>, GpuError> {
    let training = trainer.training();
    let start = training.started();
    let mechanism = *training.mechanism();
    let mut wave = waves.begin(range, control).await?;
    let plan = &wave.pipelines.plan;
    let mut rows = HostRows::new(training, trainer.threads(), plan, range);
    let empty: Ratios<'_> = trainer.inclusions().iter().map(LogLikelihoodRatio::new).collect();
    let mut ratios = vec![empty; range.len() as usize];
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
    let start = trainer.runner().start_losses(start);
    let models = losses.par_chunks(plan.words_per_model().outputs).zip(&ratios);
    let unit = |(model, (losses, ratios)): (usize, (&[f32], &Ratios<'_>))| {
        let scores = ratios.iter().map(LogLikelihoodRatio::score);
        evaluation(training, losses).unit(range.first + model as u64, &start, scores)
    };
    Ok(trainer.threads().install(|| models.enumerate().map(unit).collect()))
}

/// Adds the products of some steps, each the step within its epoch, to the scores of each model.
fn add_products(
    trainer: &OneRunTrainer,
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

impl Subject for OneRunTrainer {
    fn unsupported(&self) -> Option<&'static str> {
        let settings = self.training().settings();
        let is_debiased = settings.is_white_box && settings.debias_records > 0;
        is_debiased.then_some("debias_records above 0")
    }

    fn max_rows(&self) -> usize {
        let training = self.training();
        max_rows(training.batch_size(), training.batches().is_fixed_size())
    }

    fn read_models(&self) -> u64 {
        // parameters and velocities of the self-test
        2 * SELF_TEST_MODELS
    }

    fn plan(&self, max_rows: usize) -> Result<GpuPlan, TrainError> {
        GpuPlan::of_one_run(self.training(), self.training().started(), max_rows)
    }

    fn threads(&self) -> &Threads {
        self.threads()
    }
}

impl Tested for OneRunTrainer {
    async fn self_test(&self, waves: &mut Waves, control: &dyn Control) -> Result<(), GpuError> {
        self_test::check(waves, self, control).await
    }
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

/// The waves of a plan.
pub struct OneRunQueue<'a> {
    gpu: &'a GpuOneRun,
    trainer: &'a OneRunTrainer,
    control: &'a dyn Control,
}

impl fmt::Debug for OneRunQueue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OneRunQueue").finish_non_exhaustive()
    }
}

impl<'a> OneRunQueue<'a> {
    pub(crate) fn new(
        gpu: &'a GpuOneRun,
        trainer: &'a OneRunTrainer,
        control: &'a dyn Control,
    ) -> Self {
        OneRunQueue { gpu, trainer, control }
    }
}

impl Queue for OneRunQueue<'_> {
    type Evidence = OneRunEvidence;
    type Ticket = Wave<OneRunEvidence>;

    fn depth(&self) -> usize {
        1
    }

    fn smallest_wave(&self) -> u64 {
        self.gpu.device.smallest_wave()
    }

    fn opening(&self) -> u64 {
        self.gpu.device.opening()
    }

    async fn submit(&mut self, range: UnitRange) -> Result<Wave<OneRunEvidence>, QueueError> {
        let started = self.control.now_ms();
        let (range, models) = self.gpu.train(self.trainer, range, self.control).await?;
        let description = self.trainer.training().description().to_owned();
        let evidence = OneRunEvidence { description, models };
        Ok(Wave { range, evidence, spent_ms: self.control.now_ms() - started })
    }

    async fn collect(
        &mut self,
        wave: Wave<OneRunEvidence>,
    ) -> Result<Wave<OneRunEvidence>, QueueError> {
        Ok(wave)
    }

    async fn reopen(&mut self, opening: u64) -> Result<bool, String> {
        self.gpu.device.reopen(opening).await
    }
}

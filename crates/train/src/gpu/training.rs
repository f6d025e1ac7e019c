//! Runs of DP-SGD on a GPU: in a wave, the runs of both worlds.

use dpscope_engine::{Control, GpuError, UnitRange};
use dpscope_shaders::train::EpochBatches;
use dpscope_simulation::TrainingTally;
use rayon::prelude::*;

use super::host_rows::{HostBatches, HostRows};
use super::pipelines::SELF_TEST_MODELS;
use super::plan::GpuPlan;
use super::queue::OnDevice;
use super::self_test;
use super::subject::Subject;
use super::wave::Waves;
use crate::observed::{RunResult, world_of};
use crate::run::Runner;
use crate::trainer::DpSgd;
use crate::training::Training;

impl OnDevice for Training {
    fn subject(&self) -> Subject<'_> {
        let is_debiased = self.settings().debias_records > 0;
        Subject {
            unsupported: is_debiased.then_some("debias_records above 0"),
            max_rows: self.max_rows(),
            read_models: SELF_TEST_MODELS.max(2 * self.evaluated_runs()),
            plan: Box::new(|max_rows| GpuPlan::new(self, max_rows)),
        }
    }

    async fn self_test(
        trainer: &DpSgd,
        waves: &mut Waves,
        control: &dyn Control,
    ) -> Result<(), GpuError> {
        self_test::check(waves, trainer, control).await
    }

    /// Reads the parameters of the first models of each world, to evaluate them.
    async fn train_wave(
        trainer: &DpSgd,
        waves: &mut Waves,
        range: UnitRange,
        control: &dyn Control,
    ) -> Result<Vec<(RunResult, TrainingTally)>, GpuError> {
        let training = trainer.training();
        let mut wave = waves.begin(range, control).await?;
        let mut rows = HostRows::new(training, trainer.threads(), &wave.pipelines.plan, range);
        for epoch in 0..training.mechanism.epochs {
            rows.draw(epoch, control)?;
            for step in 0..training.mechanism.steps_per_epoch {
                wave.step(&rows, epoch, step).await?;
            }
        }
        let outputs = wave.outputs().await?;
        let evaluated = training.evaluated_runs().saturating_sub(range.first).min(range.len());
        let parameters =
            [wave.parameters(0, evaluated).await?, wave.parameters(range.len(), evaluated).await?];
        let count = training.network.parameters();
        let of_run = |runner: &mut _, (stream, outputs): (u64, &[f32])| {
            let first = (stream / 2 - range.first) as usize * count;
            let parameters = parameters[(stream % 2) as usize].get(first..first + count);
            // drawing the batches again may be slow
            let is_wanted = control.keep_going();
            is_wanted.then(|| training.scored(runner, stream, outputs, parameters))
        };
        let runs = || {
            let runs = DpSgd::streams(range).into_par_iter();
            let runs = runs.zip(outputs.par_chunks(training.outputs_per_run()));
            runs.map_init(|| None, of_run).collect::<Option<_>>()
        };
        trainer.threads().install(runs).ok_or(GpuError::Stopped)
    }
}

impl Training {
    /// Scores a run, and evaluates its model if the parameters were read.
    fn scored<'a>(
        &'a self,
        runner: &mut Option<Runner<'a>>,
        stream: u64,
        outputs: &[f32],
        parameters: Option<&[f32]>,
    ) -> (RunResult, TrainingTally) {
        let mut tally = TrainingTally::default();
        let first_lost = outputs.iter().position(|output| !output.is_finite());
        let outputs = first_lost.map_or(outputs, |index| &outputs[..=index]).to_vec();
        let result = self.score_run(outputs, self.batches_of(stream), &mut tally);
        if let Some(parameters) = parameters {
            let runner = runner.get_or_insert_with(|| Runner::new(self));
            runner.evaluate_parameters(parameters, &mut tally);
        }
        (result, tally)
    }
}

impl HostBatches for Training {
    fn draw(&self, stream: u64, epoch: u32, drawn: &mut EpochBatches) {
        self.batches.draw(self.seed, stream, epoch, drawn);
    }

    fn select(&self, stream: u64, members: &[u32], records: &mut Vec<u32>) -> f64 {
        self.select_records(world_of(stream), members, records).mean
    }
}

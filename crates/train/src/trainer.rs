//! Training on the CPU threads of this machine, as a backend of the engine.

use std::fmt;

use dpscope_core::adjacency::World;
use dpscope_engine::{Control, EngineError, ObservationRange, Trainer, TrainingTally, WaveScores};
use rayon::prelude::*;

use crate::observed::RunResult;
use crate::run::Runner;
use crate::{TrainError, Training};

/// Receives the outputs of all runs.
pub trait OutputSink: fmt::Debug + Send + Sync {
    /// Saves the outputs of runs `range` of a world: run by run, epoch by epoch, E·T per run;
    /// outputs missing from a failed run are NaN.
    ///
    /// # Errors
    /// Any error of the implementation, for example a full disk; it ends the audit.
    fn save(
        &self,
        world: World,
        range: ObservationRange,
        outputs: &[f32],
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>>;
}

/// Trains models with DP-SGD on the CPU, one run per thread.
#[derive(Debug)]
pub struct DpSgd {
    training: Training,
    pool: rayon::ThreadPool,
    sink: Option<Box<dyn OutputSink>>,
}

impl DpSgd {
    /// Creates a trainer with `threads` threads; 0 means one per core.
    ///
    /// # Errors
    /// The operating system provides no threads.
    pub fn new(training: Training, threads: usize) -> Result<Self, TrainError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool
            .map_err(|error| EngineError::Backend { backend: "cpu", reason: error.to_string() })?;
        Ok(DpSgd { training, pool, sink: None })
    }

    /// Sends the outputs of all runs to a sink.
    #[must_use]
    pub fn with_sink(self, sink: Box<dyn OutputSink>) -> Self {
        DpSgd { sink: Some(sink), ..self }
    }

    /// The training.
    #[must_use]
    pub fn training(&self) -> &Training {
        &self.training
    }

    /// The thread pool.
    #[cfg(feature = "gpu")]
    pub(crate) fn pool(&self) -> &rayon::ThreadPool {
        &self.pool
    }

    /// World and number of each run in a range, those of D first.
    pub(crate) fn runs(range: ObservationRange) -> Vec<(World, u64)> {
        let of_world = |&world| (range.first..range.end).map(move |run| (world, run));
        World::BOTH.iter().flat_map(of_world).collect()
    }

    /// Saves the results of [`runs`](Self::runs), in that order, and adds up their tallies.
    pub(crate) fn collect_runs(
        &self,
        range: ObservationRange,
        mut results: Vec<(RunResult, TrainingTally)>,
    ) -> Result<WaveScores, EngineError> {
        let zero_out = results.split_off(range.len() as usize);
        let (target, first) = of_world(results);
        let (zero_out, second) = of_world(zero_out);
        self.save(World::Target, range, &target)?;
        self.save(World::ZeroOut, range, &zero_out)?;
        let scores =
            [&target, &zero_out].map(|results| results.iter().map(|result| result.score).collect());
        Ok(WaveScores { range, scores, tallies: [first, second], is_fallback: false })
    }

    fn save(
        &self,
        world: World,
        range: ObservationRange,
        results: &[RunResult],
    ) -> Result<(), EngineError> {
        let Some(sink) = &self.sink else { return Ok(()) };
        let length = self.training.outputs_per_run();
        let mut outputs = Vec::with_capacity(results.len() * length);
        for (run, result) in results.iter().enumerate() {
            outputs.extend_from_slice(&result.outputs);
            outputs.resize((run + 1) * length, f32::NAN);
        }
        sink.save(world, range, &outputs).map_err(EngineError::Control)
    }
}

impl Trainer for DpSgd {
    fn description(&self) -> &str {
        self.training.description()
    }

    fn device(&self) -> String {
        let threads = self.pool.current_num_threads();
        format!("cpu ({threads} thread{}, training)", if threads == 1 { "" } else { "s" })
    }

    fn smallest_wave(&self) -> u64 {
        self.pool.current_num_threads().div_ceil(2) as u64
    }

    fn train(
        &self,
        range: ObservationRange,
        control: &dyn Control,
    ) -> Result<WaveScores, EngineError> {
        let keep_going = || control.keep_going();
        let train = |runner: &mut Runner<'_>, (world, run): (World, u64)| {
            let mut tally = TrainingTally::default();
            let result = runner.run(world, run, &mut tally, &keep_going)?;
            Some((result, tally))
        };
        let runner = || Runner::new(&self.training);
        let trained: Option<Vec<(RunResult, TrainingTally)>> = self
            .pool
            .install(|| Self::runs(range).into_par_iter().map_init(runner, train).collect());
        self.collect_runs(range, trained.ok_or(EngineError::Stopped)?)
    }
}

fn of_world(trained: Vec<(RunResult, TrainingTally)>) -> (Vec<RunResult>, TrainingTally) {
    let mut sum = TrainingTally::default();
    let results = trained.into_iter().map(|(result, tally)| {
        sum.add(&tally);
        result
    });
    (results.collect(), sum)
}

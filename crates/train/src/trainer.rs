//! Runs on all threads of this machine, as a backend of the engine.

use std::fmt;

use dpscope_core::adjacency::World;
use dpscope_engine::{Control, EngineError, ObservationRange, Trained, Trainer, TrainingTally};
use rayon::prelude::*;

use crate::observed::RunResult;
use crate::run::Runner;
use crate::{TrainError, Training};

/// Where the outputs of runs go.
pub trait OutputSink: fmt::Debug + Send + Sync {
    /// Keeps the outputs of runs `range` of a world: run by run, epoch by epoch, E·T each; a failed run
    /// is filled up with NaN.
    ///
    /// # Errors
    /// Whatever the keeper meets, a full disk say; the run ends with it.
    fn save(
        &self,
        world: World,
        range: ObservationRange,
        outputs: &[f32],
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>>;
}

/// Trains runs by DP-SGD on the CPU, one a thread.
#[derive(Debug)]
pub struct DpSgd {
    training: Training,
    pool: rayon::ThreadPool,
    sink: Option<Box<dyn OutputSink>>,
}

impl DpSgd {
    /// A trainer with `threads` threads; 0 means one a core.
    ///
    /// # Errors
    /// The system gives no threads.
    pub fn new(training: Training, threads: usize) -> Result<Self, TrainError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool
            .map_err(|error| EngineError::Backend { backend: "cpu", reason: error.to_string() })?;
        Ok(DpSgd { training, pool, sink: None })
    }

    /// The same, keeping all outputs.
    #[must_use]
    pub fn with_sink(self, sink: Box<dyn OutputSink>) -> Self {
        DpSgd { sink: Some(sink), ..self }
    }

    /// What is trained.
    #[must_use]
    pub fn training(&self) -> &Training {
        &self.training
    }

    /// The threads.
    #[cfg(feature = "gpu")]
    pub(crate) fn pool(&self) -> &rayon::ThreadPool {
        &self.pool
    }

    /// The runs of a world and number each, those of D first.
    pub(crate) fn runs(range: ObservationRange) -> Vec<(World, u64)> {
        let of_world = |&world| (range.first..range.end).map(move |run| (world, run));
        World::BOTH.iter().flat_map(of_world).collect()
    }

    /// Keeps what [`runs`](Self::runs) showed, and adds it up.
    pub(crate) fn gathered(
        &self,
        range: ObservationRange,
        mut ran: Vec<(RunResult, TrainingTally)>,
    ) -> Result<Trained, EngineError> {
        let zero_out = ran.split_off(range.len() as usize);
        let (target, first) = of_world(ran);
        let (zero_out, second) = of_world(zero_out);
        self.save(World::Target, range, &target)?;
        self.save(World::ZeroOut, range, &zero_out)?;
        let scores = [&target, &zero_out].map(|ran| ran.iter().map(|ran| ran.score).collect());
        Ok(Trained { range, scores, tallies: [first, second], is_fallback: false })
    }

    fn save(
        &self,
        world: World,
        range: ObservationRange,
        ran: &[RunResult],
    ) -> Result<(), EngineError> {
        let Some(sink) = &self.sink else { return Ok(()) };
        let length = self.training.outputs_per_run();
        let mut outputs = Vec::with_capacity(ran.len() * length);
        for (run, ran) in ran.iter().enumerate() {
            outputs.extend_from_slice(&ran.outputs);
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
    ) -> Result<Trained, EngineError> {
        let keep_going = || control.keep_going();
        let train = |runner: &mut Runner<'_>, (world, run): (World, u64)| {
            let mut tally = TrainingTally::default();
            let ran = runner.run(world, run, &mut tally, &keep_going)?;
            Some((ran, tally))
        };
        let runner = || Runner::new(&self.training);
        let trained: Option<Vec<(RunResult, TrainingTally)>> = self
            .pool
            .install(|| Self::runs(range).into_par_iter().map_init(runner, train).collect());
        self.gathered(range, trained.ok_or(EngineError::Stopped)?)
    }
}

fn of_world(trained: Vec<(RunResult, TrainingTally)>) -> (Vec<RunResult>, TrainingTally) {
    let mut sum = TrainingTally::default();
    let ran = trained.into_iter().map(|(ran, tally)| {
        sum.add(&tally);
        ran
    });
    (ran.collect(), sum)
}

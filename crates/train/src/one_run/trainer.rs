//! Trainings with canaries on the CPU threads of this machine.

use dpscope_engine::{Control, Device, EngineError, UnitRange};
use rayon::prelude::*;

use super::evidence::TrainedUnit;
use super::inclusion::Inclusion;
use super::run::OneRunner;
use super::training::OneRunTraining;
use crate::TrainError;
use crate::threads::Threads;

/// Trains models with canaries on the CPU, one per thread.
#[derive(Debug)]
pub(crate) struct OneRunTrainer {
    training: OneRunTraining,
    /// When each canary may be used; empty without white-box scores.
    inclusions: Vec<Inclusion>,
    threads: Threads,
}

impl OneRunTrainer {
    /// A trainer with `threads` threads; 0 means one per core.
    pub(super) fn new(training: OneRunTraining, threads: usize) -> Result<Self, TrainError> {
        let threads = Threads::new(threads)?;
        let inclusions = inclusions(&training);
        Ok(OneRunTrainer { training, inclusions, threads })
    }

    /// The training.
    pub(crate) fn training(&self) -> &OneRunTraining {
        &self.training
    }

    /// When each canary may be used; empty without white-box scores.
    #[cfg(feature = "gpu")]
    pub(crate) fn inclusions(&self) -> &[Inclusion] {
        &self.inclusions
    }

    /// The threads.
    #[cfg(feature = "gpu")]
    pub(crate) fn threads(&self) -> &Threads {
        &self.threads
    }

    /// Executes trainings, with the scratch memory of one thread.
    pub(crate) fn runner(&self) -> OneRunner<'_> {
        OneRunner::new(&self.training, &self.inclusions)
    }

    /// Name and float mode: the order of sums depends on the machine.
    pub(super) fn device(&self) -> Device {
        self.threads.device()
    }

    pub(super) fn smallest_wave(&self) -> u64 {
        self.threads.count() as u64
    }

    /// Trains and scores the models of some units.
    pub(super) fn train(
        &self,
        range: UnitRange,
        control: &dyn Control,
    ) -> Result<Vec<TrainedUnit>, EngineError> {
        let keep_going = || control.keep_going();
        self.training.start(&keep_going).ok_or(EngineError::Stopped)?;
        let train = |runner: &mut OneRunner<'_>, unit| runner.run(unit, &keep_going);
        let units = (range.first..range.end).into_par_iter();
        let models: Option<Vec<TrainedUnit>> =
            self.threads.install(|| units.map_init(|| self.runner(), train).collect());
        models.ok_or(EngineError::Stopped)
    }
}

/// When each canary may be used; empty without white-box scores.
fn inclusions(training: &OneRunTraining) -> Vec<Inclusion> {
    if !training.settings.is_white_box {
        return Vec::new();
    }
    let (sampler, steps) = (training.mechanism.sampler, training.mechanism.steps_per_epoch);
    let records = training.base_records()..training.batches.records();
    records.map(|record| Inclusion::new(sampler, steps, training.batch_size, record)).collect()
}

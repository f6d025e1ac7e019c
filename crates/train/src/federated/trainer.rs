//! Federated trainings on the CPU threads of this machine.

use dpscope_engine::{Control, Device, EngineError, UnitRange};
use rayon::prelude::*;

use super::evidence::FederatedUnit;
use super::local::{LocalTrainer, Participant};
use super::run::{FederatedRunner, FederatedTask};
use super::training::FederatedTraining;
use crate::TrainError;
use crate::threads::Threads;

/// Trains federated models on the CPU, one per thread.
#[derive(Debug)]
pub(crate) struct FederatedTrainer {
    training: FederatedTraining,
    tasks: Vec<FederatedTask>,
    threads: Threads,
}

impl FederatedTrainer {
    /// A trainer of some tasks with `threads` threads; 0 means one per core.
    pub(super) fn new(
        training: FederatedTraining,
        tasks: Vec<FederatedTask>,
        threads: usize,
    ) -> Result<Self, TrainError> {
        let threads = Threads::new(threads)?;
        Ok(FederatedTrainer { training, tasks, threads })
    }

    /// The training.
    pub(crate) fn training(&self) -> &FederatedTraining {
        &self.training
    }

    /// The threads.
    #[cfg(feature = "gpu")]
    pub(crate) fn threads(&self) -> &Threads {
        &self.threads
    }

    /// The servers of some units, before their first round.
    #[cfg(feature = "gpu")]
    pub(crate) fn servers(&self, range: UnitRange) -> Vec<FederatedRunner<'_>> {
        let start = |&task: &FederatedTask| {
            let mut server = FederatedRunner::new(&self.training);
            server.start(task);
            server
        };
        self.tasks(range).iter().map(start).collect()
    }

    fn tasks(&self, range: UnitRange) -> &[FederatedTask] {
        &self.tasks[range.first as usize..range.end as usize]
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
    ) -> Result<Vec<FederatedUnit>, EngineError> {
        let new = || (FederatedRunner::new(&self.training), LocalTrainer::new(&self.training));
        let train = |(server, local): &mut (FederatedRunner<'_>, LocalTrainer<'_>),
                     &task: &FederatedTask| {
            train_observed(task, (server, local), &|| control.keep_going(), &mut |_, _| ())
        };
        let tasks = self.tasks(range);
        let models: Option<Vec<FederatedUnit>> =
            self.threads.install(|| tasks.par_iter().map_init(new, train).collect());
        models.ok_or(EngineError::Stopped)
    }
}

impl FederatedTrainer {
    /// Trains the model of a unit, with a look after each round.
    pub(super) fn watch(
        &self,
        unit: u64,
        keep_going: &dyn Fn() -> bool,
        look: &mut dyn FnMut(&mut FederatedRunner<'_>, usize),
    ) -> Option<FederatedUnit> {
        let task = self.tasks(UnitRange { first: unit, end: unit + 1 })[0];
        let mut server = FederatedRunner::new(&self.training);
        let mut local = LocalTrainer::new(&self.training);
        train_observed(task, (&mut server, &mut local), keep_going, look)
    }
}

/// Trains the model of a task, with a look after each round.
fn train_observed(
    task: FederatedTask,
    (server, local): (&mut FederatedRunner<'_>, &mut LocalTrainer<'_>),
    keep_going: &dyn Fn() -> bool,
    look: &mut dyn FnMut(&mut FederatedRunner<'_>, usize),
) -> Option<FederatedUnit> {
    server.start(task);
    for round in 0..server.rounds() {
        server.round(round, &mut |client, parameters, change| {
            let participant = Participant { unit: task.unit, round, client };
            let is_wanted = keep_going();
            if is_wanted {
                local.train(participant, parameters, change);
            }
            is_wanted
        })?;
        look(server, round + 1);
    }
    Some(server.finish())
}

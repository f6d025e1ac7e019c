//! Federated trainings as models of a plan.

use dpscope_engine::{ArtefactError, EngineError, UnitRange};
use dpscope_simulation::TrainingDigest;

use super::evidence::{FederatedEvidence, FederatedUnit};
use super::local::{LocalTrainer, Participant};
use super::plan::FederatedPlan;
use super::run::{FederatedRunner, FederatedTask};
use super::training::FederatedTraining;
use crate::TrainError;
use crate::models::{Models, Protocol, Trainer};

/// A plan whose units are federated trainings: one per CPU thread, or several at a time whose clients
/// train together on a GPU.
pub type FederatedModels = Models<FederatedTraining>;

impl FederatedModels {
    /// A plan with its training, on `threads` threads; 0 means one per core.
    ///
    /// # Errors
    /// A field of the plan outside its domain; a plan of another training; too much noise for adaptive
    /// clipping; the operating system provides no threads.
    pub fn new(
        plan: FederatedPlan,
        training: FederatedTraining,
        threads: usize,
    ) -> Result<Self, TrainError> {
        plan.check_fields()?;
        let is_same = plan.training == TrainingDigest::of(training.description())
            && plan.seed == training.seed;
        if !is_same {
            let what = "it was written for a different model, data set or options; pass the ones \
                        that the run was started with";
            return Err(EngineError::from(ArtefactError::WorkloadMismatch { what }).into());
        }
        if plan.attack.needs_updates() && !training.settings.sees_updates {
            return Err(TrainError::NoUpdates { attack: plan.attack.name() });
        }
        let settings = &training.settings;
        let (clients, _) = settings.cohorts(plan.design.mean());
        if settings.clipping.sum_noise(settings.noise_multiplier, clients).is_none() {
            let (name, value) = ("noise_multiplier", settings.noise_multiplier);
            let domain = "below a tenth of the expected clients per round with adaptive clipping";
            return Err(TrainError::Domain { name, value, domain });
        }
        let trainer = Trainer::with(training, plan.clone(), threads)?;
        Ok(Models { planned: plan, trainer })
    }
}

impl FederatedPlan {
    /// The training of a unit.
    pub(crate) fn task(&self, unit: u64) -> FederatedTask {
        let (canaries, slots) = self.canaries(unit);
        let (expected, unseen) = (self.design.mean(), self.unseen);
        FederatedTask { unit, canaries, slots, expected, unseen }
    }
}

/// The server of a training, and what trains its clients.
#[derive(Debug)]
pub struct ServerAndClients<'a> {
    server: FederatedRunner<'a>,
    local: LocalTrainer<'a>,
}

impl ServerAndClients<'_> {
    /// Trains the model of a task, with a look after each round.
    pub(super) fn train(
        &mut self,
        task: FederatedTask,
        keep_going: &dyn Fn() -> bool,
        look: &mut dyn FnMut(&mut FederatedRunner<'_>, usize),
    ) -> Option<FederatedUnit> {
        let ServerAndClients { server, local } = self;
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
}

impl Protocol for FederatedTraining {
    type Plan = FederatedPlan;
    type Planned = FederatedPlan;
    /// The plan that draws the canaries of each unit.
    type Context = FederatedPlan;
    type Model = FederatedUnit;
    type Scratch<'a> = ServerAndClients<'a>;

    fn description(&self) -> &str {
        self.description()
    }

    fn scratch(&self) -> ServerAndClients<'_> {
        ServerAndClients { server: FederatedRunner::new(self), local: LocalTrainer::new(self) }
    }

    fn train<'a>(
        &'a self,
        plan: &FederatedPlan,
        unit: u64,
        scratch: &mut ServerAndClients<'a>,
        keep_going: &dyn Fn() -> bool,
    ) -> Option<FederatedUnit> {
        scratch.train(plan.task(unit), keep_going, &mut |_, _| ())
    }

    fn first_stage(
        &self,
        _: &FederatedPlan,
        _: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), EngineError> {
        Ok(())
    }

    fn empty(&self, _: &FederatedPlan, (): &()) -> FederatedEvidence {
        FederatedEvidence::of(self.description(), Vec::new())
    }

    fn described(evidence: &FederatedEvidence) -> Option<&str> {
        Some(&evidence.description)
    }

    fn evidence(
        trainer: &Trainer<Self>,
        (): &(),
        _: UnitRange,
        models: Vec<FederatedUnit>,
    ) -> Result<FederatedEvidence, EngineError> {
        Ok(FederatedEvidence::of(trainer.training().description(), models))
    }
}

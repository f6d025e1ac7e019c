//! The counts of an audit with two worlds, on the coordinator's side.

use dpscope_core::audit::curve::AuditCurve;
use dpscope_engine::{Shard, Unattended, UnitRange, Workload, begin};
use dpscope_report::record::ResultRecord;
use dpscope_report::record::page::{AuditProgress, SimulationResult};
use dpscope_simulation::{Artefact, Evaluate, Plan, Scheduler, TrainingState};

use crate::failure::Failure;

/// Counts so far, and what is assigned to counters.
#[derive(Debug)]
pub(crate) struct Counted {
    pub(crate) scheduler: Scheduler,
    /// Observations of the simulated mechanism beside those of trained models.
    #[cfg(feature = "training")]
    pub(crate) expected: Option<Box<Artefact>>,
}

impl Counted {
    /// The whole plan of a workload, with nothing counted.
    pub(crate) fn begin<W: Workload<Plan = Plan>>(workload: &W) -> Result<Self, Failure> {
        let range = Shard::WHOLE.range(workload.plan().observations_per_world())?;
        Ok(Counted::of(begin(workload, range, &Unattended)?))
    }

    /// Saved counts, of a page or of the command line.
    pub(crate) fn of(state: Artefact) -> Self {
        Counted {
            scheduler: Scheduler::new(state),
            #[cfg(feature = "training")]
            expected: None,
        }
    }

    /// A state without counts, which counters need.
    pub(crate) fn layout(&self) -> Vec<u8> {
        let state = self.scheduler.state();
        let none = UnitRange { first: 0, end: 0 };
        let mut layout = Artefact::empty(state.plan, state.stage.clone(), none);
        let training = state.evidence.training.as_ref();
        layout.evidence.training = training.map(|state| TrainingState::new(&state.description));
        layout.to_bytes()
    }

    pub(crate) fn add(&mut self, counted: &[u8]) -> Result<(), Failure> {
        Ok(self.scheduler.add(Artefact::from_bytes(counted)?)?)
    }

    pub(crate) fn progress(&self) -> AuditProgress {
        let state = self.scheduler.state();
        AuditProgress { done: 2 * state.done(), total: 2 * state.range.len() }
    }

    pub(crate) fn result(&self) -> Result<SimulationResult, Failure> {
        let state = self.scheduler.state();
        Ok(SimulationResult {
            result: ResultRecord::from(&state.result()?),
            observations: 2 * state.done(),
            planned: state.plan.observations,
            seed: state.plan.seed.to_string(),
            histogram_digest: state.histogram_digest(),
            devices: state.devices.clone(),
            float_modes: state.float_modes.iter().map(ToString::to_string).collect(),
            fallback_shards: state.fallback_shards,
            version: state.version.clone(),
        })
    }

    pub(crate) fn curve(&self) -> Result<AuditCurve, Failure> {
        Ok(self.scheduler.state().curve()?)
    }
}

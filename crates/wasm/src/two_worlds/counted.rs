//! The counts of an audit with two worlds, on the coordinator's side.

use dpscope_core::audit::curve::AuditCurve;
use dpscope_engine::Workload;
use dpscope_report::record::ResultRecord;
use dpscope_report::record::page::SimulationResult;
use dpscope_simulation::{Artefact, Evaluate, Plan, TrainingState};

use crate::coordinator::{Coordinator, DividedPlan};
use crate::failure::Failure;

impl DividedPlan for Plan {
    fn layout(state: &Artefact) -> Artefact {
        let none = dpscope_engine::UnitRange { first: 0, end: 0 };
        let mut layout = Artefact::empty(state.plan, state.stage.clone(), none);
        let training = state.evidence.training.as_ref();
        layout.evidence.training = training.map(|state| TrainingState::new(&state.description));
        layout
    }
}

/// Counts so far, and what is assigned to counters.
#[derive(Debug)]
pub(crate) struct Counted {
    pub(crate) coordinator: Coordinator<Plan>,
    /// Observations of the simulated mechanism beside those of trained models.
    #[cfg(feature = "training")]
    pub(crate) expected: Option<Box<Artefact>>,
}

impl Counted {
    /// The whole plan of a workload, with nothing counted.
    pub(crate) fn begin<W: Workload<Plan = Plan>>(workload: &W) -> Result<Self, Failure> {
        let layout = workload.first_stage(&|| true)?;
        Ok(Counted::of(Coordinator::begin(workload, layout)?))
    }

    pub(crate) fn of(coordinator: Coordinator<Plan>) -> Self {
        Counted {
            coordinator,
            #[cfg(feature = "training")]
            expected: None,
        }
    }

    pub(crate) fn state(&self) -> &Artefact {
        self.coordinator.state()
    }

    pub(crate) fn result(&self) -> Result<SimulationResult, Failure> {
        let state = self.state();
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
        Ok(self.state().curve()?)
    }
}

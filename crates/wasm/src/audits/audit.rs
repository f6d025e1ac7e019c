//! The coordinator of a simulation: it assigns observations, adds counts, and computes the result.

use dpscope_core::audit::curve::AuditCurve;
use dpscope_engine::{EngineError, Shard, UnitRange};
use dpscope_report::record::ResultRecord;
use dpscope_report::record::input::AuditPlan;
use dpscope_report::record::page::{AuditProgress, SimulationResult};
use dpscope_simulation::backend::CpuBackend;
use dpscope_simulation::{Artefact, Evaluate, Layout, Scheduler};

use super::plan::{checked, plan_of};
use crate::failure::Failure;

/// A running simulation.
#[derive(Debug)]
pub(super) struct Simulation {
    pub(super) scheduler: Scheduler,
}

impl Simulation {
    /// Draws the pilot of a plan.
    pub(super) fn open(plan: AuditPlan) -> Result<Self, Failure> {
        let valid = plan_of(plan)?;
        let layout = Layout::of(&valid, &CpuBackend::new(1)?, &|| true)?;
        let range =
            Shard::WHOLE.range(valid.plan().observations_per_world()).map_err(EngineError::from)?;
        Ok(Simulation { scheduler: Scheduler::new(Artefact::empty(*valid.plan(), layout, range)) })
    }

    /// Resumes from saved counts, of a page or of the command line.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, Failure> {
        let state = Artefact::from_bytes(bytes).map_err(EngineError::from)?;
        checked(state.plan)?;
        Ok(Simulation { scheduler: Scheduler::new(state) })
    }

    /// A state without counts, which counters need.
    pub(super) fn layout(&self) -> Result<Vec<u8>, Failure> {
        let state = self.scheduler.state();
        let none = UnitRange { first: 0, end: 0 };
        Ok(Artefact::empty(state.plan, state.stage.clone(), none).to_bytes())
    }

    pub(super) fn add(&mut self, counted: &[u8]) -> Result<(), Failure> {
        Ok(self.scheduler.add(Artefact::from_bytes(counted).map_err(EngineError::from)?)?)
    }

    pub(super) fn progress(&self) -> AuditProgress {
        let state = self.scheduler.state();
        AuditProgress { done: 2 * state.done(), total: 2 * state.range.len() }
    }

    pub(super) fn result(&self) -> Result<SimulationResult, Failure> {
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

    pub(super) fn curve(&self) -> Result<AuditCurve, Failure> {
        Ok(self.scheduler.state().curve()?)
    }
}

/// Progress and result of a small simulation.
#[cfg(test)]
pub(crate) fn example() -> (AuditProgress, SimulationResult) {
    let mut simulation = Simulation::open(super::plan::tests::plan()).unwrap();
    let layout = simulation.layout().unwrap();
    let counted = super::count::count(&layout, 0.0, 128.0).unwrap();
    simulation.scheduler.assign(100).unwrap();
    simulation.add(&counted).unwrap();
    (simulation.progress(), simulation.result().unwrap())
}

#[cfg(test)]
mod tests {
    use dpscope_core::audit::{Outcome, OutcomeKind};

    use super::*;
    use crate::audits::count::count;
    use crate::audits::plan::tests::plan;
    use crate::failure::FailureKind;

    #[test]
    fn parts_sum_to_the_whole_and_bytes_resume() {
        let whole = |most| {
            let mut simulation = Simulation::open(plan()).unwrap();
            let layout = simulation.layout().unwrap();
            while let Some(range) = simulation.scheduler.assign(most) {
                let counted = count(&layout, range.first as f64, range.end as f64).unwrap();
                simulation.add(&counted).unwrap();
                let bytes = simulation.scheduler.state().to_bytes();
                simulation = Simulation::from_bytes(&bytes).unwrap();
            }
            simulation
        };
        let (one, many) = (whole(u64::MAX), whole(777));
        assert_eq!(one.result().unwrap(), many.result().unwrap());
        assert_eq!(one.result().unwrap().result.kind, OutcomeKind::Bound);
        assert!(one.curve().unwrap().band().is_some());
        let outcome = one.scheduler.state().outcome().unwrap();
        assert!(matches!(outcome, Outcome::Bound(_)));
    }

    #[test]
    fn no_counts_are_no_result() {
        let simulation = Simulation::open(plan()).unwrap();
        assert_eq!(simulation.result().unwrap_err().kind, FailureKind::Input);
        assert_eq!(simulation.curve().unwrap_err().kind, FailureKind::Input);
        assert_eq!(simulation.progress(), AuditProgress { done: 0, total: 20_000 });
    }

    #[test]
    fn bytes_without_a_layout_and_ranges_outside_the_plan_are_rejected() {
        for bytes in [&b""[..], b"{}", b"<script>", &[0; 100]] {
            assert_eq!(count(bytes, 0.0, 1.0).unwrap_err().kind, FailureKind::File);
            assert_eq!(Simulation::from_bytes(bytes).unwrap_err().kind, FailureKind::File);
        }
        let mut simulation = Simulation::open(plan()).unwrap();
        let layout = simulation.layout().unwrap();
        for (first, end) in [(0.0, 1.0), (9_999.0, f64::INFINITY), (f64::NAN, -1.0), (5.0, 3.0)] {
            let counted = count(&layout, first, end).unwrap();
            assert_eq!(simulation.add(&counted).unwrap_err().kind, FailureKind::File);
        }
    }
}

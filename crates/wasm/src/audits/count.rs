//! Counts of one worker, by the CPU twin.

use dpscope_engine::{EngineError, run};
use dpscope_simulation::backend::CpuBackend;
use dpscope_simulation::{Artefact, Backend, Simulation, ValidPlan};

use crate::control::PageControl;
use crate::failure::Failure;
use crate::ranges::range_within;
use crate::ready::ready;
use crate::two_worlds::plan::checked;

/// A plan and its layout: the state without counts that the coordinator sends.
#[derive(Debug)]
pub(super) struct Job {
    plan: ValidPlan,
    state: Artefact,
}

impl Job {
    pub(super) fn from_bytes(layout: &[u8]) -> Result<Self, Failure> {
        let state = Artefact::from_bytes(layout)?;
        Ok(Job { plan: checked(state.plan)?, state })
    }

    /// Counts of these observations of each world.
    pub(super) async fn counted(
        self,
        first: f64,
        end: f64,
        backend: &Backend,
        control: &PageControl,
    ) -> Result<Vec<u8>, EngineError> {
        let Job { plan, state } = self;
        let range = range_within(first, end, plan.plan().observations_per_world());
        let start = Artefact::empty(*plan.plan(), state.stage, range);
        let counted = run(&Simulation::new(&plan, backend)?, start, control).await?;
        if control.fell_back() { Err(EngineError::Stopped) } else { Ok(counted.to_bytes()) }
    }
}

/// Counts observations `first..end` of each world.
pub(super) fn count(layout: &[u8], first: f64, end: f64) -> Result<Vec<u8>, Failure> {
    let job = Job::from_bytes(layout)?;
    let backend = Backend::Cpu(CpuBackend::new(1)?);
    let control = PageControl::default();
    Ok(ready(job.counted(first, end, &backend, &control))??)
}

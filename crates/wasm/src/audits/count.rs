//! Counts of one worker, by the CPU twin.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use dpscope_engine::{EngineError, UnitRange, run};
use dpscope_simulation::backend::CpuBackend;
use dpscope_simulation::{Artefact, Backend, Simulation, ValidPlan};

use super::control::PageControl;
use super::plan::checked;
use crate::failure::{Failure, FailureKind};

/// A plan and its layout: the state without counts that the coordinator sends.
#[derive(Debug)]
pub(super) struct Job {
    plan: ValidPlan,
    state: Artefact,
}

impl Job {
    pub(super) fn from_bytes(layout: &[u8]) -> Result<Self, Failure> {
        let state = Artefact::from_bytes(layout).map_err(EngineError::from)?;
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
        let most = plan.plan().observations_per_world();
        let range = range_of(first.min(most as f64), end.min(most as f64));
        let start = Artefact::empty(*plan.plan(), state.stage, range);
        let counted = run(&Simulation::new(&plan, backend)?, start, control).await?;
        if control.fell_back() { Err(EngineError::Stopped) } else { Ok(counted.to_bytes()) }
    }
}

/// An invalid index becomes an empty range, or one that the coordinator has not assigned.
pub(super) fn range_of(first: f64, end: f64) -> UnitRange {
    UnitRange { first: first as u64, end: end as u64 }
}

/// Counts observations `first..end` of each world.
pub(super) fn count(layout: &[u8], first: f64, end: f64) -> Result<Vec<u8>, Failure> {
    let job = Job::from_bytes(layout)?;
    let backend = Backend::Cpu(CpuBackend::new(1)?);
    let control = PageControl::default();
    let mut counting = pin!(job.counted(first, end, &backend, &control));
    match counting.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(counted) => Ok(counted?),
        Poll::Pending => Err(Failure::of(FailureKind::Internal, "the CPU backend did not finish")),
    }
}

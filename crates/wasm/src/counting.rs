//! Workloads whose ranges are computed by a worker of a page.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use dpscope_engine::gpu::Adapter;
use dpscope_engine::{Artefact, EngineError, RunControl, Unattended, Workload, run};

use crate::control::PageControl;
use crate::failure::{Failure, FailureKind};
use crate::ranges::range_within;
use crate::ready::ready;

/// Device memory of a wave, in bytes: a page shares its GPU with the screen.
pub(crate) const MEMORY_BYTES: u64 = 1 << 28;

/// A workload, and a state without evidence.
#[derive(Debug)]
pub(crate) struct Counting<W: Workload> {
    pub(crate) models: W,
    layout: Artefact<W::Plan>,
}

impl<W: Workload> Counting<W> {
    pub(crate) fn new(models: W, layout: Artefact<W::Plan>) -> Self {
        Counting { models, layout }
    }

    /// The number of units of the plan.
    pub(crate) fn units(&self) -> u64 {
        dpscope_engine::Plan::units(&self.layout.plan)
    }

    /// The evidence of these units.
    pub(crate) async fn counted(
        &self,
        first: f64,
        end: f64,
        control: &dyn RunControl<W::Plan>,
    ) -> Result<Vec<u8>, EngineError> {
        let mut start = self.layout.clone();
        start.range = range_within(first, end, self.units());
        Ok(run(&self.models, start, control).await?.to_bytes())
    }

    /// The evidence of these units, computed on the CPU; blocks until it is complete.
    pub(crate) fn count(&self, first: f64, end: f64) -> Result<Vec<u8>, Failure> {
        Ok(ready(self.counted(first, end, &Unattended))??)
    }
}

/// Counting on a GPU, one call at a time: a wave holds the memory of its models.
#[derive(Debug)]
pub(crate) struct GpuCounting<W: Workload> {
    adapter: Adapter,
    pub(crate) counting: Counting<W>,
    running: RefCell<Weak<PageControl>>,
    lost: RefCell<Option<String>>,
}

impl<W: Workload> GpuCounting<W> {
    pub(crate) fn new(adapter: Adapter, counting: Counting<W>) -> Self {
        let (running, lost) = (RefCell::default(), RefCell::default());
        GpuCounting { adapter, counting, running, lost }
    }

    /// Whether it is a GPU, not a rasteriser on the CPU.
    pub(crate) fn is_hardware(&self) -> bool {
        self.adapter.facts().hardware
    }

    /// Why the device was lost, if it was.
    pub(crate) fn lost(&self) -> Option<String> {
        self.lost.borrow().clone()
    }

    /// The evidence of these units.
    ///
    /// A lost device is reopened. If that fails, or the self-test does, the call fails with kind
    /// `device`, and [`lost`](Self::lost) has the reason.
    pub(crate) async fn count(&self, first: f64, end: f64) -> Result<Vec<u8>, Failure> {
        let control = Rc::new(PageControl::default());
        *self.running.borrow_mut() = Rc::downgrade(&control);
        let counted = self.counting.counted(first, end, &*control).await;
        if control.fell_back() {
            let reason = control.warning().unwrap_or_default();
            let failure = Failure::of(FailureKind::Device, &reason);
            *self.lost.borrow_mut() = Some(reason);
            return Err(failure);
        }
        Ok(counted?)
    }

    /// Stops a running call: it fails with kind `stopped`.
    pub(crate) fn stop(&self) {
        self.running.borrow().upgrade().iter().for_each(|control| control.stop());
    }
}

//! The batched Gaussian mechanism as a workload.

use dpscope_engine::{ArtefactError, Control, Device, EngineError, UnitRange, Workload};
use dpscope_shaders::bgm::{Phase, ScoreKernel};

#[cfg(feature = "gpu")]
use crate::gpu::{GpuCounting, Work};
use crate::{Backend, Layout, Plan, TwoWorlds, ValidPlan};

/// A plan whose mechanism is simulated on a backend.
#[derive(Debug)]
pub struct Simulation<'p> {
    plan: &'p ValidPlan,
    backend: &'p Backend,
    kernel: ScoreKernel,
}

impl<'p> Simulation<'p> {
    /// Prepares the kernel.
    ///
    /// # Errors
    /// The kernel does not support the distribution; the plan is that of a training.
    pub fn new(plan: &'p ValidPlan, backend: &'p Backend) -> Result<Self, EngineError> {
        if plan.plan().training.is_some() {
            let what = "it counts trained models, not a simulated mechanism; name another file";
            return Err(ArtefactError::WorkloadMismatch { what }.into());
        }
        let kernel = ScoreKernel::new(plan.distribution(), plan.plan().seed, Phase::Audit)?;
        Ok(Simulation { plan, backend, kernel })
    }
}

impl Workload for Simulation<'_> {
    type Plan = Plan;
    #[cfg(feature = "gpu")]
    type Queue<'a>
        = GpuCounting<'a>
    where
        Self: 'a;
    #[cfg(not(feature = "gpu"))]
    type Queue<'a>
        = dpscope_engine::NoQueue<TwoWorlds>
    where
        Self: 'a;

    fn plan(&self) -> &Plan {
        self.plan.plan()
    }

    fn first_stage(&self, keep_going: &(dyn Fn() -> bool + Sync)) -> Result<Layout, EngineError> {
        Layout::of(self.plan, self.backend.cpu(), keep_going)
    }

    fn check(&self, layout: &Layout, _: &TwoWorlds) -> Result<(), ArtefactError> {
        if layout.bins.unit() == self.kernel.score_unit() {
            return Ok(());
        }
        let what = "the unit of its scores is not that of its plan: written by another version";
        Err(ArtefactError::Inconsistent { what })
    }

    fn cpu(&self) -> Device {
        self.backend.cpu().device()
    }

    fn device(&self) -> Device {
        self.backend.device()
    }

    fn smallest_wave(&self) -> u64 {
        self.backend.cpu().smallest_wave()
    }

    fn compute(
        &self,
        layout: &Layout,
        range: UnitRange,
        control: &dyn Control,
    ) -> Result<TwoWorlds, EngineError> {
        let keep_going = || control.keep_going();
        Ok(self.backend.cpu().count(&self.kernel, &layout.bins, range, &keep_going)?.into())
    }

    #[cfg(feature = "gpu")]
    fn queue<'a>(
        &'a self,
        layout: &'a Layout,
        control: &'a dyn Control,
    ) -> Option<GpuCounting<'a>> {
        let Backend::Gpu(gpu) = self.backend else { return None };
        Some(GpuCounting::new(gpu, Work { kernel: &self.kernel, bins: &layout.bins, control }))
    }
}

#[cfg(test)]
pub(crate) mod tests;

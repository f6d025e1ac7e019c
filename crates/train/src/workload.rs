//! Models of a plan as a workload of the engine.

use std::borrow::Borrow;

use dpscope_engine::{ArtefactError, Control, Device, EngineError, UnitRange, Workload};

#[cfg(feature = "gpu")]
use crate::gpu::{ModelsQueue, OnDevice};
#[cfg(not(feature = "gpu"))]
use crate::models::Protocol as OnDevice;
use crate::models::{EvidenceOf, Models, StageOf};

impl<P: OnDevice> Workload for Models<P> {
    type Plan = P::Plan;
    #[cfg(feature = "gpu")]
    type Queue<'a>
        = ModelsQueue<'a, P>
    where
        P: 'a;
    #[cfg(not(feature = "gpu"))]
    type Queue<'a>
        = dpscope_engine::NoQueue<EvidenceOf<P>>
    where
        P: 'a;

    fn plan(&self) -> &P::Plan {
        self.planned.borrow()
    }

    fn first_stage(
        &self,
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Result<StageOf<P>, EngineError> {
        self.training().first_stage(&self.planned, keep_going)
    }

    fn empty(&self, stage: &StageOf<P>) -> EvidenceOf<P> {
        self.training().empty(&self.planned, stage)
    }

    fn check(&self, _: &StageOf<P>, evidence: &EvidenceOf<P>) -> Result<(), ArtefactError> {
        if P::described(evidence) == Some(self.training().description()) {
            return Ok(());
        }
        Err(ArtefactError::Inconsistent { what: "its training does not match its plan" })
    }

    fn cpu(&self) -> Device {
        self.trainer.threads().device()
    }

    fn device(&self) -> Device {
        self.trainer.device()
    }

    fn smallest_wave(&self) -> u64 {
        self.trainer.smallest_wave_of_cpu()
    }

    fn compute(
        &self,
        stage: &StageOf<P>,
        range: UnitRange,
        control: &dyn Control,
    ) -> Result<EvidenceOf<P>, EngineError> {
        P::evidence(&self.trainer, stage, range, self.trainer.models_on_cpu(range, control)?)
    }

    #[cfg(feature = "gpu")]
    fn queue<'a>(
        &'a self,
        stage: &'a StageOf<P>,
        control: &'a dyn Control,
    ) -> Option<ModelsQueue<'a, P>> {
        ModelsQueue::new(&self.trainer, stage, control)
    }
}

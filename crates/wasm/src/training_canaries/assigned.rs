//! Models of a plan that counters train, on the coordinator's side.

use dpscope_engine::{Artefact, Plan, Scheduler, Shard, UnitRange, Workload};
use dpscope_report::record::page::AuditProgress;
use dpscope_train::{ModelEvidence, ModelResult};
use wasm_bindgen::JsValue;

use crate::failure::Failure;
use crate::output::{JsResult, to_js};
use crate::ranges::range_of;

/// The models so far, and those that are assigned.
#[derive(Debug)]
pub(super) struct Assigned<P: Plan>(Scheduler<P>);

impl<P, M> Assigned<P>
where
    P: Plan<Stage = (), Evidence = ModelEvidence<M>>,
    M: ModelResult,
{
    /// The whole plan of a workload, without a model. Only counters need what is trained beforehand.
    pub(super) fn begin<W: Workload<Plan = P>>(workload: &W) -> Result<Self, Failure> {
        let range = Shard::WHOLE.range(workload.plan().units())?;
        let mut state = Artefact::empty(workload.plan().clone(), (), range);
        state.evidence = workload.empty(&());
        Ok(Assigned(Scheduler::new(state)))
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, Failure> {
        Ok(Assigned(Scheduler::new(Artefact::from_bytes(bytes)?)))
    }

    pub(super) fn state(&self) -> &Artefact<P> {
        self.0.state()
    }

    /// The plan without models, for counters.
    pub(super) fn layout(&self) -> Vec<u8> {
        let state = self.state();
        let mut layout = Artefact::empty(state.plan.clone(), (), UnitRange { first: 0, end: 0 });
        layout.evidence.description.clone_from(&state.evidence.description);
        layout.to_bytes()
    }

    pub(super) fn next(&mut self, models: u64) -> Option<UnitRange> {
        self.0.assign(models)
    }

    pub(super) fn assign(&mut self, models: f64) -> JsResult {
        self.next(models as u64).map_or(Ok(JsValue::UNDEFINED), |range| to_js(&range))
    }

    pub(super) fn add(&mut self, counted: &[u8]) -> Result<(), Failure> {
        Ok(self.0.add(Artefact::from_bytes(counted)?)?)
    }

    pub(super) fn release(&mut self, first: f64, end: f64) {
        self.0.release(range_of(first, end));
    }

    pub(super) fn progress(&self) -> JsResult {
        let state = self.state();
        to_js(&AuditProgress { done: state.done(), total: state.range.len() })
    }
}

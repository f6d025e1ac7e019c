//! What the coordinators of all audits have in common: they assign units to workers and join what these
//! return.

use dpscope_engine::{Artefact, Plan, Scheduler, Shard, UnitRange, Workload};
use dpscope_report::record::page::AuditProgress;
use wasm_bindgen::JsValue;

use crate::failure::Failure;
use crate::output::{JsResult, to_js};
use crate::ranges::range_of;

/// A plan whose units workers compute.
pub(crate) trait DividedPlan: Plan {
    /// A state without units, which workers start from.
    fn layout(state: &Artefact<Self>) -> Artefact<Self> {
        let none = UnitRange { first: 0, end: 0 };
        Artefact::empty(state.plan.clone(), state.stage.clone(), none)
    }
}

/// The units so far, and those that are assigned.
#[derive(Debug)]
pub(crate) struct Coordinator<P: Plan>(Scheduler<P>);

impl<P: DividedPlan> Coordinator<P> {
    /// The whole plan of a workload, without a unit.
    pub(crate) fn begin<W: Workload<Plan = P>>(
        workload: &W,
        stage: P::Stage,
    ) -> Result<Self, Failure> {
        let range = Shard::WHOLE.range(workload.plan().units())?;
        let evidence = workload.empty(&stage);
        let mut state = Artefact::empty(workload.plan().clone(), stage, range);
        state.evidence = evidence;
        Ok(Coordinator(Scheduler::new(state)))
    }

    /// Saved units, of a page or of the command line.
    #[cfg(any(feature = "audits", feature = "training", feature = "training_canaries"))]
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, Failure> {
        Ok(Coordinator(Scheduler::new(Artefact::from_bytes(bytes)?)))
    }

    pub(crate) fn state(&self) -> &Artefact<P> {
        self.0.state()
    }

    pub(crate) fn layout(&self) -> Vec<u8> {
        P::layout(self.state()).to_bytes()
    }

    pub(crate) fn next(&mut self, units: u64) -> Option<UnitRange> {
        self.0.assign(units)
    }

    pub(crate) fn assign(&mut self, units: f64) -> JsResult {
        self.next(units as u64).map_or(Ok(JsValue::UNDEFINED), |range| to_js(&range))
    }

    pub(crate) fn add(&mut self, counted: &[u8]) -> Result<(), Failure> {
        Ok(self.0.add(Artefact::from_bytes(counted)?)?)
    }

    pub(crate) fn release(&mut self, first: f64, end: f64) {
        self.0.release(range_of(first, end));
    }

    pub(crate) fn progress(&self) -> AuditProgress {
        let (state, results) = (self.state(), P::RESULTS_PER_UNIT);
        AuditProgress { done: results * state.done(), total: results * state.range.len() }
    }
}

/// The functions of a class of JavaScript that owns a [`Coordinator`] in its field: wasm-bindgen has no
/// generic classes.
macro_rules! coordinates {
    ($class:ident . $($coordinator:tt)+) => {
        #[wasm_bindgen::prelude::wasm_bindgen]
        impl $class {
            /// All units so far, as `dpscope resume` reads them.
            #[must_use]
            pub fn to_bytes(&self) -> Vec<u8> {
                self.$($coordinator)+.state().to_bytes()
            }

            /// The plan without units, for counters.
            #[must_use]
            pub fn layout(&self) -> Vec<u8> {
                self.$($coordinator)+.layout()
            }

            /// Assigns about this many further units; `undefined` if all are assigned or counted.
            ///
            /// # Errors
            /// No input from a page causes an error.
            #[wasm_bindgen(unchecked_return_type = "ObservationRange | undefined")]
            pub fn assign(&mut self, units: f64) -> $crate::output::JsResult {
                self.$($coordinator)+.assign(units)
            }

            /// Adds the units of a counter.
            ///
            /// # Errors
            /// Units that are not assigned, or of another plan; damaged bytes. Nothing is added then:
            /// release the range.
            pub fn add(&mut self, counted: &[u8]) -> Result<(), $crate::failure::Failure> {
                self.$($coordinator)+.add(counted)
            }

            /// Releases assigned units whose counter stopped or failed, to be assigned again.
            pub fn release(&mut self, first: f64, end: f64) {
                self.$($coordinator)+.release(first, end);
            }

            /// Its progress, in results.
            ///
            /// # Errors
            /// No input from a page causes an error.
            #[wasm_bindgen(unchecked_return_type = "AuditProgress")]
            pub fn progress(&self) -> $crate::output::JsResult {
                $crate::output::to_js(&self.$($coordinator)+.progress())
            }
        }
    };
}

pub(crate) use coordinates;

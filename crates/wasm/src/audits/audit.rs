//! The coordinator of a simulation: it deals observations, gathers counts, and tells what they say.

use dpscope_core::audit::AuditResult;
use dpscope_core::curve::AuditCurve;
use dpscope_engine::backend::CpuBackend;
use dpscope_engine::{Artefact, Dealer, Layout, ObservationRange, Shard};
use serde::Serialize;
use tsify::Tsify;

use super::plan::{AuditPlan, checked};
use crate::failure::Failure;

/// A simulation under way.
#[derive(Debug)]
pub(super) struct Simulation {
    pub(super) dealer: Dealer,
}

/// How far a simulation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Tsify)]
pub struct Counted {
    /// Observations of both worlds that are counted.
    pub done: u64,
    /// Observations of both worlds that are to be counted.
    pub total: u64,
}

/// What a simulation found.
#[derive(Debug, Clone, PartialEq, Serialize, Tsify)]
#[tsify(missing_as_null, hashmap_as_object)]
pub struct SimulationResult {
    /// As on the command line.
    #[serde(flatten)]
    #[tsify(type = "AuditResult")]
    pub result: AuditResult,
    /// Observations of both worlds that are counted.
    pub observations: u64,
    /// Observations of both worlds that were planned.
    pub planned: u64,
    /// Decimal.
    pub seed: String,
    /// Equal for equal histograms.
    pub histogram_digest: String,
    /// Devices that counted.
    pub devices: Vec<String>,
    /// How they computed floats.
    pub float_modes: Vec<String>,
    /// Ranges that a device failed.
    pub fallback_shards: u64,
    /// Of the program.
    pub version: String,
}

impl Simulation {
    /// Draws the pilot of a plan.
    pub(super) fn open(plan: &AuditPlan) -> Result<Self, Failure> {
        let valid = plan.checked()?;
        let layout = Layout::of(&valid, &CpuBackend::new(1)?, &|| true)?;
        let range = Shard::WHOLE.range(valid.plan())?;
        Ok(Simulation { dealer: Dealer::new(Artefact::empty(&valid, layout, range)) })
    }

    /// Goes on with what was counted before, here or by the command line.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, Failure> {
        let state = Artefact::from_bytes(bytes)?;
        checked(state.plan)?;
        Ok(Simulation { dealer: Dealer::new(state) })
    }

    /// What counters need to know: a state without counts.
    pub(super) fn layout(&self) -> Result<Vec<u8>, Failure> {
        let state = self.dealer.state();
        let none = ObservationRange { first: 0, end: 0 };
        Ok(Artefact::empty(&checked(state.plan)?, state.layout.clone(), none).to_bytes())
    }

    pub(super) fn add(&mut self, counted: &[u8]) -> Result<(), Failure> {
        Ok(self.dealer.add(Artefact::from_bytes(counted)?)?)
    }

    pub(super) fn progress(&self) -> Counted {
        let state = self.dealer.state();
        Counted { done: 2 * state.done(), total: 2 * state.range.len() }
    }

    pub(super) fn result(&self) -> Result<SimulationResult, Failure> {
        let state = self.dealer.state();
        Ok(SimulationResult {
            result: AuditResult::new(&state.outcome()?, state.plan.significance),
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
        Ok(self.dealer.state().curve()?)
    }
}

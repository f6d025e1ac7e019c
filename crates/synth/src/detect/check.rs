//! What a check found.

use dpscope_core::adjacency::World;

use crate::fault::{Detector, Fault};
use crate::trace::Trace;

/// What a detector found.
#[derive(Debug, Clone, PartialEq)]
pub enum Observation {
    /// No sign of its faults.
    Clear,
    /// What a mechanism without its faults shows, beyond chance.
    Confirmed {
        /// What was seen, in words.
        seen: String,
    },
    /// These settings do not show them.
    Untestable {
        /// Why.
        reason: &'static str,
    },
    /// A fault.
    Fired {
        /// What was seen, in words.
        seen: String,
        /// Which faults it can be.
        faults: Vec<Fault>,
    },
}

/// One check of a detector.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// The detector.
    pub detector: Detector,
    /// What is checked, as "division of rows".
    pub name: &'static str,
    /// What it found.
    pub observation: Observation,
    /// The probability of such an observation at most, if there is no fault; none if the check is
    /// deterministic.
    pub p_value: Option<f64>,
    /// What to do if it fires.
    pub remedy: &'static str,
}

impl Check {
    /// Whether it found a fault.
    #[must_use]
    pub fn has_fired(&self) -> bool {
        matches!(self.observation, Observation::Fired { .. })
    }
}

/// A fired observation of all faults with these switches, each given by one name.
pub(super) fn fired(switches: &[Fault], seen: String) -> Observation {
    let is_one = |fault: &Fault| switches.contains(&fault.description().switch);
    Observation::Fired { seen, faults: Fault::ALL.into_iter().filter(is_one).collect() }
}

/// Runs of the world with the target.
pub(super) fn is_target(run: &Trace) -> bool {
    run.unit.is_multiple_of(2) == (World::Target.index() == 0)
}

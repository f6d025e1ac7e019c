//! Detectors: faults by name, from traces and releases.

mod labels;
mod outputs;
mod rows;

use dpscope_core::accounting::AccountingError;
use dpscope_core::adjacency::World;

use crate::fault::{Detector, Fault};
use crate::mechanism::{Mechanism, Run};

/// What a detector found.
#[derive(Debug, Clone, PartialEq)]
pub enum Observation {
    /// No sign of its faults.
    Clear,
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

/// Checks with a p-value, which share the significance.
const STATISTICAL: f64 = 2.0;

/// All checks of runs of a mechanism, in the order of the detectors.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `mechanism` | what ran | – |
/// | `runs` | runs of either world | at least one |
/// | `significance` | chance that any check of a faithful mechanism fires | (0, 1) |
///
/// # Guarantee
/// Each fault makes its detector fire by name, in settings in which it can show
/// (`crates/synth/tests/detectors.rs::each_fault_is_named_by_its_detector`); a faithful mechanism makes
/// none fire (`crates/synth/tests/detectors.rs::a_faithful_mechanism_is_clear`).
///
/// # Errors
/// The accountant refuses γ, k or the orders.
pub fn detect(
    mechanism: &Mechanism,
    runs: &[Run],
    significance: f64,
) -> Result<Vec<Check>, AccountingError> {
    let level = significance / STATISTICAL;
    Ok(vec![
        rows::division(mechanism, runs),
        rows::moments(mechanism, runs)?,
        rows::stopping(mechanism, runs)?,
        labels::label_channel(mechanism, runs, level)?,
        labels::training_labels(mechanism, runs),
        outputs::release(mechanism),
        outputs::taint(runs),
        outputs::decoding(mechanism),
        outputs::latent_input(mechanism, runs, level),
        outputs::age(mechanism, runs),
    ])
}

/// Of one name per switch.
fn fired(switches: &[Fault], seen: String) -> Observation {
    let is_one = |fault: &Fault| switches.contains(&fault.description().switch);
    Observation::Fired { seen, faults: Fault::ALL.into_iter().filter(is_one).collect() }
}

/// Runs of the world with the target.
fn is_target(run: &Run) -> bool {
    run.unit.is_multiple_of(2) == (World::Target.index() == 0)
}

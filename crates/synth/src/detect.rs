//! Detectors: faults by name, from traces and releases.

mod check;
mod labels;
mod losses;
mod outputs;
mod rows;

use dpscope_core::accounting::AccountingError;

use crate::mechanism::Mechanism;
use crate::trace::Trace;
pub use check::{Check, Observation};

/// Checks with a p-value that can fire, which share the significance; M2 cannot.
const STATISTICAL: f64 = 2.0;

/// All checks of runs of a mechanism, in the order of the detectors.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `mechanism` | what ran | – |
/// | `runs` | traces of runs of either world | at least one |
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
    runs: &[&Trace],
    significance: f64,
) -> Result<Vec<Check>, AccountingError> {
    let level = significance / STATISTICAL;
    Ok(vec![
        rows::division(mechanism, runs),
        losses::own_rows(runs, significance),
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

//! The largest ε that an audit of a certain size can report.

use super::{BoundError, epsilon_from_rates};
use crate::audit::trade_off::Trials;
use crate::interval::clopper_pearson_upper;

/// The ε reported for an attack without errors: no audit of this size can report more.
///
/// ln((1 − u − δ)/u) with u = 1 − t^{1/R}; for worlds of unequal size, the larger value of the two
/// directions.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `trials` | evaluated observations of each world | ≥ 1 each |
/// | `delta` | δ | [0, 1) |
/// | `tail` | one-sided tail of each rate's limit | (0, 1) |
///
/// # Errors
/// An argument outside its domain.
///
/// # Example
/// ```
/// use dpscope_core::audit::{bound::ceiling, trade_off::Trials};
/// let trials = Trials { target: 500_000, zero_out: 500_000 };
/// assert_eq!(format!("{:.2}", ceiling(trials, 1e-5, 0.025)?), "11.82");
/// # Ok::<(), dpscope_core::audit::bound::BoundError>(())
/// ```
pub fn ceiling(trials: Trials, delta: f64, tail: f64) -> Result<f64, BoundError> {
    if !(0.0..1.0).contains(&delta) {
        return Err(BoundError::Delta { delta });
    }
    let fpr = clopper_pearson_upper(0, trials.zero_out, tail)?;
    let fnr = clopper_pearson_upper(0, trials.target, tail)?;
    Ok(epsilon_from_rates(fpr, fnr, delta).epsilon)
}

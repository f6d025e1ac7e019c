//! The bound of an attack on released rows.

use dpscope_core::audit::bound::at_fixed_cut;
use dpscope_core::audit::trade_off::Cut;

use super::audits::{errors_at, trials_at};
use super::checker::Checker;
use super::open::NO_COUNTS;
use super::result::RecomputeError;

/// The bound of an attack whose threshold other runs chose.
pub(crate) fn run_attack(
    report: &mut Checker<'_>,
    pointer: &'static str,
) -> Result<(), RecomputeError> {
    let at = |field: &str| format!("{}{field}", pointer.trim_end_matches("counts"));
    if !report.has(pointer) {
        if report.has(&at("epsilon")) {
            report.leave(&at("epsilon"), NO_COUNTS);
        }
        return Ok(());
    }
    let (trials, errors) = (trials_at(report, pointer)?, errors_at(report, pointer)?);
    let delta = report.parsed("/delta", "a number")?;
    let significance = report.number("/significance")?;
    let cut = Cut { threshold: f64::NAN, errors };
    let bound = at_fixed_cut(cut, trials, delta, significance)
        .map_err(|error| RecomputeError::Counts { pointer, problem: error.to_string() })?;
    report.expect(&at("counts/fpr_upper"), bound.evidence().fpr_upper);
    report.expect(&at("counts/fnr_upper"), bound.evidence().fnr_upper);
    report.expect(&at("epsilon"), bound.value());
    report.expect(&at("ceiling"), bound.evidence().ceiling);
    report.expect(&at("evaluated"), trials.target.min(trials.zero_out));
    Ok(())
}

//! Audits of generators.

use dpscope_core::audit::bound::at_fixed_cut;
use dpscope_core::audit::trade_off::Cut;
use serde_json::Value;

use super::audits::{errors_at, trials_at};
use super::checker::Checker;
use super::open::{NO_COUNTS, TEXT};
use super::result::RecomputeError;
use super::verdict::Coverage;
use crate::words::{CONSTANT_ROWS, GeneratorResult, PateGanFinding};

/// The bound of the attack on released rows, and the verdict on the accounted ε.
pub(super) fn pategan(report: &mut Checker<'_>) -> Result<(), RecomputeError> {
    attack(report, "/counts")?;
    if !report.has("/counts") && !report.has("/epsilon") {
        return Ok(());
    }
    let number = |pointer: &str| report.parsed::<f64>(pointer, "a number");
    let (epsilon, ceiling) = (number("/epsilon")?, number("/ceiling")?);
    let (accounted, significance) = (number("/accounted_epsilon")?, number("/significance")?);
    let has_fired = |index: &usize| report.is(&format!("/checks/{index}/outcome"), "fired");
    let fired = (0..report.len("/checks")).filter(has_fired).count();
    let found = PateGanFinding { epsilon, ceiling, accounted, fired, significance };
    report.expect("/verdict", found.verdict());
    report.expect_verdict("/fail_above", Coverage::default(), (epsilon, Some(ceiling)));
    report.expect("/headline", found.headline());
    report.expect("/says", found.meaning());
    Ok(())
}

/// The bound of the attack on released rows, and the verdict on the claimed ε.
pub(super) fn generator(report: &mut Checker<'_>) -> Result<(), RecomputeError> {
    attack(report, "/attack/counts")?;
    if !report.has("/attack") {
        if report.has("/indicative") {
            report.expect("/verdict", Value::Null); // nothing certifies an ε
            report.leave("/headline", TEXT);
        }
        return Ok(());
    }
    let number = |pointer: &str| report.parsed::<f64>(pointer, "a number");
    let failed: [u64; 2] = report.parsed("/failed", "two counts")?;
    let found = GeneratorResult {
        claimed: report.compared("/claimed_epsilon"),
        epsilon: number("/attack/epsilon")?,
        ceiling: number("/attack/ceiling")?,
        significance: number("/significance")?,
        runs: report.parsed("/runs", "a count")?,
        failed: failed[0].max(failed[1]),
        is_constant: (0..report.len("/findings"))
            .any(|index| report.is(&format!("/findings/{index}/name"), CONSTANT_ROWS)),
    };
    report.expect("/verdict", found.verdict());
    report.expect("/headline", found.headline());
    report.expect("/says", found.meaning());
    Ok(())
}

/// The bound of an attack whose threshold other runs chose.
fn attack(report: &mut Checker<'_>, pointer: &'static str) -> Result<(), RecomputeError> {
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

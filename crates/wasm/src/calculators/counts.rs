//! A bound from error counts, and how many observations an audit needs.

use dpscope_core::audit::Counts;
use dpscope_core::audit::bound::{BoundError, Statement, ThresholdRule};
use dpscope_core::audit::planner::{PlannedAudit, PlannerError};
use dpscope_report::record::ResultRecord;
use dpscope_report::record::input::PlanQuestion;
use dpscope_report::record::page::{PlanRow, PlanTable};
use dpscope_simulation::Plan;
use wasm_bindgen::prelude::*;

use crate::failure::{Failure, FailureKind};
use crate::input::read;
use crate::output::{JsResult, to_js};

/// The `result` of `dpscope audit counts`.
pub(crate) fn from_counts(
    counts: Counts,
    delta: f64,
    significance: f64,
) -> Result<ResultRecord, Failure> {
    let Counts { false_positives, zero_out_trials, false_negatives, target_trials } = counts;
    check("false_positives", false_positives, "zero_out_trials", zero_out_trials)?;
    check("false_negatives", false_negatives, "target_trials", target_trials)?;
    let result = counts.audit(Statement { delta, significance }).map_err(about_statement)?;
    Ok(ResultRecord::from(&result))
}

fn check(field: &'static str, events: u64, of: &'static str, trials: u64) -> Result<(), Failure> {
    if trials == 0 {
        Err(Failure::outside(of, 0.0, "at least 1"))
    } else if events > trials {
        Err(Failure::input(field, &["must be at most ", of]))
    } else {
        Ok(())
    }
}

/// The lower bound of ε from error counts at one threshold, if it was fixed without them.
///
/// # Errors
/// A `Failure` that names the input.
#[wasm_bindgen(unchecked_return_type = "AuditResult")]
pub fn counts(
    #[wasm_bindgen(unchecked_param_type = "Counts")] counts: &JsValue,
    delta: f64,
    significance: f64,
) -> JsResult {
    to_js(&from_counts(read(counts, "counts")?, delta, significance)?)
}

/// The table of `dpscope plan` without a mechanism.
pub(crate) fn planned(question: &PlanQuestion) -> Result<PlanTable, Failure> {
    let PlanQuestion { epsilon, delta, significance, threshold_rule, observations } = *question;
    if threshold_rule == ThresholdRule::Fixed {
        return Err(Failure::input("threshold_rule", &["must not be fixed"]));
    }
    let audit = PlannedAudit { delta, significance, threshold_rule, cuts: Plan::DEFAULT_CUTS };
    let sizes = match observations {
        None => PlannedAudit::SIZES.to_vec(),
        Some(size) if size > 0 && size.is_multiple_of(2) => vec![size],
        Some(size) => return Err(Failure::outside("observations", size as f64, "even, from 2")),
    };
    let mut rows = Vec::new();
    for observations in sizes {
        let ceiling = audit.ceiling(observations).map_err(about_statement)?;
        rows.push(PlanRow { observations, ceiling });
    }
    let needed = match epsilon {
        None => None,
        Some(epsilon) => Some(audit.observations_for_ceiling(epsilon).map_err(about_epsilon)?),
    };
    Ok(PlanTable {
        cuts: audit.cuts(),
        tail_per_rate: audit.tail_per_rate(),
        observations_for_ceiling: needed,
        rows,
    })
}

/// Observations that an audit needs to reach an ε.
///
/// # Errors
/// A `Failure` that names the input.
#[wasm_bindgen(unchecked_return_type = "PlanTable")]
pub fn plan(#[wasm_bindgen(unchecked_param_type = "PlanQuestion")] question: &JsValue) -> JsResult {
    to_js(&planned(&read(question, "question")?)?)
}

/// Rejects δ or the significance.
fn about_statement(error: BoundError) -> Failure {
    match error {
        BoundError::Delta { delta } => Failure::outside("delta", delta, "at least 0 and below 1"),
        BoundError::Significance { significance } => {
            Failure::outside("significance", significance, "above 0 and below 1")
        }
        _ => Failure::of(FailureKind::Input, "these counts have no bound"),
    }
}

fn about_epsilon(error: PlannerError) -> Failure {
    match error {
        PlannerError::Bound(error) => about_statement(error),
        PlannerError::Epsilon { epsilon } => {
            Failure::outside("epsilon", epsilon, "above 0 and at most 40")
        }
        _ => Failure::input("epsilon", &["needs more than 2^53 observations of each world"]),
    }
}

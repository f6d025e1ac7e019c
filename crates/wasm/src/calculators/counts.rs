//! A bound from error counts, and how many observations an audit needs.

use dpscope_core::audit::Counts;
use dpscope_core::audit::bound::{BoundError, Statement};
use dpscope_core::audit::planner::{PlannedAudit, PlannerError};
use dpscope_engine::Plan;
use dpscope_report::record::ResultRecord;
use dpscope_report::record::page::{PlanRow, PlanTable};
use wasm_bindgen::prelude::*;

use crate::failure::{Failure, FailureKind};
use crate::plain::{JsResult, to_js};
use crate::question::{RULES, named};
use crate::record::Record;

const COUNTS: [&str; 4] =
    ["false_positives", "zero_out_trials", "false_negatives", "target_trials"];

/// The `result` of `dpscope audit counts`.
pub(crate) fn from_counts(
    counts: &Record,
    delta: f64,
    significance: f64,
) -> Result<ResultRecord, Failure> {
    let mut numbers = [0; 4];
    for (number, field) in numbers.iter_mut().zip(COUNTS) {
        *number = counts.needed_whole(field, 0)?;
    }
    let [false_positives, zero_out_trials, false_negatives, target_trials] = numbers;
    for (field, events, of, trials) in [
        (COUNTS[0], false_positives, COUNTS[1], zero_out_trials),
        (COUNTS[2], false_negatives, COUNTS[3], target_trials),
    ] {
        if trials == 0 {
            return Err(Failure::outside(of, 0.0, "at least 1"));
        }
        if events > trials {
            return Err(Failure::input(field, &["must be at most ", of]));
        }
    }
    let counts = Counts { false_positives, zero_out_trials, false_negatives, target_trials };
    let result = counts.audit(Statement { delta, significance }).map_err(about_statement)?;
    Ok(ResultRecord::from(&result))
}

/// The lower bound of ε that error counts at one threshold give, if it was fixed without them.
///
/// # Errors
/// A `Failure` that names the input.
#[wasm_bindgen(unchecked_return_type = "AuditResult")]
pub fn counts(
    #[wasm_bindgen(unchecked_param_type = "Counts")] counts: &JsValue,
    delta: f64,
    significance: f64,
) -> JsResult {
    let counts = Record::read(counts, "counts", &COUNTS)?;
    to_js(&from_counts(&counts, delta, significance)?)
}

const QUESTION: [&str; 5] = ["epsilon", "delta", "significance", "threshold_rule", "observations"];

/// What `dpscope plan` says without a mechanism.
pub(crate) fn planned(question: &Record) -> Result<PlanTable, Failure> {
    let rule = question.needed_text("threshold_rule")?;
    let audit = PlannedAudit {
        delta: question.needed_number("delta")?,
        significance: question.needed_number("significance")?,
        threshold_rule: named("threshold_rule", &RULES, rule)?,
        cuts: Plan::DEFAULT_CUTS,
    };
    let sizes = match question.whole("observations", 1)? {
        None => PlannedAudit::SIZES.to_vec(),
        Some(size) if size.is_multiple_of(2) => vec![size],
        Some(size) => return Err(Failure::outside("observations", size as f64, "even, from 2")),
    };
    let mut rows = Vec::new();
    for observations in sizes {
        let ceiling = audit.ceiling(observations).map_err(about_statement)?;
        rows.push(PlanRow { observations, ceiling });
    }
    let needed = match question.number("epsilon")? {
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

/// How many observations an audit needs to show an ε at all.
///
/// # Errors
/// A `Failure` that names the input.
#[wasm_bindgen(unchecked_return_type = "PlanTable")]
pub fn plan(#[wasm_bindgen(unchecked_param_type = "PlanQuestion")] question: &JsValue) -> JsResult {
    to_js(&planned(&Record::read(question, "question", &QUESTION)?)?)
}

/// δ or the significance is refused.
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

//! A bound from error counts, and how many observations an audit needs.

use dpscope_core::audit::{AuditResult, Outcome};
use dpscope_core::bound::{ThresholdRule, at_fixed_cut};
use dpscope_core::planner::PlannedAudit;
use dpscope_core::trade_off::{Cut, ErrorCounts, Trials};
use dpscope_engine::Plan;
use serde::Serialize;
use wasm_bindgen::prelude::*;

use super::{Made, named, to_js};
use crate::failure::Failure;
use crate::record::{Record, needed};

const COUNTS: [&str; 4] =
    ["false_positives", "zero_out_trials", "false_negatives", "target_trials"];

/// The `result` of `dpscope audit counts`.
pub(crate) fn from_counts(
    counts: &Record,
    delta: f64,
    significance: f64,
) -> Result<AuditResult, Failure> {
    let [false_positives, zero_out, false_negatives, target] =
        COUNTS.map(|field| needed(counts.whole(field, 0)?, field));
    let errors =
        ErrorCounts { false_positives: false_positives?, false_negatives: false_negatives? };
    let trials = Trials { target: target?, zero_out: zero_out? };
    for (field, events, of, trials) in [
        (COUNTS[0], errors.false_positives, COUNTS[1], trials.zero_out),
        (COUNTS[2], errors.false_negatives, COUNTS[3], trials.target),
    ] {
        if trials == 0 {
            return Err(Failure::outside(of, 0.0, "at least 1"));
        }
        if events > trials {
            return Err(Failure::outside(field, events as f64, &format!("at most {of}, {trials}")));
        }
    }
    let cut = Cut { threshold: f64::NAN, errors };
    let found = at_fixed_cut(cut, trials, delta, significance).map_err(about_statement)?;
    Ok(AuditResult::new(&Outcome::Bound(found), significance))
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
) -> Made {
    let counts = Record::read(counts, "counts", &COUNTS)?;
    to_js(&from_counts(&counts, delta, significance)?)
}

#[derive(Debug, Serialize)]
pub(crate) struct PlanTable {
    pub(crate) cuts: u32,
    pub(crate) tail_per_rate: f64,
    pub(crate) observations_for_ceiling: Option<u64>,
    pub(crate) rows: Vec<PlanRow>,
}

#[derive(Debug, Serialize)]
pub(crate) struct PlanRow {
    pub(crate) observations: u64,
    pub(crate) ceiling: f64,
}

const QUESTION: [&str; 5] = ["epsilon", "delta", "significance", "threshold_rule", "observations"];

const RULES: [(&str, ThresholdRule); 3] = [
    ("max-uncorrected", ThresholdRule::MaxUncorrected),
    ("split", ThresholdRule::Split),
    ("simultaneous", ThresholdRule::Simultaneous),
];

/// What `dpscope plan` says without a mechanism.
pub(crate) fn planned(question: &Record) -> Result<PlanTable, Failure> {
    let rule = needed(question.text("threshold_rule")?, "threshold_rule")?;
    let audit = PlannedAudit {
        delta: needed(question.number("delta")?, "delta")?,
        significance: needed(question.number("significance")?, "significance")?,
        threshold_rule: named("threshold_rule", &RULES, rule)?,
        cuts: Plan::DEFAULT_CUTS,
    };
    let sizes = match question.whole("observations", 2)? {
        None => PlannedAudit::SIZES.to_vec(),
        Some(size) if size % 2 == 0 => vec![size],
        Some(size) => return Err(Failure::outside("observations", size as f64, "even, from 2")),
    };
    let row = |&observations: &u64| {
        let ceiling = audit.ceiling(observations).map_err(about_statement)?;
        Ok(PlanRow { observations, ceiling })
    };
    let rows: Result<Vec<PlanRow>, Failure> = sizes.iter().map(row).collect();
    let rows = rows?;
    let wanted = question.number("epsilon")?;
    let needed = wanted.map(|epsilon| audit.observations_for_ceiling(epsilon));
    let needed =
        needed.transpose().map_err(|error| Failure::input("epsilon", error.to_string()))?;
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
pub fn plan(#[wasm_bindgen(unchecked_param_type = "PlanQuestion")] question: &JsValue) -> Made {
    to_js(&planned(&Record::read(question, "question", &QUESTION)?)?)
}

/// δ or the significance is refused.
fn about_statement(error: dpscope_core::bound::BoundError) -> Failure {
    use dpscope_core::bound::BoundError::{Delta, Significance};
    match error {
        Delta { delta } => Failure::outside("delta", delta, "at least 0 and below 1"),
        Significance { significance } => {
            Failure::outside("significance", significance, "above 0 and below 1")
        }
        error => Failure::refused(&error),
    }
}

//! Our estimate beside a printed one, and why they differ.

use std::collections::BTreeSet;

use dpscope_core::audit::bound::{EpsilonEstimate, ceiling, max_uncorrected};
use dpscope_simulation::{Artefact, Evaluate};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::commands::reproduce::data;
use crate::failure::Failure;

/// Half a unit of the last printed digit.
pub(super) const HALF_A_UNIT: f64 = 0.005;

/// Adds our result to a row, beside the published one that it has: the `our_estimate` of the paper's rule,
/// which is the largest value over all cuts, uncorrected, and `our_bound` of the simultaneous rule, with
/// coverage. Returns why the estimates differ.
pub(super) fn compare(
    row: &mut Value,
    state: &Artefact,
    has_other_number: bool,
) -> Result<Option<&'static str>, Failure> {
    let estimate = estimate(state)?;
    let value = estimate.value();
    // none of an estimate of 0
    let error = (value > 0.0).then(|| standard_error(&estimate));
    let difference = row["published_estimate"].as_f64().map(|printed| value - printed);
    row["our_estimate"] = json!(value);
    row["standard_error"] = json!(error);
    row["difference"] = json!(difference);
    row["our_bound"] = json!(state.outcome()?.value());
    Ok(difference.and_then(|difference| reason(difference, error, has_other_number)))
}

/// Why an estimate differs from the printed one; none if they agree as printed.
fn reason(difference: f64, error: Option<f64>, has_other_number: bool) -> Option<&'static str> {
    // both runs vary, by at least one event
    let chance = HALF_A_UNIT + 3.0 * std::f64::consts::SQRT_2 * error.unwrap_or(1.0);
    match difference.abs() {
        agrees if agrees <= HALF_A_UNIT => None,
        _ if has_other_number => Some("observations"),
        close if close <= chance => Some("chance"),
        _ => Some("unexplained"),
    }
}

/// By the paper's rule.
pub(super) fn estimate(state: &Artefact) -> Result<EpsilonEstimate, Failure> {
    let trade_off = state.evidence.histograms.trade_off(&state.stage.bins)?;
    Ok(max_uncorrected(&trade_off, state.plan.delta, state.plan.significance)?)
}

/// The largest estimate that so many observations can have.
pub(super) fn ceiling_of(state: &Artefact) -> Result<f64, Failure> {
    let tail = state.plan.significance / 2.0;
    Ok(ceiling(state.evidence.histograms.trials(), state.plan.delta, tail)?)
}

/// Standard error of the log of the deciding rate: 1/√count, of at least one event.
fn standard_error(estimate: &EpsilonEstimate) -> f64 {
    let errors = estimate.evidence().errors;
    let fewest = errors.false_positives.min(errors.false_negatives).max(1);
    1.0 / (fewest as f64).sqrt()
}

/// A reason why numbers differ.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reason {
    id: String,
    mark: String,
    text: String,
}

/// Adds the marks of the reasons that rows name, and returns a note for each of these.
pub(super) fn explain(rows: &mut [Value]) -> Result<Vec<(String, String)>, Failure> {
    let reasons: Vec<Reason> =
        data::list(include_str!("../../../../papers/shuffle_or_not/reasons.toml"))?;
    let mut used = BTreeSet::new();
    for row in rows {
        let names = |reason: &&Reason| {
            row["why_they_differ"].as_array().is_some_and(|why| why.contains(&json!(reason.id)))
        };
        let found: Vec<&Reason> = reasons.iter().filter(names).collect();
        used.extend(found.iter().map(|reason| &reason.id));
        let marks: String = found.iter().map(|reason| reason.mark.as_str()).collect();
        row["why_they_differ_text"] = marks.into();
    }
    let seen = reasons.iter().filter(|reason| used.contains(&reason.id));
    let note = |reason: &Reason| (format!("why: {}", reason.mark), reason.text.clone());
    Ok(seen.map(note).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_get_the_reason_that_explains_them() {
        let reason = |difference, is_other| reason(difference, Some(0.1), is_other);
        assert_eq!(reason(0.004, false), None);
        assert_eq!(reason(-0.2, false), Some("chance"));
        assert_eq!(reason(-0.2, true), Some("observations"));
        assert_eq!(reason(0.004, true), None);
        assert_eq!(reason(-0.5, false), Some("unexplained"));
    }

    #[test]
    fn reasons_have_distinct_marks() {
        let why = ["upper-end", "copied-claim", "observations", "chance", "unexplained"];
        let mut rows = [json!({ "why_they_differ": why })];
        let notes = explain(&mut rows).unwrap();
        assert_eq!((rows[0]["why_they_differ_text"].as_str(), notes.len()), (Some("ucnv!"), 5));
    }
}

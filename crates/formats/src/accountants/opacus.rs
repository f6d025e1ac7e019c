//! Histories of accountants of Opacus (1.6).

use dpscope_core::foreign_text::ForeignText;

use super::node::{At, Node};
use super::record::{AccountantRecordError, GaussianPhase, MOST_STEPS};

/// The object of `state_dict()`.
pub(super) fn state(
    fields: &[(String, Node)],
    at: &At,
) -> Result<Vec<GaussianPhase>, AccountantRecordError> {
    let mut found = None;
    for (key, value) in fields {
        let place = at.field(key);
        match key.as_str() {
            "history" => found = Some(history(value, &place)?),
            "mechanism" => {
                value.text(&place)?;
            }
            _ => {
                return Err(place.error(
                    "unknown field; the state of an accountant has `history` and `mechanism`",
                ));
            }
        }
    }
    found.ok_or_else(|| at.error("`history` is missing"))
}

/// A list of [noise_multiplier, sample_rate, steps].
pub(super) fn history(node: &Node, at: &At) -> Result<Vec<GaussianPhase>, AccountantRecordError> {
    let entries = node.list(at)?;
    if entries.is_empty() {
        return Err(at.error("the history is empty; save it after training"));
    }
    let mut phases: Vec<GaussianPhase> = Vec::new();
    let mut total = 0_u64;
    for (index, entry) in entries.iter().enumerate() {
        let place = at.item(index);
        let [noise, rate, steps] = entry.list(&place)? else {
            return Err(place.error("expected [noise_multiplier, sample_rate, steps]"));
        };
        let noise_multiplier = noise.number(&place.item(0))?;
        if !(noise_multiplier > 0.0) {
            return Err(place.item(0).error(format!(
                "is {noise_multiplier:?}; without noise there is no finite epsilon"
            )));
        }
        let sampling_rate = rate.positive(&place.item(1))?;
        if sampling_rate > 1.0 {
            let shown = ForeignText::new(format!("{sampling_rate:?}"));
            return Err(place.item(1).error(format!("is {shown}; a sampling rate is at most 1")));
        }
        let steps = steps.whole(&place.item(2))?;
        total = total.saturating_add(steps);
        if total > MOST_STEPS {
            return Err(place.item(2).error("more than 1e9 steps in all"));
        }
        if steps > 0 {
            phases.push(GaussianPhase { noise_multiplier, sampling_rate, steps });
        }
    }
    if phases.is_empty() {
        return Err(at.error("the history has no steps; save it after training"));
    }
    Ok(phases)
}

//! What recorded outputs show of an epoch, in words.

use dpscope_core::format::rounded;
use dpscope_core::recorded::{OutputParameter, OutputPhase};

/// The name of a phase, its epochs counted from 1.
#[must_use]
pub fn phase_in_words([first, last]: [u32; 2]) -> String {
    match first == last {
        true => format!("epoch {}", first + 1),
        false => format!("epochs {}–{}", first + 1, last + 1),
    }
}

/// The number of a step, from 1, as epochs are counted. Options and JSON count from 0.
pub(crate) const fn step_number(step: u32) -> u32 {
    step.saturating_add(1)
}

/// The name of neighbouring steps.
pub(super) fn steps_in_words([first, last]: [u32; 2]) -> String {
    let [first, last] = [first, last].map(step_number);
    match first == last {
        true => format!("step {first}"),
        false => format!("steps {first}–{last}"),
    }
}

/// Noise, uses and size of the target, or only the product of uses and size if the outputs show no more.
#[must_use]
pub fn phase_text(phase: &OutputPhase) -> String {
    let target = match (phase.uses, phase.size) {
        (Some(uses), Some(size)) => {
            format!("uses {}, size {}", rounded(uses.value, 2), rounded(size.value, 2))
        }
        _ => format!("uses × size {}", rounded(phase.uses_times_size, 2)),
    };
    format!("noise {}, {target}", with_limits(&phase.noise, 3))
}

/// A parameter with its confidence limits, or alone if it is known.
pub(super) fn with_limits(found: &OutputParameter, digits: usize) -> String {
    let OutputParameter { value, lower, upper } = *found;
    let [value, lower, upper] = [value, lower, upper].map(|number| rounded(number, digits));
    match lower == upper {
        true => value,
        false => format!("{value} ({lower} to {upper})"),
    }
}

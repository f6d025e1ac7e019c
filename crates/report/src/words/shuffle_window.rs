//! What recorded outputs say about the size of a shuffle buffer.

use dpscope_core::recorded::ShuffleWindow;

/// How many of the first batches the outputs indicate were shuffled.
#[must_use]
pub fn shuffle_window_sentence(found: &ShuffleWindow) -> String {
    let ShuffleWindow { prefix, steps_per_epoch, ln_evidence, ln_needed, significance } = *found;
    if found.is_significant() {
        format!(
            "the outputs indicate a shuffle within the first {prefix} of {steps_per_epoch} batches: \
             the likelihood ratio against a shuffle over all of them is e^{ln_evidence:.1}; under \
             such a shuffle it exceeds e^{ln_needed:.1} with probability at most {significance}, \
             even if something else shifts a step's outputs alike in all runs of both worlds"
        )
    } else {
        format!(
            "the outputs are consistent with a shuffle over all {steps_per_epoch} batches, \
             which proves nothing (largest likelihood ratio e^{ln_evidence:.1}, for the first {prefix})"
        )
    }
}

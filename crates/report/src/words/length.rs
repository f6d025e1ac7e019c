//! Lengths of training runs in words.

use dpscope_core::accounting::Schedule;

use crate::number::{counted, grouped};

/// E, with the steps of an incomplete epoch.
#[must_use]
pub fn epochs_in_words(run: &Schedule) -> String {
    let epochs = grouped(run.whole.epochs);
    match run.partial_epoch_steps {
        0 => epochs,
        steps => format!("{epochs} + {}/{}", grouped(steps), grouped(run.whole.steps_per_epoch)),
    }
}

/// Which values are of how many epochs; none for whole epochs.
#[must_use]
pub fn rounding_sentence(run: &Schedule) -> Option<String> {
    run.as_whole().is_none().then(|| {
        format!(
            "Poisson accounting covers all {}; upper values are of {}, lower values and estimates of \
             {}",
            counted(run.steps(), "step"),
            counted(run.rounded_up().epochs, "epoch"),
            counted(run.whole.epochs, "epoch")
        )
    })
}

//! What a device returns about a trained model.

use dpscope_core::math;

use crate::data::Examples;
use crate::one_run::{Evaluation, OneRunTraining};

/// Losses of canaries and held-out records, from the outputs of a model.
pub(super) fn evaluation(training: &OneRunTraining, losses: &[f32]) -> Evaluation {
    let loss = |words: &[f32]| {
        let (sum, gap) = (f64::from(words[0]), f64::from(words[1]));
        // the label's logit is the largest
        let gap = if gap < 0.0 { 0.0 } else { gap };
        math::ln(sum) + gap
    };
    let mut records = losses.chunks_exact(2);
    let canaries = records.by_ref().take(training.canaries().len()).map(loss).collect();
    let held_out = training.base().held_out().map_or(0, Examples::len);
    let held_out: Vec<&[f32]> = records.take(held_out).collect();
    Evaluation {
        canaries,
        held_out_loss: held_out.iter().map(|words| loss(words)).sum(),
        evaluated: held_out.len() as u64,
        correct: held_out.iter().filter(|words| words[1] < 0.0).count() as u64,
    }
}

//! The trainings behind an audit of one run.

use dpscope_core::mechanism::BatchedGaussian;
use serde::{Deserialize, Serialize};

use super::{SeedSource, TheoryComparison};
use crate::words::CanaryScoreKind;

/// Trainings with canaries, and what an accountant claims of each of them.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OneRunTrainings {
    /// Noise, batches and length of a training.
    pub mechanism: BatchedGaussian,
    /// Model, data, canaries and settings.
    pub description: serde_json::Value,
    /// Canaries of each training.
    pub canaries: u32,
    /// The score by which canaries are ranked.
    pub score: CanaryScoreKind,
    /// Further trainings, with coins of their own, that calibrate the scores.
    pub reference_models: u32,
    /// Trainings that diverged.
    pub failed: u64,
    /// Share of held-out examples that audited models classify correctly.
    pub correct_share: Option<f64>,
    /// Predictions on held-out examples, over all audited models.
    pub asked: u64,
    /// Each audited training alone. No statement is made about them: the bounds of the report are
    /// about all of them together.
    pub repeats: Vec<RepeatRecord>,
    /// The ε of the repeats; none where there is only one.
    pub summary: Option<RepeatSummary>,
    /// What theory says of a training at the first δ.
    pub theory: TheoryComparison,
    /// Median ε of an ideal attack on a Gaussian mechanism with the accounted ε, with these canaries and
    /// the best number of guesses; none where nothing finite is accounted.
    pub ideal_attack_epsilon: Option<f64>,
    /// Seed of every random word, a decimal number below 2⁵³.
    pub seed: String,
    /// Where the seed comes from.
    pub seed_source: SeedSource,
    /// Devices that trained.
    pub device: String,
    /// Trainings in the state that was resumed.
    pub resumed_from: Option<u64>,
}

/// One audited training alone.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RepeatRecord {
    /// Lower bound on ε at the first δ; none if the training diverged.
    pub epsilon: Option<f64>,
    /// Share of the pairs of an included and another canary in which the included one has the larger
    /// score.
    pub auc: Option<f64>,
    /// Share of held-out examples classified correctly.
    pub correct_share: Option<f64>,
}

/// The lower bounds of single trainings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RepeatSummary {
    /// Their median, the lower of two.
    pub median: f64,
    /// The smallest.
    pub smallest: f64,
    /// The largest; not a bound at the stated confidence.
    pub largest: f64,
    /// Trainings whose bound is above the claim; none without a claim.
    pub above_claim: Option<u64>,
}

impl RepeatSummary {
    /// Summary of the repeats that did not diverge; none of fewer than two.
    #[must_use]
    pub fn of(repeats: &[RepeatRecord], claim: Option<f64>) -> Option<Self> {
        let mut values: Vec<f64> = repeats.iter().filter_map(|repeat| repeat.epsilon).collect();
        values.sort_unstable_by(f64::total_cmp);
        let [smallest, .., largest] = values[..] else { return None };
        let above = |claim| values.iter().filter(|&&epsilon| epsilon > claim).count() as u64;
        let above_claim = claim.map(above);
        Some(Self { median: values[(values.len() - 1) / 2], smallest, largest, above_claim })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_orders_the_repeats_and_counts_those_above_the_claim() {
        let repeat = |epsilon| RepeatRecord { epsilon, auc: None, correct_share: None };
        let repeats = [Some(0.5), None, Some(0.0), Some(2.0), Some(0.7)].map(repeat);
        let expected =
            RepeatSummary { median: 0.5, smallest: 0.0, largest: 2.0, above_claim: Some(2) };
        assert_eq!(RepeatSummary::of(&repeats, Some(0.5)), Some(expected));
        assert_eq!(RepeatSummary::of(&repeats[..2], None), None);
    }
}

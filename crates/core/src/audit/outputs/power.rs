//! Whether the attack sees what its threat model assumes: a canary of size 1, batches of the assumed
//! mean, and scores that are likelihood ratios.

use super::RecordedOutputs;
use crate::adjacency::World;
use crate::audit::finding::Finding;
use crate::audit::slope::ScoreSlope;
use crate::recorded::independence::FALSE_ALARM;
use crate::recorded::{CanaryEstimate, CanarySize, OtherBatchMean};

/// Significance of each of the three checks, so that correct code has a finding with probability at
/// most [`FALSE_ALARM`].
const SIGNIFICANCE: f64 = FALSE_ALARM / 3.0;

/// Sizes that count as one clip norm.
const SIZE: [f64; 2] = [0.9, 1.1];

/// Slopes that count as 1: what a training adds to the idealised outputs changes the scores a little.
const SLOPE: [f64; 2] = [0.5, 2.0];

impl RecordedOutputs<'_> {
    /// The size of the canary at the steps where the sampler may put the target.
    pub(super) fn canary(&self) -> Option<CanaryEstimate> {
        CanaryEstimate::of(self.target, self.zero_out, self.scorer.target_steps())
    }

    /// The finding that explains the others, if there is one: a wrong sign, then a wrong threat model,
    /// then the size of the canary, then the slope.
    ///
    /// # Guarantee
    /// Correct code has a finding with probability about [`FALSE_ALARM`] at most
    /// (`unit::correct_code_has_no_finding`).
    pub(super) fn power(&self, slope: Option<ScoreSlope>) -> Option<Finding> {
        let canary = self.canary();
        let size = canary.map(|canary| canary.size(SIGNIFICANCE));
        let other = OtherBatchMean::of(self.scorer, self.zero_out, SIGNIFICANCE);
        let other = other.filter(OtherBatchMean::differs);
        if let Some((canary, size)) = canary.zip(size) {
            let is_negated = other.map_or_else(
                || self.is_nearer_to_negated(canary.mean_sums()),
                |other| other.is_negated(),
            );
            match size.upper < 0.0 {
                true if is_negated => return Some(Finding::OutputsNegated { size }),
                true if other.is_none() => return Some(Finding::WorldsSwapped { size }),
                false if other.is_some() && is_negated => {
                    return Some(Finding::OutputsNegated { size });
                }
                _ => {}
            }
        }
        if let Some(mean) = other {
            let threat_model = mean.threat_model(self.scorer.mechanism());
            return Some(Finding::OtherBatchesDiffer { mean, threat_model });
        }
        let slope = slope.filter(|slope| is_outside(slope.interval(SIGNIFICANCE), SLOPE));
        match (size, slope) {
            (Some(size), _) if is_outside([size.lower, size.upper], SIZE) => {
                Some(if contains_zero([size.lower, size.upper]) {
                    Finding::NoCanary { size, slope: None }
                } else {
                    Finding::CanarySizeDiffers { size }
                })
            }
            (Some(size), Some(slope)) if is_absent(size, slope) => {
                Some(Finding::NoCanary { size, slope: Some(slope) })
            }
            (_, slope) => slope.map(|slope| Finding::SlopeDiffers { slope }),
        }
    }

    /// Whether the sums of both worlds are nearer to the expected ones with the other sign than to those
    /// of swapped worlds.
    fn is_nearer_to_negated(&self, sums: [f64; 2]) -> bool {
        let steps = self.scorer.target_steps();
        let expected = World::BOTH.iter().flat_map(|world| {
            steps.clone().map(|step| self.scorer.expected_output(*world, step).unwrap_or(0.0))
        });
        (sums[0] + sums[1]) * expected.sum::<f64>() < 0.0
    }
}

fn is_absent(size: CanarySize, slope: ScoreSlope) -> bool {
    contains_zero([size.lower, size.upper]) && contains_zero(slope.interval(SIGNIFICANCE))
}

fn contains_zero([lower, upper]: [f64; 2]) -> bool {
    (lower..=upper).contains(&0.0)
}

fn is_outside([lower, upper]: [f64; 2], [least, most]: [f64; 2]) -> bool {
    upper < least || lower > most
}

#[cfg(test)]
mod tests;

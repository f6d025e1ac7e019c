//! The distribution of a score: the input of every score kernel.

use super::{MechanismError, log_ratio};

/// The distribution of one observation's score, reduced to the entries that the score uses.
///
/// All values are in units of the clip norm. An *entry* is one noisy output, centred on the mean
/// `a` of the target's batch in D: with x = o − a, an entry is N(0, σ²) at the target's slot in D,
/// N(−1, σ²) there in D′ (every threat model has a − c = 1), and N(−`gap`, σ²) elsewhere in both
/// worlds.
///
/// Persistent shuffle and deterministic batching are reduced here: sums over epochs are sufficient
/// statistics, so they are one epoch at σ/√E.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreDistribution {
    /// Noise standard deviation ÷ clip norm, after reduction; finite, > 0.
    pub noise_multiplier: f64,
    /// Independent epochs, whose scores add; ≥ 1.
    pub epochs: u32,
    /// Entries per epoch that the score uses, ≥ 1; indices are epoch-major.
    pub entries: u32,
    /// How the score is formed.
    pub kind: ScoreDistributionKind,
}

/// How entries are drawn and scored.
#[derive(Debug, Clone, PartialEq)]
pub enum ScoreDistributionKind {
    /// The target's batch falls in exactly one slot of each epoch.
    ///
    /// Score of an epoch, with g = `gap`, w = the slot weights and any centre m:
    ///
    /// (m + ½)/σ² + ln Σ w_t·exp(g(x_t − m)/σ²) − ln Σ w_t·exp((g − 1)(x_t − m)/σ²)
    OneSlot {
        /// a − b: 2 (worst case, partially informed), 1 (target canary, balls-in-bins) or 2B
        /// (batch-then-shuffle).
        gap: f64,
        /// Where the target's batch falls.
        weights: SlotWeights,
    },
    /// The target is in each step independently (E·T of them; `entries` = T). Score of a step,
    /// with o = x + 1 (so that o is N(1, σ²) where the target is in, N(0, σ²) elsewhere and
    /// everywhere in D′): log1p(q·expm1((2o − 1)/(2σ²))).
    Poisson {
        /// Inclusion probability q, in (0, 1].
        sampling_rate: f64,
    },
    /// The target, or ⊥ in its place, is in each step independently, and every other record has the
    /// gradient −1. Score of a step, with o = x + 2 (N(2, σ²) where the target is in, N(1, σ²)
    /// where ⊥ is, N(0, σ²) elsewhere):
    ///
    /// log1p(q·expm1(2(o − 1)/σ²)) − log1p(q·expm1((2o − 1)/(2σ²)))
    FixedSize {
        /// Inclusion probability q, in (0, 1].
        sampling_rate: f64,
    },
    /// The target is in k of the T steps of each epoch, a uniform set of them; outputs as for
    /// Poisson. The score is that of Poisson sampling at q = k/T, which is not the likelihood ratio:
    /// that of 2 ≤ k < T is a mean over all sets of k steps. By symmetry a simulation places the
    /// target at the entries 0 to k − 1.
    SeveralSlots {
        /// k, from 1 to `entries`.
        uses_per_epoch: u32,
    },
}

/// The distribution of the target's slot within an epoch.
#[derive(Debug, Clone, PartialEq)]
pub enum SlotWeights {
    /// Uniform over the entries; by symmetry a simulation places the target at entry 0.
    Uniform,
    /// One probability per entry, each > 0, with a sum ≤ 1; otherwise the target is in a slot that
    /// the score does not use. A simulation draws the slot.
    Weighted(Vec<f64>),
}

impl SlotWeights {
    /// The weights, if they are not uniform.
    #[must_use]
    pub fn as_slice(&self) -> Option<&[f64]> {
        match self {
            SlotWeights::Uniform => None,
            SlotWeights::Weighted(weights) => Some(weights),
        }
    }
}

impl ScoreDistribution {
    /// Normals per simulated observation, E·`entries`.
    #[must_use]
    pub const fn normals_per_observation(&self) -> u64 {
        self.epochs as u64 * self.entries as u64
    }

    /// Whether the score is the log-likelihood ratio of the worlds, whose log-odds have slope 1 on it.
    #[must_use]
    pub const fn is_likelihood_ratio(&self) -> bool {
        match self.kind {
            ScoreDistributionKind::SeveralSlots { uses_per_epoch } => {
                uses_per_epoch == self.entries
            }
            _ => true,
        }
    }

    /// q: the probability that a step includes the target, where each step is scored alone.
    #[must_use]
    pub fn sampling_rate(&self) -> Option<f64> {
        match self.kind {
            ScoreDistributionKind::OneSlot { .. } => None,
            ScoreDistributionKind::Poisson { sampling_rate }
            | ScoreDistributionKind::FixedSize { sampling_rate } => Some(sampling_rate),
            ScoreDistributionKind::SeveralSlots { uses_per_epoch } => {
                Some(f64::from(uses_per_epoch) / f64::from(self.entries))
            }
        }
    }

    /// The score of one observation in nats, from its centred entries.
    ///
    /// log Λ = Σ_epochs (score of the epoch), each as [`ScoreDistributionKind`] defines it; for 2 ≤ k < T
    /// slots of an epoch the sum is a statistic, not log Λ
    ///
    /// | argument | meaning | shape | unit |
    /// |---|---|---|---|
    /// | `centred` | x = o − a, epoch-major | E × `entries` | clip norm |
    ///
    /// # Guarantee
    /// Where [`is_likelihood_ratio`](Self::is_likelihood_ratio), equal to the ratio of the two worlds'
    /// densities at 50 digits; test
    /// `tests/agreement/scores.rs::scores_match_the_oracle`.
    ///
    /// # Errors
    /// A wrong number of entries or weights, an entry that is not finite, a score that overflows.
    ///
    /// # Numerics
    /// Centred on the largest exponent of each epoch, log1p and expm1 where the ratio is near 1:
    /// absolute error within 1e-13·max(1, Σ_epochs (|max x| + ½)/σ²).
    ///
    /// # Reference
    /// Annamalai, Balle, Hayes, De Cristofaro, "To Shuffle or not to Shuffle: Auditing DP-SGD with
    /// Shuffling".
    ///
    /// # Example
    /// ```
    /// use dpscope_core::mechanism::{ScoreDistributionKind, ScoreDistribution, SlotWeights};
    ///
    /// let distribution = ScoreDistribution {
    ///     noise_multiplier: 1.0,
    ///     epochs: 1,
    ///     entries: 3,
    ///     kind: ScoreDistributionKind::OneSlot { gap: 2.0, weights: SlotWeights::Uniform },
    /// };
    /// let score = distribution.score(&[0.5, -2.0, -1.5])?;
    /// assert_eq!(format!("{score:.6}"), "0.828011");
    /// # Ok::<(), dpscope_core::mechanism::MechanismError>(())
    /// ```
    pub fn score(&self, centred: &[f64]) -> Result<f64, MechanismError> {
        let expected = self.normals_per_observation();
        if centred.len() as u64 != expected || expected == 0 {
            return Err(MechanismError::OutputCount { actual: centred.len(), expected });
        }
        check_finite(centred, self.entries as usize)?;
        self.check_weights()?;
        let score =
            centred.chunks_exact(self.entries as usize).map(|x| self.epoch_score(x, 0.0)).sum();
        finite_score(score)
    }

    /// The score of an epoch in which the target's batch has mean `mean_target` in D.
    pub(super) fn epoch_score(&self, outputs: &[f64], mean_target: f64) -> f64 {
        let variance = self.noise_multiplier * self.noise_multiplier;
        let rate = self.sampling_rate().unwrap_or(f64::NAN);
        match &self.kind {
            ScoreDistributionKind::OneSlot { gap, weights } => {
                log_ratio::one_slot(*gap, variance, weights.as_slice(), outputs, mean_target)
            }
            ScoreDistributionKind::FixedSize { .. } => outputs
                .iter()
                .map(|o| log_ratio::fixed_size_step(rate, variance, o - mean_target))
                .sum(),
            ScoreDistributionKind::Poisson { .. } | ScoreDistributionKind::SeveralSlots { .. } => {
                outputs
                    .iter()
                    .map(|o| log_ratio::poisson_step(rate, (o - mean_target + 0.5) / variance))
                    .sum()
            }
        }
    }

    fn check_weights(&self) -> Result<(), MechanismError> {
        let expected = self.entries as usize;
        match &self.kind {
            ScoreDistributionKind::OneSlot { weights: SlotWeights::Weighted(weights), .. }
                if weights.len() != expected =>
            {
                Err(MechanismError::WeightCount { actual: weights.len(), expected })
            }
            _ => Ok(()),
        }
    }
}

/// Returns an error with the place of the first value that is not finite.
pub(super) fn check_finite(outputs: &[f64], steps: usize) -> Result<(), MechanismError> {
    match outputs.iter().position(|output| !output.is_finite()) {
        None => Ok(()),
        Some(index) => Err(MechanismError::NonFiniteOutput {
            epoch: index / steps.max(1),
            step: index % steps.max(1),
            value: outputs.get(index).copied().unwrap_or(f64::NAN),
        }),
    }
}

pub(super) fn finite_score(value: f64) -> Result<f64, MechanismError> {
    if value.is_finite() { Ok(value) } else { Err(MechanismError::NonFiniteScore { value }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distribution(kind: ScoreDistributionKind) -> ScoreDistribution {
        ScoreDistribution { noise_multiplier: 2.0, epochs: 2, entries: 3, kind }
    }

    #[test]
    fn epochs_add() {
        let distribution = distribution(ScoreDistributionKind::OneSlot {
            gap: 2.0,
            weights: SlotWeights::Uniform,
        });
        let one = ScoreDistribution { epochs: 1, ..distribution.clone() };
        let (first, second) = ([0.1, -2.0, -3.5], [-1.0, 2.0, 0.25]);
        let both = distribution.score(&[first, second].concat()).unwrap();
        assert_eq!(both, one.score(&first).unwrap() + one.score(&second).unwrap());
        assert_eq!(distribution.normals_per_observation(), 6);
    }

    #[test]
    fn poisson_is_centred_on_the_target() {
        // x = −½ is o = ½, where both worlds are equally likely whatever q.
        let distribution = distribution(ScoreDistributionKind::Poisson { sampling_rate: 0.25 });
        assert_eq!(distribution.score(&[-0.5; 6]), Ok(0.0));
    }

    #[test]
    fn fixed_size_is_centred_on_the_target() {
        // x = −½ is o = 3/2, halfway between the means of the target and of ⊥: at q = 1 they are
        // equally likely there.
        let sure = distribution(ScoreDistributionKind::FixedSize { sampling_rate: 1.0 });
        assert_eq!(sure.score(&[-0.5; 6]), Ok(0.0));
        // o = 0 at σ = 2, q = ¼: ln(¾ + ¼e^{−1/2}) − ln(¾ + ¼e^{−1/8}).
        let rare = distribution(ScoreDistributionKind::FixedSize { sampling_rate: 0.25 });
        let part = |exponent: f64| crate::math::ln(0.75 + 0.25 * crate::math::exp(exponent));
        let expected = 6.0 * (part(-0.5) - part(-0.125));
        assert!((rare.score(&[-2.0; 6]).unwrap() - expected).abs() < 1e-14);
    }

    #[test]
    fn several_slots_are_scored_as_poisson_at_their_rate() {
        let allocated = distribution(ScoreDistributionKind::SeveralSlots { uses_per_epoch: 2 });
        let poisson = distribution(ScoreDistributionKind::Poisson { sampling_rate: 2.0 / 3.0 });
        let centred = [0.3, -1.0, 2.0, -0.5, 0.0, 1.5];
        assert_eq!(allocated.score(&centred), poisson.score(&centred));
    }

    #[test]
    fn a_broken_observation_is_refused_with_its_place() {
        let distribution = distribution(ScoreDistributionKind::OneSlot {
            gap: 2.0,
            weights: SlotWeights::Uniform,
        });
        assert_eq!(
            distribution.score(&[0.0; 5]),
            Err(MechanismError::OutputCount { actual: 5, expected: 6 })
        );
        let mut centred = [0.0; 6];
        centred[4] = f64::NEG_INFINITY;
        assert_eq!(
            distribution.score(&centred),
            Err(MechanismError::NonFiniteOutput { epoch: 1, step: 1, value: f64::NEG_INFINITY })
        );
        let narrow = ScoreDistribution { noise_multiplier: 0.2, ..distribution };
        assert!(matches!(narrow.score(&[1e308; 6]), Err(MechanismError::NonFiniteScore { .. })));
    }

    #[test]
    fn weights_must_match_the_entries() {
        let weights = SlotWeights::Weighted(vec![0.5, 0.5]);
        let distribution = distribution(ScoreDistributionKind::OneSlot { gap: 2.0, weights });
        assert_eq!(
            distribution.score(&[0.0; 6]),
            Err(MechanismError::WeightCount { actual: 2, expected: 3 })
        );
    }

    #[test]
    fn an_empty_distribution_is_refused() {
        let distribution = ScoreDistribution {
            entries: 0,
            ..distribution(ScoreDistributionKind::Poisson { sampling_rate: 0.5 })
        };
        assert!(distribution.score(&[]).is_err());
    }
}

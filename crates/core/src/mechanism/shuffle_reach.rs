//! How far into an epoch a shuffle reaches, told from recorded outputs.

use super::{BatchSampler, MechanismError, OutputScorer, partial_shuffle_candidates};
use crate::adjacency::World;
use crate::math;

/// What recorded outputs say of a shuffle that may reach the first k of T batches only.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ShuffleReach {
    /// k: of the numbers tried, the one that the outputs speak for most.
    pub prefix: u32,
    /// T.
    pub steps_per_epoch: u32,
    /// ln of the likelihood ratio of k batches against all T, over all runs.
    pub ln_evidence: f64,
    /// What a shuffle over all T batches exceeds with the chance `significance` at most, whichever of
    /// the numbers is looked at.
    pub ln_needed: f64,
    /// Shared over the numbers that were tried.
    pub significance: f64,
}

impl ShuffleReach {
    /// Whether a shuffle over all batches is refuted.
    #[must_use]
    pub fn is_shown(&self) -> bool {
        self.ln_evidence >= self.ln_needed
    }
}

/// Adds up what runs say of each number of first batches.
///
/// For a run whose target lies in batch t of an epoch, outputs have the density of the noise times
/// e^{l_t}, l_t = (m·(o_t − b) − m²/2)/σ², with m = a − b in D and c − b in D′. A shuffle within the
/// first k batches has the likelihood Σ_{t ≤ k} e^{l_t}/k, and over all T the same with k = T.
///
/// # Guarantee
/// Under a shuffle over all T batches with the mechanism's noise, independent runs, and batches whose
/// means are the idealised ones, each ratio of likelihoods has the mean 1, so that the largest of those of K numbers exceeds K/`significance` with
/// the chance `significance` at most (Markov and Bonferroni;
/// `unit::a_whole_shuffle_is_seldom_taken_for_less`). Where the other records' gradients move the
/// outputs by more in some steps than in others, it does not hold.
#[derive(Debug, Clone)]
pub struct ShuffleEvidence<'a> {
    scorer: &'a OutputScorer,
    prefixes: Vec<u32>,
    sums: Vec<f64>,
    losses: Vec<f64>,
}

impl<'a> ShuffleEvidence<'a> {
    /// Before the first run; none for a sampler that is no shuffle of records, and for one batch.
    #[must_use]
    pub fn new(scorer: &'a OutputScorer) -> Option<Self> {
        let mechanism = scorer.mechanism();
        let is_asked = matches!(
            mechanism.sampler,
            BatchSampler::Shuffle
                | BatchSampler::PartialShuffle { .. }
                | BatchSampler::SlidingBuffer { .. }
        );
        let steps = mechanism.steps_per_epoch;
        if !is_asked || steps < 2 {
            return None;
        }
        let mut prefixes = partial_shuffle_candidates(steps);
        prefixes.retain(|&prefix| prefix < steps);
        let sums = vec![0.0; prefixes.len()];
        Some(ShuffleEvidence { scorer, prefixes, sums, losses: Vec::new() })
    }

    /// Adds a run of a world.
    ///
    /// # Errors
    /// A wrong number of outputs, or an output that is not finite; nothing is added then.
    pub fn add(&mut self, world: World, outputs: &[f64]) -> Result<(), MechanismError> {
        self.scorer.check(outputs)?;
        let mechanism = self.scorer.mechanism();
        let (shift, other) = self.scorer.shift_and_other(world)?;
        if shift == 0.0 {
            return Ok(());
        }
        let variance = mechanism.noise_multiplier * mechanism.noise_multiplier;
        let steps = mechanism.steps_per_epoch as usize;
        for epoch in outputs.chunks_exact(steps) {
            let loss = |output: &f64| (shift * (output - other) - 0.5 * shift * shift) / variance;
            self.losses.clear();
            self.losses.extend(epoch.iter().map(loss));
            let whole = ln_mean_exp(&self.losses);
            for (sum, &prefix) in self.sums.iter_mut().zip(&self.prefixes) {
                *sum += ln_mean_exp(&self.losses[..prefix as usize]) - whole;
            }
        }
        Ok(())
    }

    /// What the runs say, at this chance of being wrong.
    #[must_use]
    pub fn reach(&self, significance: f64) -> Option<ShuffleReach> {
        let best = self.prefixes.iter().zip(&self.sums).max_by(|a, b| a.1.total_cmp(b.1))?;
        let ln_needed = math::ln(self.prefixes.len() as f64 / significance);
        let steps_per_epoch = self.scorer.mechanism().steps_per_epoch;
        let (&prefix, &ln_evidence) = best;
        Some(ShuffleReach { prefix, steps_per_epoch, ln_evidence, ln_needed, significance })
    }
}

/// ln of the mean of eˣ.
fn ln_mean_exp(values: &[f64]) -> f64 {
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = values.iter().map(|value| math::exp(value - top)).sum();
    top + math::ln(sum / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::{BatchedGaussian, OutputOptions, ThreatModel};
    use crate::special::normal;

    const STEPS: u32 = 20;

    fn scorer(threat_model: ThreatModel) -> OutputScorer {
        let mechanism = BatchedGaussian {
            noise_multiplier: 1.0,
            steps_per_epoch: STEPS,
            epochs: 2,
            sampler: BatchSampler::Shuffle,
            threat_model,
            batch_size: Some(5),
        };
        OutputScorer::new(&mechanism, OutputOptions::default()).unwrap()
    }

    /// Uniform in (0, 1), by a linear congruence of 64 bits.
    struct Uniforms(u64);

    impl Uniforms {
        fn next(&mut self) -> f64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((self.0 >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
        }
    }

    /// Evidence of `runs` runs a world whose target falls within the first `reach` batches.
    fn evidence(scorer: &OutputScorer, reach: u32, runs: u32, seed: u64) -> ShuffleReach {
        let mut uniforms = Uniforms(seed);
        let means = scorer.mechanism().batch_means().unwrap();
        let mut evidence = ShuffleEvidence::new(scorer).unwrap();
        for world in World::BOTH.repeat(runs as usize) {
            let mut outputs = Vec::new();
            for _ in 0..2 {
                let slot = (uniforms.next() * f64::from(reach)) as u32;
                let at_slot = if world == World::Target { means.target } else { means.zero_out };
                outputs.extend((0..STEPS).map(|step| {
                    let mean = if step == slot { at_slot } else { means.other };
                    mean + normal::quantile(uniforms.next())
                }));
            }
            evidence.add(world, &outputs).unwrap();
        }
        evidence.reach(0.05).unwrap()
    }

    #[test]
    fn a_whole_shuffle_is_seldom_taken_for_less() {
        for threat_model in [ThreatModel::PartiallyInformed, ThreatModel::TargetCanary] {
            let scorer = scorer(threat_model);
            let reached: Vec<ShuffleReach> =
                (0..300).map(|seed| evidence(&scorer, STEPS, 20, seed)).collect();
            // 15 in the mean at most, and fewer than 32 but once in 10⁴ times
            let shown = reached.iter().filter(|reach| reach.is_shown()).count();
            assert!(shown < 32, "{threat_model}: {shown}");
            // broken twin: a threshold of ½ refutes often
            let positive = reached.iter().filter(|reach| reach.ln_evidence > -0.7).count();
            assert!(positive >= 32, "{threat_model}: {positive}");
        }
    }

    #[test]
    fn a_short_buffer_is_told() {
        let scorer = scorer(ThreatModel::PartiallyInformed);
        for reach in [1, 2, 6, 10] {
            let found = evidence(&scorer, reach, 60, 5);
            assert!(found.is_shown(), "{found:?}");
            assert!((f64::from(found.prefix) / f64::from(reach) - 1.0).abs() < 0.5, "{found:?}");
        }
        assert!(!evidence(&scorer, STEPS, 60, 5).is_shown());
        assert!(!evidence(&scorer, 6, 0, 5).is_shown());
    }

    #[test]
    fn only_shuffles_are_asked_and_broken_runs_change_nothing() {
        let mut mechanism = *scorer(ThreatModel::TargetCanary).mechanism();
        let asked = |mechanism: &BatchedGaussian| {
            let scorer = OutputScorer::new(mechanism, OutputOptions::default()).unwrap();
            ShuffleEvidence::new(&scorer).is_some()
        };
        assert!(asked(&mechanism));
        mechanism.sampler = BatchSampler::Poisson;
        assert!(!asked(&mechanism));
        let scorer = scorer(ThreatModel::TargetCanary);
        let mut evidence = ShuffleEvidence::new(&scorer).unwrap();
        assert!(evidence.add(World::Target, &[0.0; 39]).is_err());
        let mut outputs = [0.0; 40];
        outputs[39] = f64::NAN;
        assert!(evidence.add(World::Target, &outputs).is_err());
        assert_eq!(evidence.reach(0.05).unwrap().ln_evidence, 0.0);
    }
}

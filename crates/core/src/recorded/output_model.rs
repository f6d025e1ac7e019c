//! Parameters of recorded outputs.

use crate::adjacency::World;
use crate::mechanism::OutputScorer;

/// Parameters of recorded outputs: a Gaussian mixture per step, on the scale of sums in clip norms.
///
/// | world | an output's distribution, p = uses ÷ T |
/// |---|---|
/// | D | (1 − p) N(b, σ²) + p N(b + κ, σ²) |
/// | D′ | (1 − p) N(b, σ²) + p N(b + ρκ, σ²) |
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutputModel {
    /// b: mean of the batches without the target.
    pub other_mean: f64,
    /// κ: what the target's batch adds to it in D.
    pub contrast: f64,
    /// ρ: what it adds in D′, as a share of κ.
    pub zero_out_share: f64,
    /// σ: standard deviation of the noise.
    pub noise_multiplier: f64,
    /// T p: batches of an epoch that contain the target, on average.
    pub uses: f64,
}

impl OutputModel {
    /// What a mechanism and its threat model state; none without the means of the batches.
    #[must_use]
    pub fn stated(scorer: &OutputScorer) -> Option<Self> {
        let (contrast, other_mean) = scorer.shift_and_other(World::Target).ok()?;
        let (in_zero_out, _) = scorer.shift_and_other(World::ZeroOut).ok()?;
        let steps = 0..scorer.mechanism().steps_per_epoch as usize;
        let uses: f64 = steps.map(|step| scorer.target_chance(step)).sum();
        let is_whole = (uses - uses.round()).abs() < 1e-9;
        Some(OutputModel {
            other_mean,
            contrast,
            zero_out_share: in_zero_out / contrast,
            noise_multiplier: scorer.mechanism().noise_multiplier,
            uses: if is_whole { uses.round() } else { uses },
        })
    }

    /// What the target's batch adds to b in D′: ρκ.
    pub(crate) fn in_zero_out(&self) -> f64 {
        self.zero_out_share * self.contrast
    }

    /// What the target adds in D and not in D′: κ(1 − ρ).
    pub(crate) fn size(&self) -> f64 {
        self.contrast - self.in_zero_out()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::{BatchSampler, BatchedGaussian, OutputOptions, ThreatModel};

    #[test]
    fn each_threat_model_has_its_means() {
        let stated = |sampler, threat_model| {
            let mechanism = BatchedGaussian {
                noise_multiplier: 0.7,
                steps_per_epoch: 10,
                epochs: 2,
                sampler,
                threat_model,
                batch_size: Some(8),
                dataset_size: None,
            };
            let scorer = OutputScorer::new(&mechanism, OutputOptions::default()).unwrap();
            let model = OutputModel::stated(&scorer).unwrap();
            assert_eq!(model.uses, 1.0);
            assert_eq!(model.noise_multiplier, 0.7);
            [model.other_mean, model.contrast, model.zero_out_share]
        };
        use BatchSampler::{Deterministic, PartialShuffle, Poisson, Shuffle};
        assert_eq!(stated(Poisson, ThreatModel::TargetCanary), [0.0, 1.0, 0.0]);
        assert_eq!(stated(Deterministic, ThreatModel::TargetCanary), [0.0, 1.0, 0.0]);
        assert_eq!(stated(Shuffle, ThreatModel::PartiallyInformed), [-1.0, 2.0, 0.5]);
        let partial = PartialShuffle { buffer_examples: 24 };
        assert_eq!(stated(partial, ThreatModel::WorstCase), [-8.0, 2.0, 0.5]);
    }
}

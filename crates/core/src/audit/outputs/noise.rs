//! Outputs without noise, reused noise and the size of the canary.

use super::RecordedOutputs;
use crate::adjacency::World;
use crate::audit::finding::Finding;
use crate::recorded::{CanaryEstimate, NoiseReuse, is_noiseless};

impl RecordedOutputs<'_> {
    /// Worlds without noise. Code that adds none adds none in either.
    pub(super) fn noiseless(&self) -> Vec<Finding> {
        let is_noiseless =
            |world: &World| is_noiseless(self.scorer, *world, self.world(*world).values());
        let worlds: Vec<World> = World::BOTH.into_iter().filter(is_noiseless).collect();
        match worlds[..] {
            [world] => vec![Finding::NoiseInOneWorld { without: world }],
            _ => worlds.into_iter().map(|world| Finding::NoNoise { world }).collect(),
        }
    }

    /// Noise that is the same at several steps, at the standard deviation that the outputs show: less
    /// noise than stated makes outputs nearly equal, too.
    pub(super) fn noise_reuse(&self, noise_multiplier: f64) -> Option<Finding> {
        let mut reuse = NoiseReuse::default();
        for run in self.target.runs().chain(self.zero_out.runs()) {
            reuse.add(run, noise_multiplier);
        }
        let share = reuse.share().filter(|_| reuse.is_reused())?;
        Some(Finding::NoiseReused { share, expected: NoiseReuse::expected() })
    }

    /// The size of the canary at the steps where the sampler may put the target.
    pub(super) fn canary(&self) -> Option<CanaryEstimate> {
        CanaryEstimate::of(self.target, self.zero_out, self.scorer.target_steps())
    }
}

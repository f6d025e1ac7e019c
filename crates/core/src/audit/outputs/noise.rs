//! Outputs without noise, reused noise and the size of the canary.

use super::RecordedOutputs;
use crate::adjacency::World;
use crate::audit::finding::Finding;
use crate::recorded::{CanaryEstimate, NoiseReuse, NoiselessCells};

impl RecordedOutputs<'_> {
    /// The epochs and steps without noise.
    pub(super) fn noiseless_cells(&self) -> NoiselessCells {
        let runs = [self.target, self.zero_out].map(|runs| runs.runs());
        NoiselessCells::of(self.scorer, runs, self.shape())
    }

    /// Worlds without noise. Code that adds none adds none in either.
    pub(super) fn noiseless(&self, cells: &NoiselessCells) -> Vec<Finding> {
        let worlds: Vec<World> =
            World::BOTH.into_iter().filter(|world| cells.is_whole(*world)).collect();
        match worlds[..] {
            [world] => vec![Finding::NoiseInOneWorld { without: world }],
            _ => worlds.into_iter().map(|world| Finding::NoNoise { world }).collect(),
        }
    }

    /// Noise that is the same at several steps or in several epochs, at the least standard deviation that the
    /// outputs show: less noise than stated makes outputs nearly equal, too. Equal outputs without noise are
    /// not counted.
    pub(super) fn noise_reuse(&self, least_noise: f64, cells: &NoiselessCells) -> Option<Finding> {
        let [mut of_steps, mut of_epochs] = [NoiseReuse::default(); 2];
        let mut outputs = Vec::new();
        for run in self.target.runs().chain(self.zero_out.runs()) {
            outputs.clear();
            outputs.extend(run.iter().enumerate().map(|(cell, &output)| {
                // ignored, with the other one of its pair
                if cells.contains(cell) { f64::NAN } else { output }
            }));
            of_steps.add_steps(&outputs, least_noise);
            of_epochs.add_epochs(&outputs, self.steps_per_epoch() as usize, least_noise);
        }
        let mut kinds = [(of_steps, false), (of_epochs, true)].into_iter();
        let (reuse, is_over_epochs) = kinds.find(|(reuse, _)| reuse.is_reused())?;
        let expected = NoiseReuse::expected();
        Some(Finding::NoiseReused { share: reuse.share()?, expected, is_over_epochs })
    }

    /// The size of the canary at the steps where the sampler may put the target.
    pub(super) fn canary(&self) -> Option<CanaryEstimate> {
        CanaryEstimate::of(self.target, self.zero_out, self.scorer.target_steps())
    }
}

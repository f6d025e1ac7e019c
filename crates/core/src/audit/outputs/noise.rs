//! Faults of the noise, and the shuffle window.

use super::RecordedOutputs;
use crate::adjacency::World;
use crate::audit::finding::Finding;
use crate::recorded::{NoiseReuse, OutputSpread, ShuffleEvidence, ShuffleWindow, is_noiseless};

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

    /// A fault of the noise. Less noise explains outputs that are nearly equal.
    pub(super) fn noise_fault(&self) -> Option<Finding> {
        let noise_multiplier = self.scorer.mechanism().noise_multiplier;
        let (mut spread, mut reuse) = (OutputSpread::default(), NoiseReuse::default());
        for (target, zero_out) in self.pairs() {
            spread.add(target, zero_out, noise_multiplier);
        }
        for run in self.target.runs().chain(self.zero_out.runs()) {
            reuse.add(run, noise_multiplier);
        }
        let less = spread.ratio().filter(|_| spread.is_too_small());
        let reused = reuse.share().filter(|_| reuse.is_reused());
        let expected = NoiseReuse::expected();
        less.map(|ratio| Finding::OutputsVaryLessThanNoise { ratio })
            .or(reused.map(|share| Finding::NoiseReused { share, expected }))
    }

    /// The shuffle window; pairs with a run without a finite score are left out.
    pub(super) fn shuffle_window(&self, significance: f64) -> Option<ShuffleWindow> {
        let mut evidence = ShuffleEvidence::new(self.scorer)?;
        for (target, zero_out) in self.pairs() {
            let _ = evidence.add(target, zero_out); // counted as failed
        }
        evidence.window(significance)
    }

    /// Pairs runs of the first half of one world with runs of the second half of the other: if both
    /// worlds used the same seeds, run i of one and run i of the other are not independent.
    fn pairs(&self) -> impl Iterator<Item = (&[f64], &[f64])> {
        let half = self.target.len().min(self.zero_out.len()) / 2;
        self.target.runs().take(half).zip(self.zero_out.runs().skip(half))
    }
}

//! The sampler that the outputs show, compared with the one that was passed.

use super::RecordedOutputs;
use crate::adjacency::World;
use crate::audit::finding::Finding;
use crate::mechanism::{
    BatchSampler, ScoreDistributionKind, SlotWeights, partial_shuffle_candidates,
};
use crate::recorded::independence::RecordedRuns;
use crate::recorded::{
    Cells, OutputModel, Placement, PlacementCandidates, RecordedUses, SamplerContradiction,
    SamplerEvidence,
};

impl RecordedOutputs<'_> {
    /// The likelihoods of samplers under a fitted model, else the stated one, of outputs without a drift;
    /// none for one step per epoch, and for a target that is used several times per epoch. Worlds that
    /// share their noise are not independent: the first half of one is compared with the second half of
    /// the other.
    pub(super) fn sampler_evidence(
        &self,
        cells: &Cells,
        fitted: Option<OutputModel>,
        is_noise_shared: bool,
    ) -> Option<SamplerEvidence> {
        let model = fitted.or_else(|| OutputModel::stated(self.scorer))?;
        let steps = self.steps_per_epoch();
        let passed = self.placement()?;
        let mut placements = vec![Placement::Shuffle, Placement::Poisson];
        if self.scorer.mechanism().epochs > 1 {
            placements.push(Placement::PersistentShuffle);
        }
        placements.push(Placement::FixedStep);
        let prefixes = partial_shuffle_candidates(steps).into_iter();
        // a shuffle of one batch is a fixed order
        let shorter = prefixes.filter(|batches| (2..steps).contains(batches));
        placements.extend(shorter.map(|batches| Placement::FirstBatches { batches }));
        if !placements.contains(&passed) {
            placements.push(passed);
        }
        let weights = self.buffer_weights().unwrap_or_default();
        let candidates =
            PlacementCandidates { placements: &placements, rate: self.rate(), weights };
        let worlds = World::BOTH.map(|world| cells.runs(world));
        let [target, zero_out] = match is_noise_shared {
            false => worlds,
            true => halves(worlds),
        };
        SamplerEvidence::of(target, zero_out, &model, candidates)
    }

    /// The recorded uses, compared with those of the sampler.
    pub(super) fn recorded_uses(&self) -> Option<RecordedUses> {
        RecordedUses::of(self.uses?, self.rate())
    }

    /// The finding that the uses, if they were recorded, else the outputs refute the sampler that was
    /// passed; none for a search of buffers.
    pub(super) fn sampler_refuted(
        &self,
        uses: Option<&RecordedUses>,
        evidence: Option<&SamplerEvidence>,
    ) -> Option<Finding> {
        let passed = self.placement().filter(|_| !self.searches_buffer)?;
        match uses {
            Some(uses) => self.refuted_by_uses(uses, passed),
            None => self.refuted_by_outputs(evidence?, passed),
        }
    }

    fn refuted_by_uses(&self, uses: &RecordedUses, passed: Placement) -> Option<Finding> {
        let p_value = uses.p_value(passed);
        (p_value < SamplerEvidence::SIGNIFICANCE).then(|| Finding::SamplerRefuted {
            passed: self.scorer.mechanism().sampler.kind(),
            shown: uses.shown(SamplerEvidence::SIGNIFICANCE),
            by: SamplerContradiction::Uses { p_value, mean: uses.counts.mean },
        })
    }

    fn refuted_by_outputs(&self, evidence: &SamplerEvidence, passed: Placement) -> Option<Finding> {
        let significance = SamplerEvidence::SIGNIFICANCE;
        let (ln_ratio, ln_needed) =
            (evidence.ln_against(passed)?, evidence.ln_needed(significance));
        let steps = self.steps_per_epoch() as usize;
        let epoch_sums_z = evidence.epoch_sums.filter(|_| !evidence.is_of_differences);
        let epoch_sums_z = epoch_sums_z
            .map(|sums| sums.standard_errors(&evidence.model, passed, steps, self.rate()));
        (ln_ratio > ln_needed).then(|| Finding::SamplerRefuted {
            passed: self.scorer.mechanism().sampler.kind(),
            shown: evidence.shown(significance),
            by: SamplerContradiction::Outputs { ln_ratio, ln_needed, epoch_sums_z },
        })
    }

    /// How the sampler draws the target's steps; none if it is in each epoch several times, or always.
    pub(super) fn placement(&self) -> Option<Placement> {
        let mechanism = self.scorer.mechanism();
        if mechanism.steps_per_epoch < 2 {
            return None;
        }
        Some(match mechanism.sampler {
            sampler if sampler.kind().draws_each_step_anew() => Placement::Poisson,
            sampler if sampler.uses_per_epoch().is_some_and(|uses| uses > 1) => return None,
            BatchSampler::PersistentShuffle if mechanism.epochs == 1 => Placement::Shuffle,
            BatchSampler::PersistentShuffle => Placement::PersistentShuffle,
            BatchSampler::Deterministic => Placement::FixedStep,
            BatchSampler::PartialShuffle { .. } | BatchSampler::SlidingBuffer { .. } => {
                let steps = self.scorer.target_steps().len();
                match self.buffer_weights() {
                    Some(_) => Placement::Buffer,
                    None if steps == mechanism.steps_per_epoch as usize => Placement::Shuffle,
                    None => Placement::FirstBatches { batches: steps as u32 },
                }
            }
            BatchSampler::Shuffle | BatchSampler::BallsInBins | BatchSampler::BatchThenShuffle => {
                Placement::Shuffle
            }
            // once per epoch, at a uniform step
            sampler if sampler.uses_per_epoch() == Some(1) => Placement::Shuffle,
            _ => return None,
        })
    }

    /// The chance that a step contains the target: that of the sampler where it draws each step anew,
    /// else one use per epoch.
    fn rate(&self) -> f64 {
        let rate = self.scorer.distribution().sampling_rate();
        rate.unwrap_or_else(|| 1.0 / f64::from(self.steps_per_epoch()))
    }

    fn buffer_weights(&self) -> Option<&[f64]> {
        match &self.scorer.distribution().kind {
            ScoreDistributionKind::OneSlot { weights: SlotWeights::Weighted(weights), .. } => {
                Some(weights)
            }
            _ => None,
        }
    }
}

fn halves([target, zero_out]: [RecordedRuns<'_>; 2]) -> [RecordedRuns<'_>; 2] {
    let half = target.len().min(zero_out.len()) / 2;
    [target.part(0..half), zero_out.part(half..2 * half)]
}

//! One epoch, record by record: batches, noisy sums, scores.

use dpscope_core::adjacency::World;
use dpscope_core::mechanism::{
    BatchSampler, BatchedGaussian, OutputOptions, OutputReference, OutputScorer, SamplerKind,
    SamplerParameters,
};
use dpscope_core::random::{Purpose, Words};
use dpscope_core::training_check::TrainingError;
use dpscope_report::record::input::EpochSize;
use dpscope_shaders::random::stream_normals;
use dpscope_shaders::train::{Batches, EpochBatches};
use js_sys::Object;
use wasm_bindgen::prelude::*;

use crate::failure::{Failure, FailureKind};
use crate::input::{integer, named, read};
use crate::output::object;
use crate::seed::seed_or_fresh;

/// Records of an epoch, and uses of them.
const MAX_USES: u64 = 100_000;

/// Uses times steps: the draws of Poisson sampling.
const MAX_CHANCES: u64 = 10_000_000;

/// The content of a picture.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Epoch {
    pub(crate) records: u32,
    pub(crate) batches: Vec<u32>,
    pub(crate) offsets: Vec<u32>,
    pub(crate) dropped: Vec<u32>,
    pub(crate) dropped_offsets: Vec<u32>,
    pub(crate) target_batches: Vec<u32>,
    pub(crate) outputs: [Vec<f64>; 2],
    pub(crate) scores: [f64; 2],
}

/// Epoch `index` of a seed. Both worlds have the same batches and noise of their own; batches without
/// the target have mean 0.
///
/// # Errors
/// A size outside the mechanism's domain.
pub(crate) fn drawn(mechanism: &BatchedGaussian, seed: u64, index: u64) -> Result<Epoch, Failure> {
    let BatchedGaussian { sampler, noise_multiplier, steps_per_epoch: steps, .. } = *mechanism;
    let reference = OutputReference::OtherBatches;
    let scorer = OutputScorer::new(mechanism, OutputOptions { reference, target_slot: 0 })?;
    let means = mechanism.batch_means()?;
    // one order for all epochs
    let stream = if sampler == BatchSampler::PersistentShuffle { 0 } else { index };
    let mut drawn = EpochBatches::default();
    let mut words = Words::new(seed, Purpose::EpochOrder, stream);
    let batches = Batches::new(sampler, mechanism.batch_size.unwrap_or(1), steps);
    batches.draw_exactly(&mut words, &mut drawn);
    let records = batches.records();
    let batches = || (0..drawn.steps()).map(|step| drawn.members_at(step));
    let holds_target: Vec<bool> = batches().map(|batch| batch.contains(&0)).collect();
    let outputs =
        [(World::Target, means.target), (World::ZeroOut, means.zero_out)].map(|(world, mean)| {
            let stream = index.wrapping_mul(2).wrapping_add(world.index() as u64);
            let noise = stream_normals(seed, Purpose::EpochNoise, stream, drawn.steps());
            let output = |(z, &holds): (f32, &bool)| {
                let mean = if holds { mean - means.other } else { 0.0 };
                mean + noise_multiplier * f64::from(z)
            };
            noise.into_iter().zip(&holds_target).map(output).collect::<Vec<f64>>()
        });
    let scores = [scorer.score(&outputs[0])?, scorer.score(&outputs[1])?];
    let (batches, offsets) = concatenated(batches());
    let (dropped, dropped_offsets) =
        concatenated((0..drawn.steps()).map(|step| drawn.dropped_at(step)));
    let target_batches =
        (0..).zip(&holds_target).filter(|(_, holds)| **holds).map(|(batch, _)| batch).collect();
    Ok(Epoch {
        records,
        batches,
        offsets,
        dropped,
        dropped_offsets,
        target_batches,
        outputs,
        scores,
    })
}

/// All parts, one after the other, and where each begins and the last ends.
fn concatenated<'a>(parts: impl Iterator<Item = &'a [u32]>) -> (Vec<u32>, Vec<u32>) {
    let (mut all, mut offsets) = (Vec::new(), vec![0]);
    for part in parts {
        all.extend_from_slice(part);
        offsets.push(all.len() as u32);
    }
    (all, offsets)
}

fn mechanism_of(sampler: SamplerKind, size: &EpochSize) -> Result<BatchedGaussian, Failure> {
    let EpochSize { steps, batch_size, noise_multiplier, .. } = *size;
    let uses = u64::from(steps) * u64::from(batch_size);
    if let Some(dataset_size) = size.dataset_size.filter(|&size| size < batch_size.into()) {
        let batch_size = batch_size.into();
        return Err(TrainingError::BatchLargerThanData { batch_size, dataset_size }.into());
    }
    if uses > MAX_USES {
        let field = Some("batch_size");
        let message = "so many records take too long; use fewer or smaller batches";
        return Err(Failure { field, ..Failure::of(FailureKind::Limit, message) });
    }
    if sampler.draws_each_step_anew() && uses * u64::from(steps) > MAX_CHANCES {
        let message = "so many records in so many batches take too long; use fewer of either";
        return Err(Failure::of(FailureKind::Limit, message));
    }
    let sampler = sampler.with_parameters(SamplerParameters {
        buffer_examples: size.buffer_examples,
        uses_per_epoch: size.uses_per_epoch,
        dataset_size: Some(uses),
        max_batch_size: size.max_batch_size,
    })?;
    let mechanism = BatchedGaussian {
        noise_multiplier,
        steps_per_epoch: steps,
        epochs: 1,
        sampler,
        threat_model: sampler.kind().default_threat_model(),
        batch_size: Some(batch_size),
        dataset_size: None,
    };
    mechanism.distribution()?;
    Ok(mechanism)
}

/// One epoch as it is drawn, for a picture: epoch `index` of the seed.
///
/// # Errors
/// A `Failure` that names the input.
#[wasm_bindgen(unchecked_return_type = "Epoch")]
pub fn epoch(
    #[wasm_bindgen(unchecked_param_type = "SamplerKind")] sampler: &str,
    #[wasm_bindgen(unchecked_param_type = "EpochSize")] size: &JsValue,
    seed: &str,
    index: f64,
) -> Result<Object, Failure> {
    let mechanism = mechanism_of(named("sampler", sampler)?, &read(size, "size")?)?;
    let epoch = drawn(&mechanism, seed_or_fresh(seed)?, integer("index", index, 0)?)?;
    let Epoch { batches, offsets, dropped, dropped_offsets, target_batches, .. } = epoch;
    let ([target, zero_out], scores) = (epoch.outputs, epoch.scores);
    object([
        ("records", epoch.records.into()),
        ("batches", batches.into()),
        ("offsets", offsets.into()),
        ("dropped", dropped.into()),
        ("dropped_offsets", dropped_offsets.into()),
        ("target_batches", target_batches.into()),
        ("outputs_target", target.into()),
        ("outputs_zero_out", zero_out.into()),
        ("score_target", scores[0].into()),
        ("score_zero_out", scores[1].into()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpscope_core::accounting::{
        Accountant, BallsInBins, Deterministic, Given, Query, Training,
    };
    use dpscope_core::mechanism::SamplerParameter;

    fn with(parameter: SamplerParameter) -> SamplerKind {
        parameter.samplers().next().unwrap()
    }

    fn size(kind: SamplerKind) -> EpochSize {
        EpochSize {
            steps: 4,
            batch_size: 3,
            dataset_size: None,
            buffer_examples: kind.has_buffer().then_some(4),
            uses_per_epoch: kind.has_uses().then_some(2),
            max_batch_size: kind.truncates().then_some(4),
            noise_multiplier: 1.0,
        }
    }

    fn mechanism(kind: SamplerKind) -> BatchedGaussian {
        mechanism_of(kind, &size(kind)).unwrap()
    }

    fn drawn(mechanism: BatchedGaussian, seed: u64, index: u64) -> Result<Epoch, Failure> {
        super::drawn(&mechanism, seed, index)
    }

    #[test]
    fn an_epoch_depends_on_seed_and_index_alone() {
        for kind in SamplerKind::ALL {
            let epoch = drawn(mechanism(kind), 5, 3).unwrap();
            assert_eq!(drawn(mechanism(kind), 5, 3).unwrap(), epoch, "{kind}");
            assert_ne!(drawn(mechanism(kind), 5, 4).unwrap().outputs, epoch.outputs, "{kind}");
            assert_ne!(drawn(mechanism(kind), 6, 3).unwrap().outputs, epoch.outputs, "{kind}");
            for (batch, ends) in (0..).zip(epoch.offsets.windows(2)) {
                let members = &epoch.batches[ends[0] as usize..ends[1] as usize];
                assert_eq!(members.contains(&0), epoch.target_batches.contains(&batch), "{kind}");
            }
            let records = if kind.has_uses() { 6 } else { 12 };
            assert_eq!(
                (epoch.records, epoch.batches.iter().max()),
                (records, Some(&(records - 1)))
            );
            assert_eq!((epoch.outputs[0].len(), epoch.offsets.len()), (4, 5), "{kind}");
            assert_eq!(epoch.dropped_offsets.len(), 5, "{kind}");
        }
        let persistent =
            |index| drawn(mechanism(SamplerKind::PersistentShuffle), 5, index).unwrap();
        assert_eq!(persistent(1).batches, persistent(9).batches);
    }

    /// E exp(−score) under the target's world is at most 1, and 1 where scores are log ratios.
    fn mean_ratio(kind: SamplerKind, moved: f64) -> f64 {
        let scorer_of = |index| drawn(mechanism(kind), 11, index).unwrap();
        let scores = (0..40_000).map(|index| scorer_of(index).scores[0] + moved);
        scores.map(|score| dpscope_core::math::exp(-score)).sum::<f64>() / 40_000.0
    }

    #[test]
    fn dropped_records_are_those_above_the_maximum() {
        let epochs =
            (0..200).map(|index| drawn(mechanism(with(SamplerParameter::MaxBatchSize)), 5, index));
        let mut counts = [0; 2];
        for epoch in epochs.map(Result::unwrap) {
            for (kept, dropped) in epoch.offsets.windows(2).zip(epoch.dropped_offsets.windows(2)) {
                let (kept, dropped) = (kept[1] - kept[0], dropped[1] - dropped[0]);
                assert!(kept <= 4 && (kept == 4 || dropped == 0));
                counts[usize::from(dropped > 0)] += 1;
            }
        }
        // P(Bin(12, ¼) > 4) = 0.158
        assert!((80..180).contains(&counts[1]), "{counts:?}");
        for kind in SamplerKind::ALL {
            assert!(kind.truncates() || drawn(mechanism(kind), 5, 1).unwrap().dropped.is_empty());
        }
    }

    #[test]
    fn scores_are_log_ratios_of_what_is_drawn() {
        for kind in [
            SamplerKind::Shuffle,
            SamplerKind::PersistentShuffle,
            SamplerKind::Poisson,
            with(SamplerParameter::MaxBatchSize),
            SamplerKind::FixedSize,
            SamplerKind::BallsInBins,
            SamplerKind::SlidingBuffer,
        ] {
            let mean = mean_ratio(kind, 0.0);
            assert!((mean - 1.0).abs() < 0.1, "{kind}: {mean}");
            // Control: half a nat off.
            assert!((mean_ratio(kind, 0.5) - 1.0).abs() > 0.2, "{kind}");
        }
    }

    #[test]
    fn scores_show_no_more_than_is_proven() {
        // P(score > ε) ≤ e^ε P′(score > ε) + δ at ε of the upper bound for all shuffles
        let training =
            Training { noise_multiplier: 1.0, steps_per_epoch: 4, epochs: 1, sampling_rate: None };
        let query = Query::upper(training, Given::Delta(0.05));
        let found = Deterministic.account(&query).unwrap();
        let bins = BallsInBins.account(&query).unwrap();
        assert!(found.epsilon >= bins.epsilon - 1e-2);
        let above = |world: usize| {
            let scores = (0..20_000).map(|i| drawn(mechanism(SamplerKind::Shuffle), 3, i).unwrap());
            let count = scores.filter(|epoch| epoch.scores[world] > found.epsilon).count();
            count as f64 / 20_000.0
        };
        let ratio = dpscope_core::math::exp(found.epsilon);
        assert!(above(0) <= ratio * above(1) + 0.05 + 0.02);
    }

    #[test]
    fn sizes_outside_the_domain_name_their_field() {
        let refused = |kind, change: fn(&mut EpochSize)| {
            let mut size = size(kind);
            change(&mut size);
            let failure = mechanism_of(kind, &size).unwrap_err();
            (failure.kind, failure.field)
        };
        use SamplerKind::{PartialShuffle, Poisson, Shuffle};
        let [truncated, allocated] =
            [SamplerParameter::MaxBatchSize, SamplerParameter::UsesPerEpoch].map(with);
        let input = |field| (FailureKind::Input, Some(field));
        assert_eq!(refused(Shuffle, |size| size.steps = 0), input("steps"));
        assert_eq!(refused(Shuffle, |size| size.batch_size = 0), input("batch_size"));
        assert_eq!(
            refused(Shuffle, |size| size.noise_multiplier = f64::NAN),
            input("noise_multiplier")
        );
        let buffer = input("buffer_examples");
        assert_eq!(refused(PartialShuffle, |size| size.buffer_examples = None), buffer);
        assert_eq!(refused(PartialShuffle, |size| size.buffer_examples = Some(0)), buffer);
        assert_eq!(refused(PartialShuffle, |size| size.buffer_examples = Some(13)), buffer);
        let most = input("max_batch_size");
        assert_eq!(refused(truncated, |size| size.max_batch_size = None), most);
        assert_eq!(refused(truncated, |size| size.max_batch_size = Some(2)), most);
        let uses = input("uses_per_epoch");
        assert_eq!(refused(allocated, |size| size.uses_per_epoch = Some(0)), uses);
        assert_eq!(refused(allocated, |size| size.uses_per_epoch = Some(5)), uses);
        assert_eq!(refused(Shuffle, |size| size.dataset_size = Some(2)), input("batch_size"));
        let large = (FailureKind::Limit, Some("batch_size"));
        assert_eq!(refused(Shuffle, |size| size.batch_size = 100_000), large);
        let slow = |size: &mut EpochSize| (size.steps, size.batch_size) = (100_000, 1);
        assert_eq!(refused(Poisson, slow), (FailureKind::Limit, None));
    }
}

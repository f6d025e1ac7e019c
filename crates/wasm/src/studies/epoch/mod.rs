//! One epoch, record by record: batches, noisy sums, scores.

use dpscope_core::adjacency::World;
use dpscope_core::mechanism::{
    BatchSampler, BatchedGaussian, OutputOptions, OutputReference, OutputScorer, SamplerKind,
    SamplerParameters,
};
use dpscope_core::random::{Purpose, Words};
use dpscope_report::record::input::EpochSize;
use dpscope_shaders::random::stream_normals;
use dpscope_shaders::train::{Batches, EpochBatches};
use js_sys::Object;
use wasm_bindgen::prelude::*;

use crate::failure::{Failure, FailureKind};
use crate::input::{integer, named, read};
use crate::output::object;
use crate::seed::seed_or_fresh;

/// Records of an epoch.
const MAX_RECORDS: u64 = 100_000;

/// Records times steps: the draws of Poisson sampling.
const MAX_CHANCES: u64 = 10_000_000;

/// The content of a picture.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Epoch {
    pub(crate) batch_of: Vec<u32>,
    pub(crate) batches: Vec<u32>,
    pub(crate) offsets: Vec<u32>,
    pub(crate) target_batches: Vec<u32>,
    pub(crate) outputs: [Vec<f64>; 2],
    pub(crate) scores: [f64; 2],
}

/// N, B, σ and how batches are drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EpochShape {
    pub(crate) sampler: BatchSampler,
    pub(crate) records: u32,
    pub(crate) batch_size: u32,
    pub(crate) noise_multiplier: f64,
}

/// Epoch `index` of a seed. Both worlds have the same batches and noise of their own; batches without
/// the target have mean 0.
///
/// # Errors
/// A size outside the mechanism's domain.
pub(crate) fn drawn(shape: EpochShape, seed: u64, index: u64) -> Result<Epoch, Failure> {
    let EpochShape { sampler, records, batch_size, noise_multiplier } = shape;
    let steps = records / batch_size.max(1);
    let mechanism = BatchedGaussian {
        noise_multiplier,
        steps_per_epoch: steps,
        epochs: 1,
        sampler,
        threat_model: sampler.kind().default_threat_model(),
        batch_size: Some(batch_size),
    };
    let reference = OutputReference::OtherBatches;
    let scorer = OutputScorer::new(&mechanism, OutputOptions { reference, target_slot: 0 })?;
    let means = mechanism.batch_means()?;
    // one order for all epochs
    let stream = if sampler == BatchSampler::PersistentShuffle { 0 } else { index };
    let mut drawn = EpochBatches::default();
    let mut words = Words::new(seed, Purpose::EpochOrder, stream);
    Batches::new(sampler, batch_size, steps).draw_exactly(&mut words, &mut drawn);
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
    let mut batch_of = Vec::new();
    let is_once_per_epoch =
        !sampler.kind().draws_each_step_anew() && sampler.uses_per_epoch().unwrap_or(1) == 1;
    if is_once_per_epoch {
        batch_of.resize(records as usize, 0);
        for (batch, members) in (0..).zip(batches()) {
            members.iter().for_each(|&record| batch_of[record as usize] = batch);
        }
    }
    let offsets = std::iter::once(0).chain(drawn.ends().iter().map(|&end| end as u32)).collect();
    let target_batches =
        (0..).zip(&holds_target).filter(|(_, holds)| **holds).map(|(batch, _)| batch).collect();
    let batches = drawn.members().to_vec();
    Ok(Epoch { batch_of, batches, offsets, target_batches, outputs, scores })
}

fn shape_of(sampler: SamplerKind, size: &EpochSize) -> Result<EpochShape, Failure> {
    let EpochSize { records, batch_size, buffer_examples, max_batch_size, noise_multiplier } =
        *size;
    if batch_size == 0 {
        return Err(Failure::outside("batch_size", 0.0, "at least 1"));
    }
    if !(1..=MAX_RECORDS).contains(&records) {
        return Err(Failure::outside("records", records as f64, "in 1 to 100000"));
    }
    if !records.is_multiple_of(batch_size) {
        return Err(Failure::input("records", &["must be a multiple of batch_size"]));
    }
    let is_slow = sampler.draws_each_step_anew();
    if is_slow && records * (records / batch_size) > MAX_CHANCES {
        let message = "so many records in so many batches take too long; use fewer of either";
        return Err(Failure::of(FailureKind::Limit, message));
    }
    if buffer_examples == Some(0) {
        return Err(Failure::outside("buffer_examples", 0.0, "at least 1"));
    }
    let sampler = sampler.with_parameters(SamplerParameters {
        buffer_examples,
        uses_per_epoch: None,
        dataset_size: Some(records),
        max_batch_size,
    })?;
    // A multiple of the batch size is at least as large.
    let (records, batch_size) = (records as u32, batch_size as u32);
    Ok(EpochShape { sampler, records, batch_size, noise_multiplier })
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
    let shape = shape_of(named("sampler", sampler)?, &read(size, "size")?)?;
    let Epoch { batch_of, batches, offsets, target_batches, outputs, scores } =
        drawn(shape, seed_or_fresh(seed)?, integer("index", index, 0)?)?;
    let [target, zero_out] = outputs;
    object([
        ("batch_of", batch_of.into()),
        ("batches", batches.into()),
        ("offsets", offsets.into()),
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

    fn shape(kind: SamplerKind) -> EpochShape {
        let size = EpochSize {
            records: 12,
            batch_size: 3,
            buffer_examples: kind.has_buffer().then_some(4),
            max_batch_size: (kind == SamplerKind::TruncatedPoisson).then_some(4),
            noise_multiplier: 1.0,
        };
        shape_of(kind, &size).unwrap()
    }

    #[test]
    fn an_epoch_depends_on_seed_and_index_alone() {
        for kind in SamplerKind::ALL {
            let epoch = drawn(shape(kind), 5, 3).unwrap();
            assert_eq!(drawn(shape(kind), 5, 3).unwrap(), epoch, "{kind}");
            assert_ne!(drawn(shape(kind), 5, 4).unwrap().outputs, epoch.outputs, "{kind}");
            assert_ne!(drawn(shape(kind), 6, 3).unwrap().outputs, epoch.outputs, "{kind}");
            for (batch, ends) in (0..).zip(epoch.offsets.windows(2)) {
                let members = &epoch.batches[ends[0] as usize..ends[1] as usize];
                assert_eq!(members.contains(&0), epoch.target_batches.contains(&batch), "{kind}");
                let known = |member: &u32| epoch.batch_of.get(*member as usize) == Some(&batch);
                assert!(kind.draws_each_step_anew() || members.iter().all(known), "{kind}");
            }
            assert_eq!((epoch.outputs[0].len(), epoch.offsets.len()), (4, 5), "{kind}");
        }
        let persistent = |index| drawn(shape(SamplerKind::PersistentShuffle), 5, index).unwrap();
        assert_eq!(persistent(1).batches, persistent(9).batches);
    }

    /// E exp(−score) under the target's world is at most 1, and 1 where scores are log ratios.
    fn mean_ratio(kind: SamplerKind, moved: f64) -> f64 {
        let scorer_of = |index| drawn(shape(kind), 11, index).unwrap();
        let scores = (0..40_000).map(|index| scorer_of(index).scores[0] + moved);
        scores.map(|score| dpscope_core::math::exp(-score)).sum::<f64>() / 40_000.0
    }

    #[test]
    fn scores_are_log_ratios_of_what_is_drawn() {
        for kind in [
            SamplerKind::Shuffle,
            SamplerKind::Poisson,
            SamplerKind::TruncatedPoisson,
            SamplerKind::BallsInBins,
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
            let scores = (0..20_000).map(|i| drawn(shape(SamplerKind::Shuffle), 3, i).unwrap());
            let count = scores.filter(|epoch| epoch.scores[world] > found.epsilon).count();
            count as f64 / 20_000.0
        };
        let ratio = dpscope_core::math::exp(found.epsilon);
        assert!(above(0) <= ratio * above(1) + 0.05 + 0.02);
    }

    #[test]
    fn sizes_outside_the_domain_name_their_field() {
        let refused = |kind, records, batch_size| {
            let (buffer_examples, max_batch_size) = (None, None);
            let size = EpochSize {
                records,
                batch_size,
                buffer_examples,
                max_batch_size,
                noise_multiplier: 1.0,
            };
            shape_of(kind, &size).unwrap_err()
        };
        assert_eq!(refused(SamplerKind::Shuffle, 10, 3).field, Some("records"));
        assert_eq!(refused(SamplerKind::Shuffle, 1_000_000, 1).field, Some("records"));
        assert_eq!(refused(SamplerKind::Shuffle, 0, 3).field, Some("records"));
        assert_eq!(refused(SamplerKind::Shuffle, 10, 0).field, Some("batch_size"));
        assert_eq!(refused(SamplerKind::PartialShuffle, 9, 3).field, Some("buffer_examples"));
        assert_eq!(refused(SamplerKind::TruncatedPoisson, 9, 3).field, Some("max_batch_size"));
        assert_eq!(refused(SamplerKind::Poisson, 100_000, 1).kind, FailureKind::Limit);
        let noise = EpochShape { noise_multiplier: f64::NAN, ..shape(SamplerKind::Shuffle) };
        assert_eq!(drawn(noise, 1, 0).unwrap_err().field, Some("noise_multiplier"));
    }
}

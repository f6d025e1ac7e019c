//! The kernels of a training with many canaries.

use dpscope_core::mechanism::BatchedGaussian;
use dpscope_shaders::train::{
    EvaluatedRecords, IncludedSelection, Initialization, Kernel, add_noise, descend,
};

use super::layers::{Layers, Purpose};
use super::{Common, GpuPlan, Stages, WordsPerModel, block, check_words, orders, pass, records};
use crate::TrainError;
use crate::data::Examples;
use crate::one_run::OneRunTraining;
use crate::run::max_rows;

/// Words of `outputs` per model, up to which the products of several steps are read together.
const READ_WORDS: u32 = 1 << 16;

impl GpuPlan {
    /// Plans the kernels of a training with many canaries, which starts at `start`.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn of_one_run(
        training: &OneRunTraining,
        start: &[f32],
        max_batch: usize,
    ) -> Result<Self, TrainError> {
        let network = training.network();
        let BatchedGaussian { sampler, steps_per_epoch, epochs, .. } = *training.mechanism();
        let settings = *training.settings();
        let batches = training.batches();
        let most = max_rows(training.mean_batch_size(), batches.is_fixed_size());
        let rows = max_batch.clamp(1, most);
        let parameters = network.parameters() as u32;
        let (base, canaries) = (training.base_records(), training.canaries().len() as u32);
        let held_out = training.base().held_out();
        let evaluated = canaries + held_out.map_or(0, Examples::len) as u32;
        let mut parts =
            vec![(training.base(), base as usize), (training.canaries(), canaries as usize)];
        parts.extend(held_out.map(|examples| (examples, examples.len())));
        let (data, place) = records::pack(start, &parts);
        let sizes = Common { rows: rows as u32, ..Common::default() };
        let mut layers = Layers::new(network, &place, &sizes, Purpose::ClippedGradient);
        if settings.is_white_box {
            layers.place_derivatives(rows as u32);
        }
        let steps = epochs.saturating_mul(steps_per_epoch);
        let steps_per_reading = (READ_WORDS / (2 * canaries)).clamp(1, steps);
        let observed = if settings.is_white_box { 2 * canaries * steps_per_reading } else { 0 };
        let outputs = observed.max(2 * evaluated);
        let inputs = (network.inputs() * rows) as u64;
        check_words(layers.words().max(inputs), data.len() as u64, outputs.into())?;
        let common = Common {
            parameters,
            values: layers.words() as u32,
            factors: layers.factors(),
            ..sizes
        };
        let observation = Sizes { labels: place.labels, evaluated, outputs, steps_per_reading };
        let stages = stages(training, &common, &layers, observation);
        let parameters = parameters as usize;
        let has_velocity = settings.momentum > 0.0;
        Ok(GpuPlan {
            data,
            sizes: WordsPerModel {
                values: common.values as usize,
                theta: parameters,
                sums: parameters,
                vector: if has_velocity { parameters } else { 0 },
                rows: common.row_words() as usize,
                outputs: outputs as usize,
            },
            shared_vector: (!has_velocity).then(|| vec![0.0]),
            stages,
            seed: training.seed(),
            clip_norm: settings.clip_norm as f32,
            steps: steps_per_epoch,
            orders: orders(sampler, batches.records()),
            max_batch: most as u32,
            records: batches.records(),
            worlds: 1,
            observed: if settings.is_white_box { canaries } else { 0 },
            evaluated,
            steps_per_reading,
            common,
        })
    }

    /// Number of canaries that each noisy sum is compared with; 0 if it is not observed.
    #[must_use]
    pub fn observed(&self) -> u32 {
        self.observed
    }

    /// Number of canaries and held-out records that are evaluated after the last step.
    #[must_use]
    pub fn evaluated(&self) -> u32 {
        self.evaluated
    }

    /// Number of steps whose products fit in the outputs.
    #[must_use]
    pub fn steps_per_reading(&self) -> u32 {
        self.steps_per_reading
    }
}

/// What the kernels of evaluations need to know.
struct Sizes {
    /// Offset of the labels in `data`.
    labels: u32,
    /// Canaries and held-out records.
    evaluated: u32,
    /// Words of `outputs` per model.
    outputs: u32,
    steps_per_reading: u32,
}

fn stages(
    training: &OneRunTraining,
    common: &Common,
    layers: &Layers,
    Sizes { labels, evaluated, outputs, steps_per_reading }: Sizes,
) -> Stages<Kernel> {
    let (settings, mechanism) = (*training.settings(), *training.mechanism());
    let (records, base) = (training.batches().records(), training.base_records());
    let selection = block(mechanism.sampler, records).map(|block| IncludedSelection {
        batch_size: mechanism.batch_size.unwrap_or(1),
        records,
        block,
        base,
    });
    let evaluated_records = |count| EvaluatedRecords { first: base, count, labels, outputs };
    let rate = settings.learning_rate / training.mean_batch_size();
    let noise = mechanism.noise_multiplier * settings.clip_norm;
    let canaries = evaluated_records(training.canaries().len() as u32);
    Stages {
        begin: Initialization::Fixed.kernels(common, 0),
        choose: selection.iter().map(|selection| selection.kernel(common)).collect(),
        pass: pass(common, layers, settings.clip_norm as f32),
        release: vec![add_noise(common, noise as f32)],
        observe: match settings.is_white_box {
            true => layers.observe(common, &canaries, steps_per_reading),
            false => Vec::new(),
        },
        finish: vec![descend(common, rate as f32, settings.momentum as f32)],
        evaluate: layers.evaluate(common, &evaluated_records(evaluated)),
    }
}

#[cfg(test)]
mod tests {
    use dpscope_core::mechanism::{BatchSampler, ThreatModel};

    use super::*;
    use crate::ModelSpec;
    use crate::data::SyntheticData;
    use crate::one_run::{CanarySlots, OneRunSettings};

    fn plan(spec: &ModelSpec, data: SyntheticData, is_white_box: bool) -> GpuPlan {
        let mechanism = BatchedGaussian {
            noise_multiplier: 1.0,
            steps_per_epoch: 3,
            epochs: 1,
            sampler: BatchSampler::Shuffle,
            threat_model: ThreatModel::TargetCanary,
            batch_size: Some(100),
            dataset_size: None,
        };
        let settings = OneRunSettings {
            clip_norm: 1.0,
            learning_rate: 0.1,
            momentum: 0.9,
            slots: CanarySlots::ZeroGradient,
            is_white_box,
            debias_records: 0,
            pre_training: None,
        };
        let all = data.generate(300, 0).unwrap();
        let canaries = all.select("canaries", &(200..300).collect::<Vec<u32>>()).unwrap();
        let training = OneRunTraining::new(spec, all, canaries, mechanism, settings, 1).unwrap();
        let start = vec![0.0; training.network().parameters()];
        GpuPlan::of_one_run(&training, &start, 100).unwrap()
    }

    #[test]
    fn counts_match_the_documentation() {
        let operations = |kernels: &[dpscope_shaders::train::Kernel]| {
            kernels.iter().map(dpscope_shaders::train::Kernel::operations).sum::<u64>() as f64
        };
        // operations of a step, of 100 observed canaries and of 100 evaluated records, in millions
        let cases = [
            (ModelSpec::mlp(), SyntheticData::P100Like, [12.2, 10.2, 4.9], 132),
            (ModelSpec::lenet(), SyntheticData::FmnistLike, [286.0, 353.0, 84.4], 6_510),
            (ModelSpec::cnn(), SyntheticData::CifarLike, [26_135.0, 30_991.0, 7_791.0], 114_818),
        ];
        for (spec, data, expected, derivatives) in cases {
            let [with, without] = [true, false].map(|is_white_box| plan(&spec, data, is_white_box));
            let stages = with.stages();
            let step = [&stages.choose, &stages.pass, &stages.release, &stages.finish];
            let found = [
                step.into_iter().map(|kernels| operations(kernels)).sum(),
                operations(&stages.observe),
                operations(&stages.evaluate),
            ];
            for (found, expected) in found.into_iter().zip(expected) {
                assert!((found / 1e6 - expected).abs() < 0.005 * expected, "{found}, {expected}");
            }
            let words = with.words_per_model().values - without.words_per_model().values;
            assert_eq!(words, 100 * derivatives);
        }
    }
}

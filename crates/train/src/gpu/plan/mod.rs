//! The kernels of a training and their memory layout. Pure data, no device.

mod derivatives;
mod federated;
mod layers;
mod one_run;
mod records;
mod stages;

use dpscope_core::mechanism::{BatchSampler, ThreatModel};
use dpscope_engine::UnitRange;
use dpscope_shaders::train::{
    Common, Finish, Initialization, Kernel, PassParams, RowSelection, factors,
};

use crate::TrainError;
use crate::canary::{CanaryDirection, SHARED_STREAM};
use crate::training::Training;
pub use derivatives::DerivativePlan;
pub(super) use federated::most_rows;
use layers::{Layers, Purpose};
pub use stages::Stages;

/// Maximum number of words per buffer: the limit of 32-bit indices and of devices.
const MAX_WORDS: u64 = 1 << 30;

/// Marks a row without a record in the buffer `rows`.
const NONE: u32 = u32::MAX;

/// Number of 4-byte words per model in each buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WordsPerModel {
    /// Binding 1: activations and their gradients.
    pub values: usize,
    /// Binding 2: parameters.
    pub theta: usize,
    /// Binding 3: sums of clipped gradients.
    pub sums: usize,
    /// Binding 4: canary ĝ, or velocity; 0 if all models share one.
    pub vector: usize,
    /// Binding 6: records of a pass.
    pub rows: usize,
    /// Binding 7: outputs.
    pub outputs: usize,
}

/// Position of a pass within the training of a wave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PassPosition {
    /// The first run of the wave, in both worlds, or the first unit.
    pub first_run: u64,
    /// Number of runs of each world in the wave, or of units.
    pub runs: u32,
    /// Epoch.
    pub epoch: u32,
    /// Step within the epoch.
    pub step: u32,
    /// Pass within the step: part of its batch.
    pub pass: u32,
}

/// The kernels of a training and the contents of their buffers.
///
/// A step consists of one or more passes over parts of its batch, each executing
/// [`select_rows`](Self::select_rows) (or rows from the host) and [`pass`](Self::pass), followed by
/// [`finish`](Self::finish). Within a list, a kernel reads the results of earlier ones. No sum
/// depends on the number of models.
///
/// Words per model for values / θ and sums / its own canary, with R rows: MLP 165·R + 23 / 45,064 /
/// 22,532; LeNet 19,525·R + 60 / 122,052 / 61,026; CNN 326,001·R + 537 / 1,099,076 / 549,538.
/// `GPU.md` of this package estimates the cost of a step.
///
/// # Guarantee
/// Rows equal those of [`Batches`](dpscope_shaders::train::Batches)
/// (`tests/gpu/training_kernels.rs::rows_match_the_batches`). Sums equal those of
/// [`Network::clipped_sum`](crate::Network::clipped_sum) within 5e-6·C·√B
/// (`tests/gpu/training_kernels.rs::row_sums_match_the_cpu`). After a step, parameters
/// equal the CPU's within 1e-5·σCη/B, or 4.3e-4 of it where a normal is near 0, and outputs within
/// 5e-6·σ (`tests/gpu/training_kernels.rs::step_ends_match_the_cpu`).
#[derive(Debug)]
pub struct GpuPlan {
    data: Vec<u32>,
    common: Common,
    sizes: WordsPerModel,
    shared_vector: Option<Vec<f32>>,
    stages: Stages<Kernel>,
    seed: u64,
    clip_norm: f32,
    steps: u32,
    orders: u64,
    max_batch: u32,
    /// Records per epoch.
    records: u32,
    /// Models per unit.
    worlds: u32,
    observed: u32,
    evaluated: u32,
    steps_per_reading: u32,
}

impl GpuPlan {
    /// Plans kernels that process at most `max_rows` rows per pass.
    ///
    /// # Errors
    /// A model or data that needs more than 2³⁰ words in a buffer.
    pub fn new(training: &Training, max_rows: usize) -> Result<Self, TrainError> {
        let is_informed = training.mechanism.threat_model == ThreatModel::PartiallyInformed;
        let max_batch = training.max_rows() as u32 - u32::from(is_informed);
        let rows = max_rows.clamp(1, max_batch.max(1) as usize);
        let parameters = training.network.parameters() as u32;
        let count = training.batches.records() as usize;
        let (data, place) = records::pack(&training.initial, &[(&training.examples, count)]);
        let sizes = Common { rows: rows as u32, ..Common::default() };
        let layers = Layers::new(&training.network, &place, &sizes, Purpose::ClippedGradient);
        let tile_sums = layers.words();
        let values = tile_sums + u64::from(Finish::tiles(parameters));
        let outputs = training.outputs_per_run() as u64;
        let inputs = (training.network.inputs() * rows) as u64;
        check_words(values.max(inputs), data.len() as u64, outputs)?;
        let common =
            Common { parameters, values: values as u32, factors: layers.factors(), ..sizes };
        let clip_norm = training.settings.clip_norm as f32;
        let noise = training.mechanism.noise_multiplier * training.settings.clip_norm;
        let rate = training.settings.learning_rate / training.mean_batch_size();
        let initialization = initialization(training);
        let is_fresh = initialization != Initialization::Fixed;
        let tile_sums = tile_sums as u32;
        let finish = Finish {
            clip_norm,
            noise: noise as f32,
            rate: rate as f32,
            is_fresh,
            outputs: outputs as u32,
            tile_sums,
        };
        let choice = choice(training, is_informed);
        let parameters = parameters as usize;
        let sizes = WordsPerModel {
            values: values as usize,
            theta: parameters,
            sums: parameters,
            vector: if is_fresh { parameters } else { 0 },
            rows: common.row_words() as usize,
            outputs: outputs as usize,
        };
        Ok(GpuPlan {
            data,
            sizes,
            shared_vector: (!is_fresh).then(|| fixed_canary(training)),
            stages: Stages {
                begin: initialization.kernels(&common, tile_sums),
                choose: choice.iter().map(|choice| choice.kernel(&common, clip_norm)).collect(),
                pass: pass(&common, &layers, clip_norm),
                finish: finish.kernels(&common),
                ..Stages::default()
            },
            seed: training.seed,
            clip_norm,
            steps: training.mechanism.steps_per_epoch,
            orders: orders(training.mechanism.sampler, training.batches.records()),
            max_batch,
            records: training.batches.records(),
            worlds: 2,
            observed: 0,
            evaluated: 0,
            steps_per_reading: 1,
            common,
        })
    }

    /// Contents of binding 5, shared by all models.
    #[must_use]
    pub fn data(&self) -> &[u32] {
        &self.data
    }

    /// Words per model in each buffer.
    #[must_use]
    pub fn words_per_model(&self) -> WordsPerModel {
        self.sizes
    }

    /// Number R of rows per pass.
    #[must_use]
    pub fn rows(&self) -> u32 {
        self.common.rows
    }

    /// Contents of binding 4 if all models share them.
    #[must_use]
    pub fn shared_vector(&self) -> Option<&[f32]> {
        self.shared_vector.as_deref()
    }

    /// Models per unit.
    #[must_use]
    pub fn worlds(&self) -> u64 {
        self.worlds.into()
    }

    /// Records per epoch.
    #[must_use]
    pub fn records(&self) -> u32 {
        self.records
    }

    /// A unit, in words.
    pub(super) fn unit(&self) -> &'static str {
        if self.worlds == 2 { "one model of each world" } else { "one model" }
    }

    /// Some units, in words.
    pub(super) fn units(&self, count: u64) -> String {
        if self.worlds == 2 {
            format!("{count} runs of each world")
        } else {
            format!("{count} models")
        }
    }

    /// The random stream of each model of a wave.
    pub(super) fn streams(&self, range: UnitRange) -> Vec<u64> {
        let worlds = u64::from(self.worlds);
        let of_world = |world| (range.first..range.end).map(move |unit| worlds * unit + world);
        (0..worlds).flat_map(of_world).collect()
    }

    /// The kernels of each stage.
    #[must_use]
    pub fn stages(&self) -> &Stages<Kernel> {
        &self.stages
    }

    /// Kernels before the first step: they initialise θ and, if each run has its own, ĝ.
    #[must_use]
    pub fn initialize(&self) -> &[Kernel] {
        &self.stages.begin
    }

    /// Kernels that select the rows of a pass. Empty if the sampler consumes random words
    /// sequentially: then the host writes [`host_rows`](Self::host_rows).
    #[must_use]
    pub fn select_rows(&self) -> &[Kernel] {
        &self.stages.choose
    }

    /// Kernels that sum the clipped gradients over the rows of a pass; the first pass of a step
    /// overwrites the sums.
    #[must_use]
    pub fn pass(&self) -> &[Kernel] {
        &self.stages.pass
    }

    /// Kernels that finish a step: canary, noise, parameter update and output.
    #[must_use]
    pub fn finish(&self) -> &[Kernel] {
        &self.stages.finish
    }

    /// Number of passes of a step whose batches have at most `max_batch` records, at least one.
    /// `None`: for samplers with a fixed batch size.
    #[must_use]
    pub fn passes(&self, max_batch: Option<usize>) -> u32 {
        let max_batch = max_batch.map_or(self.max_batch, |records| records as u32);
        max_batch.div_ceil(self.common.rows).max(1)
    }

    /// Contents of binding 6 for a model and a pass, from the records of its batch whose own
    /// gradients enter the sum and the coefficient of C·ĝ.
    #[must_use]
    pub fn host_rows(&self, records: &[u32], canary_coefficient: f64, pass: u32) -> Vec<u32> {
        let rows = self.common.rows as usize;
        let first = (pass as usize).saturating_mul(rows).min(records.len());
        let mut words: Vec<u32> = records[first..].iter().copied().take(rows).collect();
        words.resize(rows, NONE);
        words.push((canary_coefficient as f32 * self.clip_norm).to_bits());
        words
    }

    /// The uniforms of a pass, also used for the initialisation of a wave.
    #[must_use]
    pub fn pass_params(&self, position: PassPosition) -> PassParams {
        let PassPosition { first_run, runs, epoch, step, pass } = position;
        let before = u64::from(epoch) * u64::from(self.steps) + u64::from(step);
        let tiles = u64::from(Finish::tiles(self.common.parameters));
        PassParams {
            seed: self.seed,
            first_run,
            runs,
            step,
            first_order: u64::from(epoch) * self.orders,
            first_block: before * tiles * 64,
            first_row: pass * self.common.rows,
            output: before as u32,
            first_group: 0,
        }
    }
}

/// Kernels from records to the sums of their clipped gradients.
fn pass(common: &Common, layers: &Layers, clip_norm: f32) -> Vec<Kernel> {
    let mut kernels = layers.forward(common);
    kernels.extend(layers.backward(common));
    kernels.push(factors(common, &layers.squares(common), clip_norm));
    kernels.extend(layers.sums(common));
    kernels
}

/// The initialisation of canaries. A Dirac canary on a zero-gradient parameter is the same for all
/// runs.
fn initialization(training: &Training) -> Initialization {
    let canary = training.settings.canary;
    match canary.direction {
        _ if !canary.is_fresh => Initialization::Fixed,
        CanaryDirection::Random => Initialization::Random,
        CanaryDirection::Dirac if training.zero_gradient_parameter.is_some() => {
            Initialization::Fixed
        }
        CanaryDirection::Dirac => Initialization::Dirac,
    }
}

fn fixed_canary(training: &Training) -> Vec<f32> {
    let mut canary = vec![0.0; training.network.parameters()];
    training.settings.canary.draw(
        training.seed,
        SHARED_STREAM,
        training.zero_gradient_parameter,
        &mut canary,
    );
    canary
}

/// How a device selects rows; `None` if the sampler consumes random words sequentially.
fn choice(training: &Training, is_informed: bool) -> Option<RowSelection> {
    let records = training.batches.records();
    let block = block(training.mechanism.sampler, records)?;
    Some(RowSelection { batch_size: training.batch_size, records, block, is_informed })
}

/// Records per block that a sampler shuffles separately, `Some(None)` if they stay in order; `None` if
/// it consumes random words sequentially.
fn block(sampler: BatchSampler, records: u32) -> Option<Option<u32>> {
    match sampler {
        BatchSampler::Shuffle | BatchSampler::PersistentShuffle => Some(Some(records)),
        BatchSampler::Deterministic => Some(None),
        BatchSampler::PartialShuffle { buffer_examples } => {
            Some(Some(buffer_examples.clamp(1, u64::from(records)) as u32))
        }
        _ => None,
    }
}

/// Number of orders per epoch; 0 if all epochs use the first.
fn orders(sampler: BatchSampler, records: u32) -> u64 {
    match block(sampler, records).flatten() {
        _ if sampler == BatchSampler::PersistentShuffle => 0,
        Some(block) => u64::from(records.div_ceil(block)),
        None => 0,
    }
}

/// Checks that the words of a model can be indexed.
fn check_words(activations: u64, data: u64, outputs: u64) -> Result<(), TrainError> {
    let sizes = [
        ("words of activations", activations),
        ("words of records", data),
        ("words of outputs", outputs),
    ];
    match sizes.into_iter().find(|(_, words)| *words > MAX_WORDS) {
        Some((what, words)) => Err(TrainError::TooLargeForGpu { what, words, max: MAX_WORDS }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use dpscope_core::mechanism::BatchedGaussian;

    use super::*;
    use crate::data::{LoadOptions, Source, SyntheticData, load};
    use crate::{Canary, LayerSpec, ModelSpec, Shape, TrainingSettings};

    const RECORDS: usize = 300;

    fn training(spec: &ModelSpec, batch_size: u32, threat_model: ThreatModel) -> Training {
        let synthetic_sets =
            [SyntheticData::P100Like, SyntheticData::FmnistLike, SyntheticData::CifarLike];
        let models = [ModelSpec::mlp(), ModelSpec::lenet(), ModelSpec::cnn()];
        let synthetic = synthetic_sets.into_iter().zip(models).find(|(_, model)| model == spec);
        let examples = match synthetic {
            Some((synthetic, _)) => synthetic.generate(RECORDS, 0).unwrap(),
            None => {
                let rows: String = (0..RECORDS).map(|i| format!("{},1,0.5\n", i % 2)).collect();
                let source = Source { name: "x.csv", bytes: rows.as_bytes() };
                load(source, None, &LoadOptions::default()).unwrap()
            }
        };
        let mechanism = BatchedGaussian {
            noise_multiplier: 1.0,
            steps_per_epoch: RECORDS as u32 / batch_size,
            epochs: 3,
            sampler: BatchSampler::Shuffle,
            threat_model,
            batch_size: Some(batch_size),
            dataset_size: None,
        };
        let canary = Canary { direction: CanaryDirection::Random, is_fresh: true };
        let settings =
            TrainingSettings { clip_norm: 0.5, learning_rate: 0.5, canary, debias_records: 0 };
        Training::new(spec, examples, mechanism, settings, 1).unwrap()
    }

    fn plan(spec: &ModelSpec, most_rows: usize) -> GpuPlan {
        GpuPlan::new(&training(spec, 100, ThreatModel::TargetCanary), most_rows).unwrap()
    }

    #[test]
    fn memory_matches_the_documentation() {
        for (spec, per_row, rest) in [
            (ModelSpec::mlp(), 165, 23),
            (ModelSpec::lenet(), 19_525, 60),
            (ModelSpec::cnn(), 326_001, 537),
        ] {
            for rows in [1, 100] {
                let plan = plan(&spec, rows);
                let sizes = plan.words_per_model();
                // the tiles of a convolution's gradient may depend slightly on R
                assert!(sizes.values.abs_diff(per_row * rows + rest) <= 20 * rows, "{sizes:?}");
                assert_eq!(plan.rows() as usize, rows);
                assert_eq!([sizes.theta, sizes.sums], [sizes.vector; 2]);
                assert_eq!((sizes.rows, sizes.outputs), (rows + 1, 9));
            }
        }
    }

    #[test]
    fn models_beyond_the_address_range_are_rejected() {
        let layers = [1 << 21, 2].map(|outputs| LayerSpec::Linear { outputs });
        let spec = ModelSpec { input: Shape::flat(2), layers: layers.to_vec() };
        let training = training(&spec, 300, ThreatModel::TargetCanary);
        assert!(GpuPlan::new(&training, 100).is_ok());
        let error = GpuPlan::new(&training, 300).unwrap_err().to_string();
        assert!(
            error.contains("words of activations") && error.contains("train on the CPU"),
            "{error}"
        );
    }

    #[test]
    fn host_rows_are_padded_and_end_with_the_canary() {
        let plan = plan(&ModelSpec::mlp(), 4);
        let records = [7, 8, 9, 10, 11, 12];
        let rows = |pass| plan.host_rows(&records, -1.0, pass);
        assert_eq!(rows(0), [7, 8, 9, 10, (-0.5_f32).to_bits()]);
        assert_eq!(rows(1), [11, 12, NONE, NONE, (-0.5_f32).to_bits()]);
        assert_eq!(rows(u32::MAX), [NONE, NONE, NONE, NONE, (-0.5_f32).to_bits()]);
        assert_eq!(
            [Some(0), Some(4), Some(5), None].map(|records| plan.passes(records)),
            [1, 1, 2, 25]
        );
    }

    #[test]
    fn uniforms_match_their_step() {
        let plan = plan(&ModelSpec::mlp(), 4);
        let position = PassPosition { first_run: 1 << 40, runs: 9, epoch: 2, step: 1, pass: 3 };
        let turn = plan.pass_params(position);
        let normals = dpscope_shaders::random::entry_word(7, 22_532, 0) / 16;
        assert_eq!((turn.first_block, turn.output), (normals, 7));
        assert_eq!((turn.first_order, turn.first_row, turn.step), (2, 12, 1));
        assert_eq!((turn.first_run, turn.runs, turn.seed), (1 << 40, 9, 1));
    }

    #[test]
    fn a_partially_informed_attacker_replaces_one_record() {
        let spec = ModelSpec::mlp();
        let informed = training(&spec, 100, ThreatModel::PartiallyInformed);
        assert_eq!(GpuPlan::new(&informed, 1_000).unwrap().rows(), 99);
        assert_eq!(plan(&spec, 1_000).rows(), 100);
    }
}

//! Training on a GPU.

use std::fmt;

use dpscope_core::adjacency::World;
use dpscope_core::audit::histogram::ScoreBins;
use dpscope_engine::gpu::{Adapter, AdapterFacts};
use dpscope_engine::{Control, Device, EngineError, GpuError, Queue, QueueError, UnitRange, Wave};
use dpscope_shaders::train::EpochBatches;
use dpscope_simulation::{TrainingTally, TwoWorlds};
use rayon::prelude::*;

use super::device::{Tested, WaveDevice};
use super::host_rows::{HostBatches, HostRows};
use super::pipelines::{SELF_TEST_MODELS, SourceEdit};
use super::plan::GpuPlan;
use super::self_test;
use super::size::WaveLimits;
use super::subject::Subject;
use super::wave::Waves;
use crate::TrainError;
use crate::observed::RunResult;
use crate::run::Runner;
use crate::threads::Threads;
use crate::trainer::{DpSgd, WaveScores};
use crate::training::Training;

/// Trains models with DP-SGD on a GPU, the runs of both worlds of a wave together. The CPU trainer
/// takes over if the device fails.
///
/// A seed determines the same batches and random words as on the CPU. Sums are accumulated in a
/// different order, so that trajectories differ from the CPU's but have the same distribution.
///
/// # Guarantee
/// The outputs of a run depend on the training and the number of the run, not on waves
/// (`tests/gpu/training.rs::runs_do_not_depend_on_waves`); each step equals the CPU's within
/// rounding (`tests/gpu/training.rs::broken_training_kernels_are_rejected`); no run is lost with a device
/// (`tests/gpu/training.rs::a_lost_device_costs_no_run`).
///
/// # Numerics
/// A batch is processed whole if four runs of each world fit in memory that way, otherwise in
/// parts, whose sums differ in their last bits: with very little memory, the outputs depend on its
/// amount.
#[derive(Debug)]
pub struct GpuDpSgd {
    cpu: DpSgd,
    device: WaveDevice,
}

/// Failure to open a device for training.
#[derive(Debug)]
pub struct OpenError<T = DpSgd> {
    /// The CPU trainer that was passed.
    pub cpu: T,
    /// Reason.
    pub error: EngineError,
}

impl GpuDpSgd {
    /// Opens an adapter for the training of `cpu` and runs the self-test.
    ///
    /// | argument | meaning | unit | domain |
    /// |---|---|---|---|
    /// | `cpu` | training, threads and output sink | – | – |
    /// | `adapter` | the GPU | – | – |
    /// | `memory_bytes` | limit on the device memory of a wave | bytes | – |
    /// | `keep_going` | called frequently; false cancels the self-test | – | – |
    ///
    /// # Errors
    /// `debias_records` above 0, which only the CPU supports; a model too large for the device or
    /// its memory; no device; a failed self-test; cancelled.
    pub async fn open(
        cpu: DpSgd,
        adapter: &Adapter,
        memory_bytes: u64,
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Result<Self, Box<OpenError>> {
        let limits = WaveLimits::of_memory(memory_bytes);
        Self::open_within(cpu, adapter, limits, None, keep_going).await
    }

    /// Opens an adapter within the given limits, with kernels modified by `edit`. For tests.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    #[doc(hidden)]
    pub async fn open_within(
        cpu: DpSgd,
        adapter: &Adapter,
        limits: WaveLimits,
        edit: Option<SourceEdit>,
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Result<Self, Box<OpenError>> {
        match WaveDevice::open(&cpu, adapter, limits, edit, keep_going).await {
            Ok(device) => Ok(GpuDpSgd { cpu, device }),
            Err(error) => Err(Box::new(OpenError { cpu, error })),
        }
    }

    /// Default limit on the device memory of a wave, in bytes.
    #[must_use]
    pub fn default_memory_bytes(facts: &AdapterFacts) -> u64 {
        if facts.hardware { 1 << 30 } else { 1 << 28 }
    }

    /// Destroys the device, like a driver reset. For tests.
    #[doc(hidden)]
    pub fn lose_device(&self) {
        self.device.lose();
    }

    /// Prevents lost devices from being reopened. For tests.
    #[doc(hidden)]
    pub fn forbid_reopening(&self) {
        self.device.forbid_reopening();
    }

    /// Scores the runs of a wave and evaluates the first models.
    fn score_wave(
        &self,
        range: UnitRange,
        wave: &WaveResult,
        control: &dyn Control,
    ) -> Result<WaveScores, EngineError> {
        let length = self.cpu.training().outputs_per_run();
        let training = self.cpu.training();
        let results: Option<Vec<(RunResult, TrainingTally)>> = self.cpu.threads().install(|| {
            let runs = DpSgd::runs(range).into_par_iter().zip(wave.outputs.par_chunks(length));
            let of_run = |runner: &mut _, ((world, run), outputs): ((World, u64), &[f32])| {
                let parameters = wave.parameters(range, world, run);
                // drawing the batches again may be slow
                control
                    .keep_going()
                    .then(|| score(training, runner, (world, run), outputs, parameters))
            };
            runs.map_init(|| None, of_run).collect()
        });
        self.cpu.collect_runs(range, results.ok_or(EngineError::Stopped)?)
    }

    /// Name and float mode.
    pub(crate) fn device(&self) -> Device {
        self.device.device()
    }

    /// The CPU that takes over.
    pub(crate) fn cpu(&self) -> &DpSgd {
        &self.cpu
    }

    /// Number of runs of each world that fit in a wave.
    #[must_use]
    pub fn smallest_wave(&self) -> u64 {
        self.device.smallest_wave()
    }

    /// Trains and scores the runs `range` of both worlds, or the first of them.
    ///
    /// # Errors
    /// The device fails; cancelled by `control`; an error of the sink.
    pub async fn train(
        &self,
        range: UnitRange,
        control: &dyn Control,
    ) -> Result<WaveScores, QueueError> {
        let train =
            async |waves: &mut Waves, range| train_wave(waves, &self.cpu, range, control).await;
        let (range, wave) = self.device.train(&self.cpu, range, control, train).await?;
        Ok(self.score_wave(range, &wave, control)?)
    }
}

/// The waves of a run.
pub struct TrainingQueue<'a> {
    gpu: &'a GpuDpSgd,
    bins: &'a ScoreBins,
    control: &'a dyn Control,
}

impl fmt::Debug for TrainingQueue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TrainingQueue").finish_non_exhaustive()
    }
}

impl<'a> TrainingQueue<'a> {
    pub(crate) fn new(gpu: &'a GpuDpSgd, bins: &'a ScoreBins, control: &'a dyn Control) -> Self {
        TrainingQueue { gpu, bins, control }
    }
}

impl Queue for TrainingQueue<'_> {
    type Evidence = TwoWorlds;
    type Ticket = Wave<TwoWorlds>;

    fn depth(&self) -> usize {
        1
    }

    fn smallest_wave(&self) -> u64 {
        self.gpu.smallest_wave()
    }

    fn opening(&self) -> u64 {
        self.gpu.device.opening()
    }

    async fn submit(&mut self, range: UnitRange) -> Result<Wave<TwoWorlds>, QueueError> {
        let started = self.control.now_ms();
        let trained = self.gpu.train(range, self.control).await?;
        let evidence = trained.evidence(self.bins);
        Ok(Wave { range: trained.range, evidence, spent_ms: self.control.now_ms() - started })
    }

    async fn collect(&mut self, wave: Wave<TwoWorlds>) -> Result<Wave<TwoWorlds>, QueueError> {
        Ok(wave)
    }

    async fn reopen(&mut self, opening: u64) -> Result<bool, String> {
        self.gpu.device.reopen(opening).await
    }
}

/// Scores a run, and evaluates its model if the parameters were read.
fn score<'a>(
    training: &'a Training,
    runner: &mut Option<Runner<'a>>,
    (world, run): (World, u64),
    outputs: &[f32],
    parameters: Option<&[f32]>,
) -> (RunResult, TrainingTally) {
    let mut tally = TrainingTally::default();
    let first_lost = outputs.iter().position(|output| !output.is_finite());
    let outputs = first_lost.map_or(outputs, |index| &outputs[..=index]).to_vec();
    let result = training.score_run(outputs, training.batches_of(world, run), &mut tally);
    if let Some(parameters) = parameters {
        runner
            .get_or_insert_with(|| Runner::new(training))
            .evaluate_parameters(parameters, &mut tally);
    }
    (result, tally)
}

impl Subject for DpSgd {
    fn unsupported(&self) -> Option<&'static str> {
        let is_debiased = self.training().settings().debias_records > 0;
        is_debiased.then_some("debias_records above 0")
    }

    fn max_rows(&self) -> usize {
        self.training().max_rows()
    }

    fn read_models(&self) -> u64 {
        SELF_TEST_MODELS.max(2 * self.training().evaluated_runs())
    }

    fn plan(&self, max_rows: usize) -> Result<GpuPlan, TrainError> {
        GpuPlan::new(self.training(), max_rows)
    }

    fn threads(&self) -> &Threads {
        self.threads()
    }
}

impl Tested for DpSgd {
    async fn self_test(&self, waves: &mut Waves, control: &dyn Control) -> Result<(), GpuError> {
        self_test::check(waves, self, control).await
    }
}

/// The results of a wave.
#[derive(Debug)]
struct WaveResult {
    /// Outputs o of each model, the runs of D first.
    outputs: Vec<f32>,
    /// Final parameters θ of the first models of each world.
    parameters: [Vec<f32>; 2],
    /// Number of parameters per model.
    count: usize,
}

impl WaveResult {
    /// Final parameters θ of a run, if they were requested.
    fn parameters(&self, range: UnitRange, world: World, run: u64) -> Option<&[f32]> {
        let first = (run - range.first) as usize * self.count;
        self.parameters[world.index()].get(first..first + self.count)
    }
}

/// Trains the models of a range of runs in both worlds; reads the parameters of the first models of
/// each world.
async fn train_wave(
    waves: &mut Waves,
    cpu: &DpSgd,
    range: UnitRange,
    control: &dyn Control,
) -> Result<WaveResult, GpuError> {
    let training = cpu.training();
    let mut wave = waves.begin(range, control).await?;
    let mut rows = HostRows::new(training, cpu.threads(), &wave.pipelines.plan, range);
    for epoch in 0..training.mechanism.epochs {
        rows.draw(epoch, control)?;
        for step in 0..training.mechanism.steps_per_epoch {
            wave.step(&rows, epoch, step).await?;
        }
    }
    let outputs = wave.outputs().await?;
    let evaluated = training.evaluated_runs().saturating_sub(range.first).min(range.len());
    let parameters =
        [wave.parameters(0, evaluated).await?, wave.parameters(range.len(), evaluated).await?];
    Ok(WaveResult { outputs, parameters, count: training.network.parameters() })
}

impl HostBatches for Training {
    fn draw(&self, stream: u64, epoch: u32, drawn: &mut EpochBatches) {
        self.batches.draw(self.seed, stream, epoch, drawn);
    }

    fn select(&self, stream: u64, members: &[u32], records: &mut Vec<u32>) -> f64 {
        let world = World::BOTH[(stream % 2) as usize];
        self.select_records(world, members, records).mean
    }
}

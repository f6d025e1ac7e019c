//! Training on a GPU.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dpscope_core::adjacency::World;
use dpscope_core::audit::histogram::ScoreBins;
use dpscope_engine::gpu::{Adapter, AdapterFacts, OpenDevice, Reopening};
use dpscope_engine::{
    Control, Device, EngineError, FloatMode, GpuError, Queue, QueueError, UnitRange, Wave,
};
use dpscope_simulation::{TrainingTally, TwoWorlds};
use rayon::prelude::*;

use super::pipelines::{Pipelines, SourceEdit};
use super::self_test::{self, Watch};
use super::size::WaveLimits;
use super::wave::{WaveResult, Waves};
use crate::observed::RunResult;
use crate::run::Runner;
use crate::trainer::{DpSgd, WaveScores};

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
    limits: WaveLimits,
    edit: Option<SourceEdit>,
    open: Reopening<OpenDevice>,
    state: Mutex<State>,
}

/// Failure to open a device for training.
#[derive(Debug)]
pub struct OpenError {
    /// The CPU trainer that was passed.
    pub cpu: DpSgd,
    /// Reason.
    pub error: EngineError,
}

#[derive(Debug)]
struct State {
    /// `None` before the self-test.
    waves: Option<Waves>,
    /// Whether a warning about halved waves was issued.
    has_warned: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
    pub fn open(
        cpu: DpSgd,
        adapter: &Adapter,
        memory_bytes: u64,
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Result<Self, Box<OpenError>> {
        Self::open_within(cpu, adapter, WaveLimits::of_memory(memory_bytes), None, keep_going)
    }

    /// Opens an adapter within the given limits, with kernels modified by `edit`. For tests.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    #[doc(hidden)]
    pub fn open_within(
        cpu: DpSgd,
        adapter: &Adapter,
        limits: WaveLimits,
        edit: Option<SourceEdit>,
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Result<Self, Box<OpenError>> {
        let watch = Watch::new(keep_going);
        let opened = pollster::block_on(open_device(adapter, &limits)).and_then(|open| {
            let open = Reopening::new(adapter, open);
            let waves = self_tested_waves(&open.device(), &cpu, &limits, edit, &watch)?;
            Ok((open, waves))
        });
        let (open, waves) = match opened {
            Ok(opened) => opened,
            Err(failure) => return Err(Box::new(OpenError { cpu, error: failure.into() })),
        };
        let state = Mutex::new(State { waves: Some(waves), has_warned: false });
        Ok(GpuDpSgd { cpu, limits, edit, open, state })
    }

    /// Default limit on the device memory of a wave, in bytes.
    #[must_use]
    pub fn default_memory_bytes(facts: &AdapterFacts) -> u64 {
        if facts.hardware { 1 << 30 } else { 1 << 28 }
    }

    /// Destroys the device, like a driver reset. For tests.
    #[doc(hidden)]
    pub fn lose_device(&self) {
        self.open.device().lose();
    }

    /// Prevents lost devices from being reopened. For tests.
    #[doc(hidden)]
    pub fn forbid_reopening(&self) {
        self.open.forbid();
    }

    /// Trains as many of the first runs of a range as fit in a wave.
    fn train_wave(
        &self,
        state: &mut State,
        range: UnitRange,
        control: &dyn Control,
    ) -> Result<(UnitRange, WaveResult), GpuError> {
        let waves = match &mut state.waves {
            Some(waves) => waves,
            none => {
                let open = self.open.device();
                none.insert(self_tested_waves(&open, &self.cpu, &self.limits, self.edit, control)?)
            }
        };
        let end = range.end.min(range.first.saturating_add(waves.runs()));
        let range = UnitRange { end, ..range };
        let evaluated =
            self.cpu.training().evaluated_runs().saturating_sub(range.first).min(range.len());
        match waves.train(&self.cpu, range, evaluated, control) {
            Err(GpuError::Unfit(reason)) => {
                if !waves.halve(range.len()) {
                    return Err(GpuError::Unfit(reason));
                }
                if !state.has_warned {
                    let max_runs = waves.runs();
                    control.warn(&format!(
                        "{reason}; training {max_runs} runs of each world at a time"
                    ));
                }
                state.has_warned = true;
                self.train_wave(state, range, control)
            }
            result => Ok((range, result?)),
        }
    }

    /// Scores the runs of a wave and evaluates the first models.
    fn score_wave(
        &self,
        range: UnitRange,
        wave: &WaveResult,
        control: &dyn Control,
    ) -> Result<WaveScores, EngineError> {
        let length = self.cpu.training().outputs_per_run();
        let results: Option<Vec<(RunResult, TrainingTally)>> = self.cpu.pool().install(|| {
            let runs = DpSgd::runs(range).into_par_iter().zip(wave.outputs.par_chunks(length));
            let score = |runner: &mut _, ((world, run), outputs): ((World, u64), &[f32])| {
                let parameters = wave.parameters(range, world, run);
                // drawing the batches again may be slow
                control.keep_going().then(|| self.score(runner, (world, run), outputs, parameters))
            };
            runs.map_init(|| None, score).collect()
        });
        self.cpu.collect_runs(range, results.ok_or(EngineError::Stopped)?)
    }

    fn score<'a>(
        &'a self,
        runner: &mut Option<Runner<'a>>,
        (world, run): (World, u64),
        outputs: &[f32],
        parameters: Option<&[f32]>,
    ) -> (RunResult, TrainingTally) {
        let training = self.cpu.training();
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

    /// Name and float mode.
    pub(crate) fn device(&self) -> Device {
        let device = self.open.adapter().facts().device();
        let name = format!("{}, training)", device.strip_suffix(')').unwrap_or(&device));
        Device { name, mode: FloatMode::Fast }
    }

    /// The CPU that takes over.
    pub(crate) fn cpu(&self) -> &DpSgd {
        &self.cpu
    }

    /// Number of runs of each world that fit in a wave.
    #[must_use]
    pub fn smallest_wave(&self) -> u64 {
        lock(&self.state).waves.as_ref().map_or(1, Waves::runs)
    }

    /// Trains and scores the runs `range` of both worlds, or the first of them.
    ///
    /// # Errors
    /// The device fails; cancelled by `control`; an error of the sink.
    pub fn train(&self, range: UnitRange, control: &dyn Control) -> Result<WaveScores, QueueError> {
        let (range, wave) = self.train_wave(&mut lock(&self.state), range, control)?;
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
        self.gpu.open.opening()
    }

    async fn submit(&mut self, range: UnitRange) -> Result<Wave<TwoWorlds>, QueueError> {
        let started = self.control.now_ms();
        let trained = self.gpu.train(range, self.control)?;
        let evidence = trained.evidence(self.bins);
        Ok(Wave { range: trained.range, evidence, spent_ms: self.control.now_ms() - started })
    }

    async fn collect(&mut self, wave: Wave<TwoWorlds>) -> Result<Wave<TwoWorlds>, QueueError> {
        Ok(wave)
    }

    async fn reopen(&mut self, opening: u64) -> Result<bool, String> {
        let GpuDpSgd { open, limits, state, .. } = self.gpu;
        lock(state).waves = None;
        let device = async |adapter: Adapter| {
            open_device(&adapter, limits).await.map_err(|failure| failure.to_string())
        };
        open.reopen(opening, device).await
    }
}

async fn open_device(adapter: &Adapter, limits: &WaveLimits) -> Result<OpenDevice, GpuError> {
    let requested = wgpu::Limits {
        max_buffer_size: limits.granted_bytes,
        max_storage_buffer_binding_size: limits.granted_bytes,
        ..wgpu::Limits::default()
    };
    let opened = OpenDevice::open(adapter, wgpu::Features::empty(), requested).await;
    opened.map_err(GpuError::Device)
}

/// Compiles the kernels of a training and runs the self-test.
fn self_tested_waves(
    open: &Arc<OpenDevice>,
    cpu: &DpSgd,
    limits: &WaveLimits,
    edit: Option<SourceEdit>,
    control: &dyn Control,
) -> Result<Waves, GpuError> {
    if cpu.training().settings().debias_records > 0 {
        let reason = "debias_records above 0 is supported on the CPU only";
        return Err(GpuError::Unfit(reason.to_owned()));
    }
    let pipelines = Pipelines::new(open, cpu.training(), limits, cpu.pool(), edit)?;
    let mut waves = Waves::new(pipelines, limits.work);
    self_test::check(&mut waves, cpu, control)?;
    Ok(waves)
}

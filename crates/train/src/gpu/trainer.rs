//! Training on a GPU, as a backend of the engine.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dpscope_core::adjacency::World;
use dpscope_engine::backend::gpu::{Adapter, AdapterFacts, GpuError, OpenDevice, REOPENINGS};
use dpscope_engine::{Control, EngineError, ObservationRange, Trainer, TrainingTally, WaveScores};
use rayon::prelude::*;

use super::pipelines::{Pipelines, SourceEdit};
use super::self_test::{self, Watch};
use super::size::WaveLimits;
use super::wave::{WaveResult, Waves};
use crate::observed::RunResult;
use crate::run::Runner;
use crate::trainer::DpSgd;

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
    adapter: Adapter,
    limits: WaveLimits,
    edit: Option<SourceEdit>,
    open: Mutex<Arc<OpenDevice>>,
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
    reopenings: u32,
    /// Whether a warning about halved waves was issued.
    has_warned: bool,
    on_cpu: bool,
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
        let opened = open_device(adapter, &limits).and_then(|open| {
            let open = Arc::new(open);
            let waves = self_tested_waves(&open, &cpu, &limits, edit, &watch)?;
            Ok((open, waves))
        });
        let (open, waves) = match opened {
            Ok(opened) => opened,
            Err(failure) => return Err(Box::new(OpenError { cpu, error: engine_error(failure) })),
        };
        let state =
            State { waves: Some(waves), reopenings: REOPENINGS, has_warned: false, on_cpu: false };
        let (adapter, open, state) = (adapter.clone(), Mutex::new(open), Mutex::new(state));
        Ok(GpuDpSgd { cpu, adapter, limits, edit, open, state })
    }

    /// Default limit on the device memory of a wave, in bytes.
    #[must_use]
    pub fn default_memory_bytes(facts: &AdapterFacts) -> u64 {
        if facts.hardware { 1 << 30 } else { 1 << 28 }
    }

    /// Destroys the device, like a driver reset. For tests.
    #[doc(hidden)]
    pub fn lose_device(&self) {
        lock(&self.open).lose();
    }

    /// Prevents lost devices from being reopened. For tests.
    #[doc(hidden)]
    pub fn forbid_reopening(&self) {
        lock(&self.state).reopenings = 0;
    }

    /// Trains as many of the first runs of a range as fit in a wave.
    fn train_wave(
        &self,
        state: &mut State,
        range: ObservationRange,
        control: &dyn Control,
    ) -> Result<(ObservationRange, WaveResult), GpuError> {
        let waves = match &mut state.waves {
            Some(waves) => waves,
            none => {
                let open = lock(&self.open).clone();
                none.insert(self_tested_waves(&open, &self.cpu, &self.limits, self.edit, control)?)
            }
        };
        let end = range.end.min(range.first.saturating_add(waves.runs()));
        let range = ObservationRange { end, ..range };
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

    /// Reopens a lost device.
    fn reopen(&self, state: &mut State) -> Result<(), String> {
        state.waves = None;
        let left = state.reopenings.checked_sub(1);
        state.reopenings = left.ok_or("the device is not reopened again")?;
        let adapter = pollster::block_on(self.adapter.found_again())
            .ok_or("the device is no longer available")?;
        let open = open_device(&adapter, &self.limits).map_err(|failure| failure.to_string())?;
        *lock(&self.open) = Arc::new(open);
        Ok(())
    }

    /// Scores the runs of a wave and evaluates the first models.
    fn score_wave(
        &self,
        range: ObservationRange,
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

    /// Trains the first runs of a range on the CPU: few, so that the call returns soon.
    fn train_on_cpu(
        &self,
        range: ObservationRange,
        control: &dyn Control,
    ) -> Result<WaveScores, EngineError> {
        let end = range.end.min(range.first.saturating_add(self.cpu.smallest_wave()));
        let trained = self.cpu.train(ObservationRange { end, ..range }, control)?;
        Ok(WaveScores { is_fallback: true, ..trained })
    }
}

impl Trainer for GpuDpSgd {
    fn description(&self) -> &str {
        self.cpu.description()
    }

    fn device(&self) -> String {
        let device = self.adapter.facts().device();
        format!("{}, training)", device.strip_suffix(')').unwrap_or(&device))
    }

    fn fallback_device(&self) -> String {
        self.cpu.device()
    }

    fn smallest_wave(&self) -> u64 {
        let state = lock(&self.state);
        if state.on_cpu {
            return self.cpu.smallest_wave();
        }
        state.waves.as_ref().map_or(1, Waves::runs)
    }

    fn train(
        &self,
        range: ObservationRange,
        control: &dyn Control,
    ) -> Result<WaveScores, EngineError> {
        let mut state = lock(&self.state);
        while !state.on_cpu {
            let reason = match self.train_wave(&mut state, range, control) {
                Ok((range, wave)) => return self.score_wave(range, &wave, control),
                Err(GpuError::Stopped) => return Err(EngineError::Stopped),
                Err(GpuError::Unfit(reason)) => reason,
                Err(GpuError::Device(reason)) => match self.reopen(&mut state) {
                    Ok(()) => {
                        control.warn(&format!("{reason}; the device was reopened"));
                        continue;
                    }
                    Err(closed) => format!("{reason}; {closed}"),
                },
            };
            control.warn(&format!("{reason}; continuing on the CPU"));
            (state.on_cpu, state.waves) = (true, None);
        }
        drop(state);
        self.train_on_cpu(range, control)
    }
}

fn open_device(adapter: &Adapter, limits: &WaveLimits) -> Result<OpenDevice, GpuError> {
    let requested = wgpu::Limits {
        max_buffer_size: limits.granted_bytes,
        max_storage_buffer_binding_size: limits.granted_bytes,
        ..wgpu::Limits::default()
    };
    let opened = OpenDevice::open(adapter, wgpu::Features::empty(), requested);
    pollster::block_on(opened).map_err(GpuError::Device)
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

fn engine_error(failure: GpuError) -> EngineError {
    match failure {
        GpuError::Stopped => EngineError::Stopped,
        GpuError::Device(reason) | GpuError::Unfit(reason) => {
            EngineError::Backend { backend: "gpu", reason }
        }
    }
}

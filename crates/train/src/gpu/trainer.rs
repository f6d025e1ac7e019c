//! Runs on a GPU, as a backend of the engine.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dpscope_core::adjacency::World;
use dpscope_engine::backend::gpu::{Adapter, AdapterFacts, Failure, OpenDevice, REOPENINGS};
use dpscope_engine::{Control, EngineError, ObservationRange, Trained, Trainer, TrainingTally};
use rayon::prelude::*;

use super::pipelines::{Change, Pipelines};
use super::self_test::{self, Watch};
use super::size::WaveLimits;
use super::wave::{WaveResult, Waves};
use crate::observed::RunResult;
use crate::run::Runner;
use crate::trainer::DpSgd;

/// Trains runs by DP-SGD on a GPU, both worlds' runs of a wave together; the CPU trainer stands in where
/// the device fails.
///
/// The seed gives the batches and random words that it gives on the CPU; sums have another order, so
/// that a run's trajectory is another, with the same law.
///
/// # Guarantee
/// What a run shows depends on the training and its number, not on waves
/// (`tests/gpu/training.rs::runs_do_not_depend_on_waves`); each step is the CPU's within rounding
/// (`tests/gpu/training.rs::broken_kernels_are_refused`); a device that is lost costs no run
/// (`tests/gpu/training.rs::a_lost_device_costs_no_run`).
///
/// # Numerics
/// A batch is worked on whole where four runs of each world fit into the memory that way, else in parts,
/// whose sums have other last bits: with very little memory a run's outputs depend on how little.
#[derive(Debug)]
pub struct GpuDpSgd {
    cpu: DpSgd,
    adapter: Adapter,
    limits: WaveLimits,
    change: Option<Change>,
    open: Mutex<Arc<OpenDevice>>,
    state: Mutex<State>,
}

/// A device that does not train, and the trainer that does instead.
#[derive(Debug)]
pub struct OpenError {
    /// As it was given.
    pub cpu: DpSgd,
    /// Why.
    pub error: EngineError,
}

#[derive(Debug)]
struct State {
    /// None before the self-test.
    waves: Option<Waves>,
    reopenings: u32,
    /// Whether it was told that waves are halved.
    is_told: bool,
    on_cpu: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl GpuDpSgd {
    /// Opens an adapter for what `cpu` trains, once it has trained as that does.
    ///
    /// | argument | meaning | unit | domain |
    /// |---|---|---|---|
    /// | `cpu` | training, threads and where outputs go | – | – |
    /// | `adapter` | the GPU | – | – |
    /// | `memory_bytes` | what waves may take of its memory | bytes | – |
    /// | `keep_going` | asked often; false ends the self-test | – | – |
    ///
    /// # Errors
    /// Outputs without the others' mean gradient, which the CPU alone computes; a model too large for
    /// the device or the memory; no device; a device that fails its self-test; stopped.
    pub fn open(
        cpu: DpSgd,
        adapter: &Adapter,
        memory_bytes: u64,
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Result<Self, Box<OpenError>> {
        Self::open_within(cpu, adapter, WaveLimits::of_memory(memory_bytes), None, keep_going)
    }

    /// Opens an adapter within other limits, with kernels as `change` makes them. For tests.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    #[doc(hidden)]
    pub fn open_within(
        cpu: DpSgd,
        adapter: &Adapter,
        limits: WaveLimits,
        change: Option<Change>,
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Result<Self, Box<OpenError>> {
        let watch = Watch::new(keep_going);
        let opened = opened(adapter, &limits).and_then(|open| {
            let open = Arc::new(open);
            let waves = tested(&open, &cpu, &limits, change, &watch)?;
            Ok((open, waves))
        });
        let (open, waves) = match opened {
            Ok(opened) => opened,
            Err(failure) => return Err(Box::new(OpenError { cpu, error: failed(failure) })),
        };
        let state =
            State { waves: Some(waves), reopenings: REOPENINGS, is_told: false, on_cpu: false };
        let (adapter, open, state) = (adapter.clone(), Mutex::new(open), Mutex::new(state));
        Ok(GpuDpSgd { cpu, adapter, limits, change, open, state })
    }

    /// Memory that waves take where nothing else is said, in bytes.
    #[must_use]
    pub fn default_memory_bytes(facts: &AdapterFacts) -> u64 {
        if facts.hardware { 1 << 30 } else { 1 << 28 }
    }

    /// Destroys the device, as a driver's reset would. For tests.
    #[doc(hidden)]
    pub fn lose_device(&self) {
        lock(&self.open).lose();
    }

    /// Lets no device be opened in place of a lost one. For tests.
    #[doc(hidden)]
    pub fn forbid_reopening(&self) {
        lock(&self.state).reopenings = 0;
    }

    /// Trains the first of these runs, as many as fit.
    fn wave(
        &self,
        state: &mut State,
        range: ObservationRange,
        control: &dyn Control,
    ) -> Result<(ObservationRange, WaveResult), Failure> {
        let waves = match &mut state.waves {
            Some(waves) => waves,
            none => {
                let open = lock(&self.open).clone();
                none.insert(tested(&open, &self.cpu, &self.limits, self.change, control)?)
            }
        };
        let end = range.end.min(range.first.saturating_add(waves.runs()));
        let range = ObservationRange { end, ..range };
        let asked =
            self.cpu.training().evaluated_runs().saturating_sub(range.first).min(range.len());
        match waves.trained(&self.cpu, range, asked, control) {
            Err(Failure::Unfit(reason)) => {
                if !waves.halve(range.len()) {
                    return Err(Failure::Unfit(reason));
                }
                if !state.is_told {
                    let most = waves.runs();
                    control.warn(&format!("{reason}; {most} runs of each world at a time"));
                }
                state.is_told = true;
                self.wave(state, range, control)
            }
            seen => Ok((range, seen?)),
        }
    }

    /// Opens a device in place of one that was lost.
    fn reopen(&self, state: &mut State) -> Result<(), String> {
        state.waves = None;
        let left = state.reopenings.checked_sub(1);
        state.reopenings = left.ok_or("the device is not opened again")?;
        let adapter = pollster::block_on(self.adapter.found_again()).ok_or("the device is gone")?;
        let open = opened(&adapter, &self.limits).map_err(|failure| failure.to_string())?;
        *lock(&self.open) = Arc::new(open);
        Ok(())
    }

    /// Scores what a wave showed, and asks the first models.
    fn scored(
        &self,
        range: ObservationRange,
        seen: &WaveResult,
        control: &dyn Control,
    ) -> Result<Trained, EngineError> {
        let length = self.cpu.training().outputs_per_run();
        let ran: Option<Vec<(RunResult, TrainingTally)>> = self.cpu.pool().install(|| {
            let runs = DpSgd::runs(range).into_par_iter().zip(seen.outputs.par_chunks(length));
            let scored = |runner: &mut _, ((world, run), outputs): ((World, u64), &[f32])| {
                let asked = seen.parameters(range, world, run);
                // batches that are drawn again take long
                control.keep_going().then(|| self.score(runner, (world, run), outputs, asked))
            };
            runs.map_init(|| None, scored).collect()
        });
        self.cpu.gathered(range, ran.ok_or(EngineError::Stopped)?)
    }

    fn score<'a>(
        &'a self,
        runner: &mut Option<Runner<'a>>,
        (world, run): (World, u64),
        outputs: &[f32],
        asked: Option<&[f32]>,
    ) -> (RunResult, TrainingTally) {
        let training = self.cpu.training();
        let mut tally = TrainingTally::default();
        let failed = outputs.iter().position(|output| !output.is_finite());
        let outputs = failed.map_or(outputs, |place| &outputs[..=place]).to_vec();
        let ran = training.scored(outputs, training.batches_of(world, run), &mut tally);
        if let Some(parameters) = asked {
            runner
                .get_or_insert_with(|| Runner::new(training))
                .evaluate_parameters(parameters, &mut tally);
        }
        (ran, tally)
    }

    /// Trains so little of a GPU's wave that the CPU is soon done.
    fn start_on_cpu(
        &self,
        range: ObservationRange,
        control: &dyn Control,
    ) -> Result<Trained, EngineError> {
        let end = range.end.min(range.first.saturating_add(self.cpu.smallest_wave()));
        let trained = self.cpu.train(ObservationRange { end, ..range }, control)?;
        Ok(Trained { is_fallback: true, ..trained })
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

    fn stand_in(&self) -> String {
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
    ) -> Result<Trained, EngineError> {
        let mut state = lock(&self.state);
        while !state.on_cpu {
            let reason = match self.wave(&mut state, range, control) {
                Ok((range, seen)) => return self.scored(range, &seen, control),
                Err(Failure::Stopped) => return Err(EngineError::Stopped),
                Err(Failure::Unfit(reason)) => reason,
                Err(Failure::Device(reason)) => match self.reopen(&mut state) {
                    Ok(()) => {
                        control.warn(&format!("{reason}; the device was opened again"));
                        continue;
                    }
                    Err(closed) => format!("{reason}; {closed}"),
                },
            };
            control.warn(&format!("{reason}; the CPU trains from here on"));
            (state.on_cpu, state.waves) = (true, None);
        }
        drop(state);
        self.start_on_cpu(range, control)
    }
}

fn opened(adapter: &Adapter, limits: &WaveLimits) -> Result<OpenDevice, Failure> {
    let wanted = wgpu::Limits {
        max_buffer_size: limits.granted_bytes,
        max_storage_buffer_binding_size: limits.granted_bytes,
        ..wgpu::Limits::default()
    };
    let opened = OpenDevice::open(adapter, wgpu::Features::empty(), wanted);
    pollster::block_on(opened).map_err(Failure::Device)
}

/// The training's kernels on a device, once they have trained as the CPU does.
fn tested(
    open: &Arc<OpenDevice>,
    cpu: &DpSgd,
    limits: &WaveLimits,
    change: Option<Change>,
    control: &dyn Control,
) -> Result<Waves, Failure> {
    if cpu.training().settings().debias_records > 0 {
        let reason = "the mean gradient of the other records is taken on the CPU alone";
        return Err(Failure::Unfit(reason.to_owned()));
    }
    let loaded = Pipelines::new(open, cpu.training(), limits, cpu.pool(), change)?;
    let mut waves = Waves::new(loaded, limits.work);
    self_test::check(&mut waves, cpu, control)?;
    Ok(waves)
}

fn failed(failure: Failure) -> EngineError {
    match failure {
        Failure::Stopped => EngineError::Stopped,
        Failure::Device(reason) | Failure::Unfit(reason) => {
            EngineError::Backend { backend: "gpu", reason }
        }
    }
}

//! The loop: a wave of observations, a merge, a chance to save and to stop.

use dpscope_shaders::bgm::{Phase, ScoreKernel};

use crate::plan::ValidPlan;
use crate::{Artefact, Backend, EngineError, ObservationRange};

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Observations of both worlds that are counted.
    pub done: u64,
    /// Observations of both worlds that this run is to count.
    pub total: u64,
    /// Observations of both worlds that were counted before this run.
    pub resumed: u64,
}

/// The caller's side of a run: clock, stop button, and where the state goes.
pub trait Control: Sync {
    /// Asked often; `false` ends the run with [`EngineError::Stopped`].
    fn keep_going(&self) -> bool;
    /// Milliseconds since any fixed moment.
    fn now_ms(&self) -> f64;
    /// Called after every wave (about four a second) with the state so far.
    ///
    /// # Errors
    /// Whatever the caller meets, a full disk say; the run ends with it.
    fn after_wave(
        &self,
        state: &Artefact,
        progress: Progress,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>>;
}

/// Wall time that a wave is sized for.
const WAVE_MS: f64 = 250.0;

/// Counts what is left of `state` and returns it finished.
///
/// The counts are a function of the plan: they do not depend on threads, waves, or where an earlier
/// run stopped. On [`EngineError::Stopped`] the last state given to
/// [`Control::after_wave`] is what can be gone on with.
///
/// # Errors
/// Stopped by the caller; a backend that fails or miscounts; a caller that cannot save.
pub async fn run(
    plan: &ValidPlan,
    mut state: Artefact,
    backend: &Backend,
    control: &dyn Control,
) -> Result<Artefact, EngineError> {
    let kernel = ScoreKernel::new(plan.law(), plan.plan().seed, Phase::Audit)?;
    let resumed = 2 * state.done();
    let total = 2 * state.range.len();
    note_backend(&mut state, backend);
    let mut wave = backend.smallest_wave();
    loop {
        let remaining = state.remaining();
        if remaining.is_empty() {
            return Ok(state);
        }
        let first = remaining.first;
        let range = ObservationRange { first, end: first + wave.min(remaining.len()) };
        let started = control.now_ms();
        let keep_going = || control.keep_going();
        let counted = backend.count(&kernel, &state.layout.bins, range, &keep_going).await?;
        let spent = (control.now_ms() - started).max(0.01);

        let trials = counted.trials();
        if trials.target != range.len() || trials.zero_out != range.len() {
            return Err(EngineError::Miscounted {
                backend: backend.device(),
                counted: trials.target.saturating_add(trials.zero_out),
                expected: 2 * range.len(),
            });
        }
        state.histograms.merge(&counted)?;
        extend(&mut state.counted, range);
        state.sampling_ms += spent;
        let progress = Progress { done: 2 * state.done(), total, resumed };
        control.after_wave(&state, progress).map_err(EngineError::Control)?;
        if !control.keep_going() && !state.is_finished() {
            return Err(EngineError::Stopped);
        }
        wave = next_wave(range.len(), spent, backend.smallest_wave());
    }
}

fn note_backend(state: &mut Artefact, backend: &Backend) {
    let device = backend.device();
    if !state.devices.contains(&device) {
        state.devices.push(device);
    }
    if !state.float_modes.contains(&backend.float_mode()) {
        state.float_modes.push(backend.float_mode());
    }
}

fn extend(counted: &mut Vec<ObservationRange>, range: ObservationRange) {
    match counted.last_mut() {
        Some(last) if last.end == range.first => last.end = range.end,
        _ => counted.push(range),
    }
}

/// Whole multiples of the smallest wave; at most eight times the last one.
fn next_wave(last: u64, spent_ms: f64, smallest: u64) -> u64 {
    let wanted = last as f64 * (WAVE_MS / spent_ms).min(8.0);
    let waves = (wanted / smallest as f64) as u64;
    waves.clamp(1, 1 << 32).saturating_mul(smallest)
}

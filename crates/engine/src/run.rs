//! The main loop: waves of units, a merge, a chance to save and to stop.

use std::collections::VecDeque;

use crate::control::{Control, Progress, RunControl};
use crate::executor::{Computed, Executor};
use crate::merge::joined;
use crate::wave::WaveSize;
use crate::{Artefact, ArtefactError, EngineError, Evidence, Plan, UnitRange, Workload};

/// The state of a workload before its first unit.
///
/// # Errors
/// As [`Workload::first_stage`].
pub fn begin<W: Workload>(
    workload: &W,
    range: UnitRange,
    control: &dyn Control,
) -> Result<Artefact<W::Plan>, EngineError> {
    let stage = workload.first_stage(&|| control.keep_going())?;
    let evidence = workload.empty(&stage);
    let mut state = Artefact::empty(workload.plan().clone(), stage, range);
    state.evidence = evidence;
    Ok(state)
}

/// Computes the missing units of `state` and returns it finished; if that makes a stage whole, also
/// those of all later stages.
///
/// The evidence is a function of the plan: it does not depend on threads, devices in exact mode,
/// waves, or where an earlier run stopped. On [`EngineError::Stopped`] the last state passed to
/// [`RunControl::after_wave`] can be resumed.
///
/// # Guarantee
/// No unit is lost or repeated when devices fail
/// (`unit::a_failing_device_costs_no_unit`) or runs are stopped
/// (`unit::stopped_runs_resume_from_their_bytes`); shards join to the undivided run, stage by stage
/// (`unit::any_split_merges_to_the_undivided_run`, `unit::stages_follow_each_other`).
///
/// # Errors
/// A state of another plan, version or float mode; cancelled by the caller; a device that fails or
/// miscounts; an error of [`RunControl::after_wave`].
pub async fn run<W: Workload>(
    workload: &W,
    mut state: Artefact<W::Plan>,
    control: &dyn RunControl<W::Plan>,
) -> Result<Artefact<W::Plan>, EngineError> {
    check_state(workload, &state)?;
    loop {
        state = run_stage(workload, state, control).await?;
        let next = match state.is_whole() {
            true => workload.next_stage(&state.stage, &state.evidence)?,
            false => None,
        };
        let Some(stage) = next else { return Ok(state) };
        state.evidence = workload.empty(&stage);
        (state.stage, state.counted) = (stage, Vec::new());
    }
}

/// Computes the missing units of a stage.
async fn run_stage<W: Workload>(
    workload: &W,
    mut state: Artefact<W::Plan>,
    control: &dyn RunControl<W::Plan>,
) -> Result<Artefact<W::Plan>, EngineError> {
    let stage = state.stage.clone();
    let mut executor = Executor::new(workload, &stage, control);
    let scale = W::Plan::RESULTS_PER_UNIT;
    let (resumed, total) = (scale * state.done(), scale * state.range.len());
    let mut size = WaveSize::new(executor.smallest_wave());
    let mut in_flight = VecDeque::new();
    loop {
        let ranges: Vec<UnitRange> = in_flight.iter().map(|&(range, _)| range).collect();
        let mut submitted = state.joined(&ranges)?;
        while in_flight.len() < executor.depth() {
            let range = state.range.first_gap(&submitted).first(size.next);
            if range.is_empty() {
                break;
            }
            match executor.submit(range).await {
                Ok(pending) => in_flight.push_back((range, pending)),
                // Waves in flight are counted and saved first.
                Err(EngineError::Stopped) if !in_flight.is_empty() => break,
                Err(error) => return Err(error),
            }
            submitted = joined(&submitted, &[range]).unwrap_or(submitted);
        }
        let Some((_, pending)) = in_flight.pop_front() else { return Ok(state) };
        let computed = executor.collect(pending).await?;
        let (units, spent_ms) = (computed.wave.range.len(), computed.wave.spent_ms);
        state.add(computed)?;
        let progress = Progress { done: scale * state.done(), total, resumed };
        control.after_wave(&state, progress).map_err(EngineError::Control)?;
        if !control.keep_going() && !state.is_finished() {
            return Err(EngineError::Stopped);
        }
        size.learn(units, spent_ms, executor.smallest_wave(), executor.depth());
    }
}

impl<P: Plan> Artefact<P> {
    /// Adds a wave after checking the number of its units.
    fn add(&mut self, computed: Computed<P::Evidence>) -> Result<(), EngineError> {
        let Computed { wave, device, is_fallback } = computed;
        if !wave.evidence.is_of(wave.range.len()) {
            let (device, expected) = (device.name, P::named(&wave.range.to_string()));
            return Err(EngineError::Miscounted { device, expected });
        }
        let counted = self.joined(&[wave.range])?;
        self.evidence.join(&wave.evidence)?;
        self.counted = counted;
        self.sampling_ms += wave.spent_ms.max(0.01);
        self.fallback_shards = self.fallback_shards.saturating_add(u64::from(is_fallback));
        self.note_device(device.name);
        self.note_float_mode(device.mode);
        Ok(())
    }
}

/// Checks that the workload's units can be added to the state.
fn check_state<W: Workload>(workload: &W, state: &Artefact<W::Plan>) -> Result<(), ArtefactError> {
    state.check_plan(workload.plan())?;
    let here = env!("CARGO_PKG_VERSION");
    if state.version != here {
        let (found, expected) = (state.version.clone(), here.to_owned());
        return Err(ArtefactError::VersionMismatch { found, expected });
    }
    workload.check(&state.stage, &state.evidence)?;
    let mode = workload.device().mode;
    if !state.float_modes.is_empty() && !state.float_modes.contains(&mode) {
        let found: Vec<String> = state.float_modes.iter().map(ToString::to_string).collect();
        return Err(ArtefactError::FloatModeMismatch { found: found.join(", "), here: mode });
    }
    Ok(())
}

#[cfg(test)]
mod tests;

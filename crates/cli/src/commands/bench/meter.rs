//! Counting through the engine for a while.

use std::sync::Mutex;
use std::time::Instant;

use dpscope_engine::{Artefact, Backend, Control, EngineError, Progress, Shard, run};

use super::Work;
use crate::failure::{Exit, Failure};
use crate::progress::is_interrupted;

/// What a backend counted after it was warm.
pub(super) struct Measured {
    /// Of both worlds.
    pub(super) observations: u64,
    pub(super) elapsed_ms: f64,
    pub(super) fallback_shards: u64,
    /// What the engine told meanwhile.
    pub(super) warnings: Vec<String>,
}

/// The longest part of the time that goes into warming up, in seconds.
const WARM_UP: f64 = 0.5;

/// Counts as every run does, in its own waves, until the clock ends it.
pub(super) fn measure(work: &Work, backend: &Backend) -> Result<Measured, Failure> {
    let range = Shard::WHOLE.range(work.plan.plan())?;
    let state = Artefact::empty(&work.plan, work.layout.clone(), range);
    let meter = Meter {
        started: Instant::now(),
        warm_up_ms: 1e3 * (work.seconds / 4.0).min(WARM_UP),
        measured_ms: 1e3 * work.seconds,
        seen: Mutex::default(),
    };
    match pollster::block_on(run(&work.plan, state, backend, &meter)) {
        Err(EngineError::Stopped) if is_interrupted() => Err(Failure::with(
            Exit::Interrupted,
            "interrupted; a smaller --seconds takes less time",
        )),
        Err(EngineError::Stopped) | Ok(_) => meter.measured(),
        Err(error) => Err(error.into()),
    }
}

/// The clock of one measurement.
struct Meter {
    started: Instant,
    warm_up_ms: f64,
    measured_ms: f64,
    seen: Mutex<Seen>,
}

/// The ends of waves between which the rate is taken.
#[derive(Default)]
struct Seen {
    warm: Option<Wave>,
    last: Option<Wave>,
    fallback_shards: u64,
    warnings: Vec<String>,
}

#[derive(Clone, Copy)]
struct Wave {
    at_ms: f64,
    done: u64,
}

impl Meter {
    fn measured(self) -> Result<Measured, Failure> {
        let internal = || Failure::with(Exit::Internal, "nothing was counted while the clock ran");
        let seen = self.seen.into_inner().map_err(|_| internal())?;
        let (Some(warm), Some(last)) = (seen.warm, seen.last) else { return Err(internal()) };
        Ok(Measured {
            observations: last.done - warm.done,
            elapsed_ms: last.at_ms - warm.at_ms,
            fallback_shards: seen.fallback_shards,
            warnings: seen.warnings,
        })
    }
}

impl Control for Meter {
    fn keep_going(&self) -> bool {
        let over = |seen: &Seen| match (seen.warm, seen.last) {
            (Some(warm), Some(last)) => last.at_ms - warm.at_ms >= self.measured_ms,
            _ => false,
        };
        !is_interrupted() && self.seen.lock().is_ok_and(|seen| !over(&seen))
    }

    fn now_ms(&self) -> f64 {
        self.started.elapsed().as_secs_f64() * 1e3
    }

    fn after_wave(
        &self,
        state: &Artefact,
        progress: Progress,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let wave = Wave { at_ms: self.now_ms(), done: progress.done };
        let Ok(mut seen) = self.seen.lock() else { return Ok(()) };
        seen.fallback_shards = state.fallback_shards;
        if seen.warm.is_some() {
            seen.last = Some(wave);
        } else if wave.at_ms >= self.warm_up_ms {
            seen.warm = Some(wave);
        }
        Ok(())
    }

    fn warn(&self, message: &str) {
        if let Ok(mut seen) = self.seen.lock() {
            seen.warnings.push(message.to_owned());
        }
    }
}

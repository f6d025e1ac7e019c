//! Counting through the engine for a fixed time.

use std::sync::Mutex;
use web_time::Instant;

use dpscope_engine::{Control, EngineError, Progress, RunControl, Shard, run};
use dpscope_simulation::{Artefact, Backend, Plan, Simulation};

use super::workload::BenchPlan;
use crate::failure::{Exit, Failure};
use crate::progress::is_interrupted;

/// What a backend counted after the warm-up.
pub(super) struct Measurement {
    /// Observations of both worlds.
    pub(super) observations: u64,
    pub(super) elapsed_ms: f64,
    pub(super) fallback_shards: u64,
    /// Warnings of the engine.
    pub(super) warnings: Vec<String>,
}

/// Longest warm-up, in seconds.
const WARM_UP: f64 = 0.5;

/// Counts in the waves of a normal run until the clock ends it.
pub(super) fn measure(work: &BenchPlan, backend: &Backend) -> Result<Measurement, Failure> {
    let range = Shard::WHOLE.range(work.plan.plan().observations_per_world())?;
    let state = Artefact::empty(*work.plan.plan(), work.layout.clone(), range);
    let simulation = Simulation::new(&work.plan, backend)?;
    let meter = Meter {
        started: Instant::now(),
        warm_up_ms: 1e3 * (work.seconds / 4.0).min(WARM_UP),
        measured_ms: 1e3 * work.seconds,
        waves: Mutex::default(),
    };
    match pollster::block_on(run(&simulation, state, &meter)) {
        Err(EngineError::Stopped) if is_interrupted() => Err(Failure::with(
            Exit::Interrupted,
            "interrupted; reduce --seconds for a shorter measurement",
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
    waves: Mutex<Waves>,
}

/// The ends of waves between which the rate is measured.
#[derive(Default)]
struct Waves {
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
    fn measured(self) -> Result<Measurement, Failure> {
        let internal = || Failure::with(Exit::Internal, "nothing was counted while the clock ran");
        let waves = self.waves.into_inner().map_err(|_| internal())?;
        let (Some(warm), Some(last)) = (waves.warm, waves.last) else { return Err(internal()) };
        Ok(Measurement {
            observations: last.done - warm.done,
            elapsed_ms: last.at_ms - warm.at_ms,
            fallback_shards: waves.fallback_shards,
            warnings: waves.warnings,
        })
    }
}

impl Control for Meter {
    fn keep_going(&self) -> bool {
        let over = |waves: &Waves| match (waves.warm, waves.last) {
            (Some(warm), Some(last)) => last.at_ms - warm.at_ms >= self.measured_ms,
            _ => false,
        };
        !is_interrupted() && self.waves.lock().is_ok_and(|waves| !over(&waves))
    }

    fn now_ms(&self) -> f64 {
        self.started.elapsed().as_secs_f64() * 1e3
    }

    fn warn(&self, message: &str) {
        if let Ok(mut waves) = self.waves.lock() {
            waves.warnings.push(message.to_owned());
        }
    }
}

impl RunControl<Plan> for Meter {
    fn after_wave(
        &self,
        state: &Artefact,
        progress: Progress,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let wave = Wave { at_ms: self.now_ms(), done: progress.done };
        let Ok(mut waves) = self.waves.lock() else { return Ok(()) };
        waves.fallback_shards = state.fallback_shards;
        if waves.warm.is_some() {
            waves.last = Some(wave);
        } else if wave.at_ms >= self.warm_up_ms {
            waves.warm = Some(wave);
        }
        Ok(())
    }
}

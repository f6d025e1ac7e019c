//! Time shares of the stages of a kernel.

use std::time::{Duration, Instant};

use dpscope_core::adjacency::World;
use dpscope_core::audit::AuditHistograms;
use dpscope_engine::EngineError;
use dpscope_report::record::TimeShares;
use dpscope_shaders::{Phase, ScoreKernel, Stage};
use dpscope_simulation::backend::GpuBackend;

use super::workload::BenchPlan;
use crate::failure::{Exit, Failure};
use crate::progress::is_interrupted;

/// The increments of cumulative times, as shares of the longest. A time below an earlier one is noise
/// and adds nothing.
fn added(times: [f64; 4]) -> [f64; 4] {
    let mut longest = 0.0_f64;
    let parts = times.map(|time| {
        let part = (time - longest).max(0.0);
        longest = longest.max(time);
        part
    });
    parts.map(|part| part / longest)
}

/// Approximate normals per timing: a few milliseconds, which are rarely interrupted.
const NORMALS: u64 = 4_000_000;

/// The shares of one thread of the CPU, from the shortest of several timings of each stage.
pub(super) fn of_cpu(work: &BenchPlan) -> Result<TimeShares, Failure> {
    let kernel = ScoreKernel::new(work.plan.distribution(), work.plan.plan().seed, Phase::Audit)
        .map_err(EngineError::from)?;
    let observations = (NORMALS / kernel.entries_per_observation() / 2).max(1);
    let bins = &work.layout.bins;
    let observations = observations.next_multiple_of(dpscope_shaders::LANES as u64);
    let mut scores = vec![0; observations as usize];
    let mut to = |stage, mut histograms: Option<&mut AuditHistograms>| -> Result<(), EngineError> {
        for world in World::BOTH {
            let done = kernel.scores_to(stage, world, 0, &mut scores, &|| !is_interrupted());
            done.map_err(|_| EngineError::Stopped)?;
            if let Some(histograms) = &mut histograms {
                for (observation, &score) in (0..).zip(&scores) {
                    histograms.add(bins, world, observation, score);
                }
            }
        }
        Ok(())
    };

    let mut histograms = AuditHistograms::empty(bins);
    let started = Instant::now();
    let mut shortest = [Duration::MAX; 4];
    loop {
        let times = [
            timed(|| to(Stage::Words, None))?,
            timed(|| to(Stage::Normals, None))?,
            timed(|| to(Stage::Whole, None))?,
            timed(|| to(Stage::Whole, Some(&mut histograms)))?,
        ];
        shortest = std::array::from_fn(|i| shortest[i].min(times[i]));
        if started.elapsed().as_secs_f64() >= work.seconds {
            let times = shortest.map(|time| time.as_secs_f64());
            let [random_words, normals, exponentials, rest] = added(times);
            return Ok(TimeShares { random_words, normals, exponentials, rest });
        }
    }
}

fn timed(task: impl FnOnce() -> Result<(), EngineError>) -> Result<Duration, Failure> {
    let started = Instant::now();
    match task() {
        Err(EngineError::Stopped) => Err(Failure::with(
            Exit::Interrupted,
            "interrupted; reduce --seconds for a shorter measurement",
        )),
        done => Ok(done.map(|()| started.elapsed())?),
    }
}

/// The shares of a GPU, from the shortest of several timings of a dispatch up to each stage.
pub(super) fn of_gpu(work: &BenchPlan, gpu: &GpuBackend) -> Result<TimeShares, Failure> {
    let kernel = ScoreKernel::new(work.plan.distribution(), work.plan.plan().seed, Phase::Audit)
        .map_err(EngineError::from)?;
    let started = Instant::now();
    let now_ms = || 1e3 * started.elapsed().as_secs_f64();
    let times = pollster::block_on(gpu.stage_times(&kernel, &work.layout.bins, &now_ms))?;
    let [rest, random_words, normals, exponentials] = added(times);
    Ok(TimeShares { random_words, normals, exponentials, rest })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_time_differences() {
        assert_eq!(added([2.0, 5.0, 9.0, 10.0]), [0.2, 0.3, 0.4, 0.1]);
    }

    #[test]
    fn shares_are_never_negative() {
        assert_eq!(added([2.0, 1.0, 4.0, 3.0]), [0.5, 0.0, 0.5, 0.0]);
    }
}

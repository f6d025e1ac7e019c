//! Where the time of a device goes.

use std::time::{Duration, Instant};

use dpscope_core::adjacency::World;
use dpscope_core::audit::AuditHistograms;
use dpscope_engine::{Backend, EngineError};
use dpscope_shaders::{Phase, ScoreKernel, Stage};
use serde::Serialize;

use super::Work;
use crate::failure::{Exit, Failure};
use crate::progress::is_interrupted;

/// Shares of the time, of total 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Shares {
    pub(super) random_words: f64,
    pub(super) normals: f64,
    /// With the sums and the score of an epoch.
    pub(super) exponentials: f64,
    /// Histograms.
    pub(super) rest: f64,
}

impl Shares {
    /// From the times of work that goes further and further: words; normals as well; scores as well;
    /// all. A time that is below the one before it is noise, and its stage takes no time.
    fn of_times(times: [f64; 4]) -> Self {
        let mut longest = 0.0_f64;
        let [random_words, normals, exponentials, rest] = times.map(|time| {
            let stage = (time - longest).max(0.0);
            longest = longest.max(time);
            stage
        });
        let share = |stage: f64| stage / longest;
        Shares {
            random_words: share(random_words),
            normals: share(normals),
            exponentials: share(exponentials),
            rest: share(rest),
        }
    }
}

/// Normals that one timing draws, about: a few milliseconds, which an interruption seldom hits.
const NORMALS: u64 = 4_000_000;

/// The shares of one thread of the CPU, from the shortest of several timings of each stage.
pub(super) fn of_cpu(work: &Work) -> Result<Shares, Failure> {
    let kernel = ScoreKernel::new(work.plan.law(), work.plan.plan().seed, Phase::Audit)
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
            return Ok(Shares::of_times(shortest.map(|time| time.as_secs_f64())));
        }
    }
}

fn timed(task: impl FnOnce() -> Result<(), EngineError>) -> Result<Duration, Failure> {
    let started = Instant::now();
    match task() {
        Err(EngineError::Stopped) => Err(Failure::with(
            Exit::Interrupted,
            "interrupted; a smaller --seconds takes less time",
        )),
        done => Ok(done.map(|()| started.elapsed())?),
    }
}

/// The shares of a GPU; none, since the engine runs whole programs only.
pub(super) fn of_gpu(_work: &Work, _backend: &Backend) -> Option<Shares> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_differences_of_times() {
        let shares = Shares::of_times([2.0, 5.0, 9.0, 10.0]);
        let Shares { random_words, normals, exponentials, rest } = shares;
        assert_eq!([random_words, normals, exponentials, rest], [0.2, 0.3, 0.4, 0.1]);
    }

    #[test]
    fn noise_makes_no_share_negative() {
        let Shares { random_words, normals, exponentials, rest } =
            Shares::of_times([2.0, 1.0, 4.0, 3.0]);
        assert_eq!([random_words, normals, exponentials, rest], [0.5, 0.0, 0.5, 0.0]);
    }
}

//! The CPU backend.

use dpscope_core::accounting::pair::Draw;
use dpscope_core::adjacency::World;
use dpscope_core::audit::AuditHistograms;
use dpscope_core::audit::histogram::ScoreBins;
use dpscope_engine::{Device, EngineError, FloatMode, UnitRange};
use dpscope_shaders::bgm::ScoreKernel;
#[cfg(feature = "gpu")]
use dpscope_shaders::pair::VALUES;
use dpscope_shaders::{LANES, PairKernel, instruction_set};

/// Runs the lane kernels of `dpscope-shaders` on a thread pool.
#[derive(Debug)]
pub struct CpuBackend {
    threads: usize,
    #[cfg(not(target_arch = "wasm32"))]
    pool: rayon::ThreadPool,
}

/// Number of observations that a task scores before it bins them.
const CHUNK: usize = 16 * LANES;

impl CpuBackend {
    /// A backend with `threads` threads; 0 means one per core.
    ///
    /// # Errors
    /// The system cannot create threads.
    pub fn new(threads: usize) -> Result<Self, EngineError> {
        #[cfg(not(target_arch = "wasm32"))]
        {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.map_err(|error| EngineError::Backend {
                backend: "cpu",
                reason: error.to_string(),
            })?;
            Ok(CpuBackend { threads: pool.current_num_threads(), pool })
        }
        #[cfg(target_arch = "wasm32")]
        {
            let _ = threads;
            Ok(CpuBackend { threads: 1 })
        }
    }

    /// Number of threads.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads
    }

    pub(crate) fn device(&self) -> Device {
        let threads = self.threads;
        let plural = if threads == 1 { "" } else { "s" };
        let name = format!("cpu ({}, {threads} thread{plural})", instruction_set());
        Device { name, mode: FloatMode::Exact }
    }

    /// Minimum number of observations of each world that occupies all threads.
    pub(crate) fn smallest_wave(&self) -> u64 {
        // Both worlds of a group are separate tasks.
        (LANES * self.threads.div_ceil(2)) as u64
    }

    /// Scores of observations 0..n of a world, in the kernel's unit.
    ///
    /// # Errors
    /// `keep_going` returns `false`.
    pub fn scores(
        &self,
        kernel: &ScoreKernel,
        world: World,
        n: u64,
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<i64>, EngineError> {
        let tasks = tasks(UnitRange { first: 0, end: n }, LANES);
        let score = |range: &UnitRange| {
            let mut out = vec![0; range.len() as usize];
            kernel.scores(world, range.first, &mut out, keep_going).map(|()| out)
        };
        let parts: Result<Vec<_>, _> = self.map(&tasks, score).into_iter().collect();
        Ok(parts.map_err(|_| EngineError::Stopped)?.concat())
    }

    /// Draws of the exact pair, numbers `range`.
    pub(crate) fn pair_draws(
        &self,
        kernel: &PairKernel,
        range: UnitRange,
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<Draw>, EngineError> {
        let groups = range.len().div_ceil(LANES as u64);
        let per_task = groups.div_ceil(self.threads as u64 * 4).max(1) as usize * LANES;
        let draw = |part: &UnitRange| kernel.draws(part.first, part.len() as usize, keep_going);
        let parts: Result<Vec<_>, _> =
            self.map(&tasks(range, per_task), draw).into_iter().collect();
        Ok(parts.map_err(|_| EngineError::Stopped)?.concat())
    }

    /// Converts the values of a GPU to draws.
    #[cfg(feature = "gpu")]
    pub(crate) fn pair_draws_of(&self, kernel: &PairKernel, values: &[[u32; VALUES]]) -> Vec<Draw> {
        let parts: Vec<&[[u32; VALUES]]> = values.chunks(CHUNK).collect();
        let draws = |part: &&[[u32; VALUES]]| {
            part.iter().map(|values| kernel.draw_of(values)).collect::<Vec<Draw>>()
        };
        self.map(&parts, draws).concat()
    }

    /// Counts the scores of some observations of both worlds.
    pub(crate) fn count(
        &self,
        kernel: &ScoreKernel,
        bins: &ScoreBins,
        range: UnitRange,
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Result<AuditHistograms, EngineError> {
        // Each task fills its own histograms, so there are few tasks of about equal work.
        let groups = range.len().div_ceil(LANES as u64);
        let per_task = groups.div_ceil(self.threads as u64 * 4).max(1) * LANES as u64;
        let ranges = tasks(range, usize::try_from(per_task).unwrap_or(usize::MAX));
        let tasks: Vec<(World, UnitRange)> =
            World::BOTH.iter().flat_map(|&world| ranges.iter().map(move |&r| (world, r))).collect();
        let count = |&(world, range): &(World, UnitRange)| {
            let mut histograms = AuditHistograms::empty(bins);
            let mut scores = [0; CHUNK];
            let mut first = range.first;
            while first < range.end {
                let take = (range.end - first).min(CHUNK as u64) as usize;
                kernel.scores(world, first, &mut scores[..take], keep_going)?;
                for (observation, &score) in (first..).zip(&scores[..take]) {
                    histograms.add(bins, world, observation, score);
                }
                first += take as u64;
            }
            Ok(histograms)
        };
        let mut total = AuditHistograms::empty(bins);
        for part in self.map(&tasks, count) {
            let part = part.map_err(|_: dpscope_shaders::Cancelled| EngineError::Stopped)?;
            total.merge(&part)?;
        }
        Ok(total)
    }

    /// Changes items in parallel.
    pub(crate) fn update<T: Send>(&self, items: &mut [T], f: impl Fn(&mut T) + Sync + Send) {
        #[cfg(not(target_arch = "wasm32"))]
        {
            use rayon::prelude::*;
            self.pool.install(|| items.par_iter_mut().for_each(f));
        }
        #[cfg(target_arch = "wasm32")]
        items.iter_mut().for_each(f);
    }

    /// Applies `f` to each item, in parallel; the results are in order.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn map<T: Sync, R: Send>(
        &self,
        items: &[T],
        f: impl Fn(&T) -> R + Sync + Send,
    ) -> Vec<R> {
        use rayon::prelude::*;
        self.pool.install(|| items.par_iter().map(f).collect())
    }

    #[cfg(target_arch = "wasm32")]
    pub(crate) fn map<T: Sync, R: Send>(
        &self,
        items: &[T],
        f: impl Fn(&T) -> R + Sync + Send,
    ) -> Vec<R> {
        items.iter().map(f).collect()
    }
}

/// Parts of at most `max` observations.
pub(crate) fn tasks(range: UnitRange, max: usize) -> Vec<UnitRange> {
    let max = max.max(1) as u64;
    let pieces = range.len().div_ceil(max);
    let piece = |i: u64| {
        let first = range.first + i * max;
        UnitRange { first, end: (first + max).min(range.end) }
    };
    (0..pieces).map(piece).collect()
}

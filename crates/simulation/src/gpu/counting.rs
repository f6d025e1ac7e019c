//! Waves on a GPU: divided into dispatches, submitted ahead of the host, and collected.

use std::fmt;
use std::sync::Arc;

use dpscope_core::adjacency::World;
use dpscope_core::audit::AuditHistograms;
use dpscope_core::audit::histogram::{ScoreBins, ScoreHistogram};
use dpscope_engine::gpu::{Completion, Reading, SubmissionPace, SubmissionQueue};
use dpscope_engine::{Control, GpuError, Queue, QueueError, UnitRange, Wave};
use dpscope_shaders::bgm::{Program, ScoreKernel, WORKGROUP};

use super::backend::GpuBackend;
use super::device::Gpu;
use super::device_program::DeviceProgram;
use super::pieces::DispatchSplitter;
use super::self_test;
use crate::TwoWorlds;

/// What is counted.
#[derive(Clone, Copy)]
pub(crate) struct Work<'a> {
    pub(crate) kernel: &'a ScoreKernel,
    pub(crate) bins: &'a ScoreBins,
    pub(crate) control: &'a dyn Control,
}

/// A wave whose last dispatches are running.
#[derive(Debug)]
pub struct SubmittedWave {
    id: u64,
    range: UnitRange,
    gpu: Arc<Gpu>,
    reading: Reading,
}

/// Counts the scores of one kernel on a GPU.
pub struct GpuCounting<'a> {
    backend: &'a GpuBackend,
    work: Work<'a>,
    program: Program,
    loaded: Option<DeviceProgram>,
    submissions: SubmissionQueue,
    waves: u64,
    /// Waves in flight, and the time of their dispatches so far.
    spent_ms: Vec<(u64, f64)>,
}

impl fmt::Debug for GpuCounting<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GpuCounting").finish_non_exhaustive()
    }
}

impl<'a> GpuCounting<'a> {
    pub(crate) fn new(backend: &'a GpuBackend, work: Work<'a>) -> Self {
        GpuCounting {
            backend,
            work,
            program: work.kernel.program(backend.mode),
            loaded: None,
            submissions: SubmissionQueue::new(SubmissionPace::of_blocks()),
            waves: 0,
            spent_ms: Vec::new(),
        }
    }

    /// Submits all dispatches of a wave; returns while the last of them are running.
    async fn launch(
        &mut self,
        gpu: &Arc<Gpu>,
        id: u64,
        range: UnitRange,
    ) -> Result<Reading, GpuError> {
        let loaded = match self.loaded.take() {
            Some(loaded) if Arc::ptr_eq(&loaded.gpu, gpu) => loaded,
            _ => {
                self.submissions.clear();
                let loaded = self_test::load(gpu, &self.program).await?;
                let Work { kernel, bins, .. } = self.work;
                self_test::check_own(&loaded, &self.program, kernel, bins).await?;
                loaded
            }
        };
        let limits = gpu.limits();
        let state_bytes = limits.state_bytes(&self.program, range.len());
        let output = loaded.output(4 * self.work.bins.len() as u64, state_bytes);
        let mut cutter = DispatchSplitter::new(limits, &self.program, range);
        while let Some(cut) = cutter.next(self.submissions.budget()) {
            if !self.work.control.keep_going() {
                return Err(GpuError::Stopped);
            }
            while self.submissions.is_full() {
                self.wait_for_oldest(gpu).await?;
            }
            gpu.check()?;
            let submitted_ms = self.work.control.now_ms();
            let submission = loaded.run(&self.program, &cut, Some(self.work.bins), &output);
            self.submissions.push(gpu, id, cut.work(), submitted_ms, submission);
        }
        let reading = loaded.read(&output);
        self.loaded = Some(loaded);
        Ok(reading)
    }

    /// Waits for the oldest dispatch and records its time.
    async fn wait_for_oldest(&mut self, gpu: &Gpu) -> Result<(), GpuError> {
        let completion =
            self.submissions.wait_for_oldest(gpu, || self.work.control.now_ms()).await?;
        let Some(Completion { wave, spent_ms }) = completion else { return Ok(()) };
        match self.spent_ms.iter_mut().find(|(known, _)| *known == wave) {
            Some((_, sum)) => *sum += spent_ms,
            None => self.spent_ms.push((wave, spent_ms)),
        }
        Ok(())
    }
}

impl Queue for GpuCounting<'_> {
    type Evidence = TwoWorlds;
    type Ticket = SubmittedWave;

    fn depth(&self) -> usize {
        2
    }

    fn smallest_wave(&self) -> u64 {
        u64::from(WORKGROUP)
    }

    fn opening(&self) -> u64 {
        self.backend.opening()
    }

    async fn submit(&mut self, range: UnitRange) -> Result<SubmittedWave, QueueError> {
        let gpu = self.backend.gpu();
        let id = self.waves;
        self.waves += 1;
        let reading = self.launch(&gpu, id, range).await?;
        Ok(SubmittedWave { id, range, gpu, reading })
    }

    /// The histograms of a wave, once its dispatches are done.
    async fn collect(&mut self, wave: SubmittedWave) -> Result<Wave<TwoWorlds>, QueueError> {
        let SubmittedWave { id, range, gpu, reading } = wave;
        while self.submissions.oldest().is_some_and(|oldest| oldest <= id) {
            self.wait_for_oldest(&gpu).await?;
        }
        let values = reading.words().await?;
        let histograms = histograms(self.work.bins, &values, range).map_err(GpuError::Device)?;
        let spent = self.spent_ms.iter().position(|&(wave, _)| wave == id);
        let spent_ms = spent.map_or(0.0, |place| self.spent_ms.swap_remove(place).1);
        Ok(Wave { range, evidence: histograms.into(), spent_ms })
    }

    async fn reopen(&mut self, opening: u64) -> Result<bool, String> {
        self.backend.reopen(opening).await
    }
}

/// Converts counts [world][parity][bin] to histograms; checks their totals.
fn histograms(
    bins: &ScoreBins,
    values: &[u32],
    range: UnitRange,
) -> Result<AuditHistograms, String> {
    let half = |counts: &[u32]| {
        let counts = counts.iter().map(|&count| u64::from(count)).collect();
        ScoreHistogram::from_counts(bins, counts).map_err(|error| error.to_string())
    };
    let halves: Vec<ScoreHistogram> =
        values.chunks_exact(bins.len()).map(half).collect::<Result<_, _>>()?;
    let halves: Result<[ScoreHistogram; 4], _> = halves.try_into();
    let [even, odd, zero_out_even, zero_out_odd] =
        halves.map_err(|_| format!("the device returned {} counts", values.len()))?;
    let counted = AuditHistograms::from_halves([even, odd], [zero_out_even, zero_out_odd]);
    for world in World::BOTH {
        let odd = range.end / 2 - range.first / 2;
        let expected = [range.len() - odd, odd];
        let found = [0, 1].map(|half: usize| counted.world(world)[half].total());
        if found != expected {
            return Err(format!("the device counted {found:?} scores instead of {expected:?}"));
        }
    }
    Ok(counted)
}

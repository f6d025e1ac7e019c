//! Waves on a GPU: divided into dispatches, submitted ahead of the host, collected, and repeated
//! after failures.

use std::sync::Arc;

use dpscope_core::adjacency::World;
use dpscope_core::audit::AuditHistograms;
use dpscope_core::audit::histogram::{ScoreBins, ScoreHistogram};
use dpscope_shaders::bgm::{Program, WORKGROUP};

use super::backend::GpuBackend;
use super::device::Gpu;
use super::device_program::DeviceProgram;
use super::open::{GpuError, Reading};
use super::pieces::DispatchSplitter;
use super::self_test;
use super::submissions::{Completion, SubmissionPace, SubmissionQueue};
use crate::backend::work::{WaveCounts, Work};
use crate::{EngineError, ObservationRange};

/// A wave of a GPU.
pub(crate) struct Wave {
    range: ObservationRange,
    state: WaveState,
}

enum WaveState {
    /// Submitted to the device, or failed meanwhile.
    Submitted { id: u64, gpu: Arc<Gpu>, reading: Result<Reading, GpuError> },
    /// WaveCounts on the CPU.
    Counted(Box<WaveCounts>),
}

impl Wave {
    pub(crate) fn range(&self) -> ObservationRange {
        self.range
    }
}

/// Counts the scores of one kernel on a GPU.
pub(crate) struct GpuCounting<'a> {
    backend: &'a GpuBackend,
    work: Work<'a>,
    program: Program,
    loaded: Option<DeviceProgram>,
    submissions: SubmissionQueue,
    waves: u64,
    /// Waves in flight, and the time of their dispatches so far.
    spent_ms: Vec<(u64, f64)>,
    /// Whether the CPU has replaced the device.
    on_cpu: bool,
}

impl<'a> GpuCounting<'a> {
    pub(crate) fn new(backend: &'a GpuBackend, work: Work<'a>) -> Self {
        GpuCounting {
            backend,
            work,
            program: work.kernel.program(backend.float_mode()),
            loaded: None,
            submissions: SubmissionQueue::new(SubmissionPace::of_blocks()),
            waves: 0,
            spent_ms: Vec::new(),
            on_cpu: false,
        }
    }

    pub(crate) fn depth(&self) -> usize {
        if self.on_cpu { 1 } else { 2 }
    }

    pub(crate) fn smallest_wave(&self) -> u64 {
        if self.on_cpu { self.backend.cpu().smallest_wave() } else { u64::from(WORKGROUP) }
    }

    pub(crate) async fn submit(&mut self, range: ObservationRange) -> Result<Wave, EngineError> {
        if self.on_cpu {
            let state = WaveState::Counted(Box::new(self.count_on_cpu(range)?));
            return Ok(Wave { range, state });
        }
        let gpu = self.backend.gpu();
        let id = self.waves;
        self.waves += 1;
        match self.launch(&gpu, id, range).await {
            Err(GpuError::Stopped) => Err(EngineError::Stopped),
            reading => Ok(Wave { range, state: WaveState::Submitted { id, gpu, reading } }),
        }
    }

    pub(crate) async fn collect(&mut self, wave: Wave) -> Result<WaveCounts, EngineError> {
        let Wave { range, state } = wave;
        let (id, gpu, reading) = match state {
            WaveState::Submitted { id, gpu, reading } => (id, gpu, reading),
            WaveState::Counted(counts) => return Ok(*counts),
        };
        let counted = match reading {
            Ok(reading) => self.histograms(&gpu, id, range, reading).await,
            Err(failure) => Err(failure),
        };
        match counted {
            Ok(counted) => Ok(counted),
            Err(failure) => self.count_again(&gpu, range, failure).await,
        }
    }

    /// Submits all dispatches of a wave; returns while the last of them are running.
    async fn launch(
        &mut self,
        gpu: &Arc<Gpu>,
        id: u64,
        range: ObservationRange,
    ) -> Result<Reading, GpuError> {
        let loaded = match self.loaded.take() {
            Some(loaded) if Arc::ptr_eq(&loaded.gpu, gpu) => loaded,
            _ => {
                self.submissions.clear();
                let loaded = self_test::load(gpu, &self.program).await?;
                self_test::check_own(&loaded, &self.program, &self.work).await?;
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

    /// The histograms of a wave, once its dispatches are done.
    async fn histograms(
        &mut self,
        gpu: &Gpu,
        id: u64,
        range: ObservationRange,
        reading: Reading,
    ) -> Result<WaveCounts, GpuError> {
        while self.submissions.oldest().is_some_and(|oldest| oldest <= id) {
            self.wait_for_oldest(gpu).await?;
        }
        let values = reading.words().await?;
        let histograms = histograms(self.work.bins, &values, range).map_err(GpuError::Device)?;
        let spent = self.spent_ms.iter().position(|&(wave, _)| wave == id);
        let sampling_ms = spent.map_or(0.0, |place| self.spent_ms.swap_remove(place).1);
        Ok(WaveCounts { range, histograms, sampling_ms, is_fallback: false, tallies: None })
    }

    /// Counts a failed wave again: on the reopened device, otherwise the start of it on the CPU, which
    /// also counts all later waves.
    async fn count_again(
        &mut self,
        failed: &Arc<Gpu>,
        range: ObservationRange,
        failure: GpuError,
    ) -> Result<WaveCounts, EngineError> {
        let (mut failed, mut failure) = (failed.clone(), failure);
        let reason = loop {
            let reason = match failure {
                GpuError::Stopped => return Err(EngineError::Stopped),
                _ if self.on_cpu => return self.start_on_cpu(range),
                GpuError::Unfit(reason) => break reason,
                GpuError::Device(reason) => reason,
            };
            let (gpu, is_new) = match self.backend.reopened(&failed).await {
                Ok(opened) => opened,
                Err(closed) => break format!("{reason}; {closed}"),
            };
            if is_new {
                self.work.control.warn(&format!("{reason}; the device was reopened"));
            }
            match self.whole(&gpu, range).await {
                Ok(counted) => return Ok(counted),
                Err(GpuError::Device(again)) if is_new => break again,
                // It was lost after another wave opened it.
                Err(again) => (failed, failure) = (gpu, again),
            }
        };
        self.work.control.warn(&format!("{reason}; continuing on the CPU"));
        self.on_cpu = true;
        self.start_on_cpu(range)
    }

    /// Submits a wave and waits for it.
    async fn whole(
        &mut self,
        gpu: &Arc<Gpu>,
        range: ObservationRange,
    ) -> Result<WaveCounts, GpuError> {
        let id = self.waves;
        self.waves += 1;
        let reading = self.launch(gpu, id, range).await?;
        self.histograms(gpu, id, range, reading).await
    }

    /// Counts the start of a wave: a whole wave of a GPU may take the CPU hours.
    fn start_on_cpu(&self, range: ObservationRange) -> Result<WaveCounts, EngineError> {
        let end = range.end.min(range.first.saturating_add(self.smallest_wave()));
        self.count_on_cpu(ObservationRange { end, ..range })
    }

    fn count_on_cpu(&self, range: ObservationRange) -> Result<WaveCounts, EngineError> {
        let counted = self.backend.cpu().count_wave(self.work, range)?;
        Ok(WaveCounts { is_fallback: true, ..counted })
    }
}

/// Converts counts [world][parity][bin] to histograms; checks their totals.
fn histograms(
    bins: &ScoreBins,
    values: &[u32],
    range: ObservationRange,
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

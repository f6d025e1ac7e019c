//! Waves on a GPU: cut, kept ahead of the host, collected, and counted again where they fail.

use std::collections::VecDeque;
use std::sync::Arc;

use dpscope_core::adjacency::World;
use dpscope_core::audit::AuditHistograms;
use dpscope_core::histogram::{ScoreBins, ScoreHistogram};
use dpscope_shaders::bgm::{Program, WORKGROUP};
use futures_channel::oneshot::Receiver;

use super::GpuBackend;
use super::device::{Failure, Gpu};
use super::loaded::{Loaded, Reading};
use super::pieces::{Cutter, Pace};
use super::self_test;
use crate::backend::{Counted, Pending, Work};
use crate::{EngineError, ObservationRange};

/// Dispatches that the host lets the device be behind.
const AHEAD: usize = 2;

/// A wave that was submitted, or failed while it was.
pub(crate) struct Wave {
    id: u64,
    range: ObservationRange,
    reading: Result<Reading, (Arc<Gpu>, Failure)>,
}

impl Wave {
    pub(crate) fn range(&self) -> ObservationRange {
        self.range
    }
}

/// A dispatch that may not be done.
struct Flying {
    wave: u64,
    work: u64,
    submitted_ms: f64,
    /// Whether the device had nothing else to do.
    alone: bool,
    submission: wgpu::SubmissionIndex,
    done: Receiver<()>,
}

/// The counting of one kernel's scores on a GPU.
pub(crate) struct GpuCounting<'a> {
    backend: &'a GpuBackend,
    work: Work<'a>,
    program: Program,
    loaded: Option<Loaded>,
    pace: Pace,
    flying: VecDeque<Flying>,
    /// When the host saw the last dispatch end, and whether it was waiting for it.
    ended: (f64, bool),
    waves: u64,
    /// Waves under way, and the time that their dispatches took so far.
    spent_ms: Vec<(u64, f64)>,
    /// Whether the device was given up.
    on_cpu: bool,
}

impl<'a> GpuCounting<'a> {
    pub(super) fn new(backend: &'a GpuBackend, work: Work<'a>) -> Self {
        GpuCounting {
            backend,
            work,
            program: work.kernel.program(backend.float_mode()),
            loaded: None,
            pace: Pace::new(),
            flying: VecDeque::new(),
            ended: (0.0, false),
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

    pub(crate) async fn submit(&mut self, range: ObservationRange) -> Result<Pending, EngineError> {
        if self.on_cpu {
            return Ok(Pending::Done(Box::new(self.count_on_cpu(range)?)));
        }
        let gpu = self.backend.gpu();
        let id = self.waves;
        self.waves += 1;
        match self.launch(&gpu, id, range).await {
            Ok(reading) => Ok(Pending::Gpu(Wave { id, range, reading: Ok(reading) })),
            Err(Failure::Stopped) => Err(EngineError::Stopped),
            Err(failure) => Ok(Pending::Gpu(Wave { id, range, reading: Err((gpu, failure)) })),
        }
    }

    pub(crate) async fn collect(&mut self, wave: Wave) -> Result<Counted, EngineError> {
        let Wave { id, range, reading } = wave;
        let (gpu, failure) = match reading {
            Ok(reading) => {
                let gpu = reading.gpu().clone();
                match self.histograms(id, range, reading).await {
                    Ok(counted) => return Ok(counted),
                    Err(failure) => (gpu, failure),
                }
            }
            Err(failed) => failed,
        };
        self.count_again(&gpu, range, failure).await
    }

    /// Submits all dispatches of a wave; returns while the last of them run.
    async fn launch(
        &mut self,
        gpu: &Arc<Gpu>,
        id: u64,
        range: ObservationRange,
    ) -> Result<Reading, Failure> {
        let loaded = match self.loaded.take() {
            Some(loaded) if Arc::ptr_eq(&loaded.gpu, gpu) => loaded,
            _ => {
                self.flying.clear();
                let loaded = self_test::loaded(gpu, &self.program).await?;
                self_test::check_own(&loaded, &self.program, &self.work).await?;
                loaded
            }
        };
        let limits = gpu.limits();
        let state_bytes = limits.state_bytes(&self.program, range.len());
        let output = loaded.output(4 * self.work.bins.len() as u64, state_bytes);
        let mut cutter = Cutter::new(limits, &self.program, range);
        while let Some(cut) = cutter.next(self.pace.budget()) {
            if !self.work.control.keep_going() {
                return Err(Failure::Stopped);
            }
            while self.flying.len() >= AHEAD {
                self.land(gpu).await?;
            }
            gpu.check()?;
            let alone = self.flying.is_empty();
            let submitted_ms = self.work.control.now_ms();
            let submission = loaded.run(&self.program, &cut, Some(self.work.bins), &output);
            let (work, done) = (cut.work(), gpu.completion());
            self.flying.push_back(Flying { wave: id, work, submitted_ms, alone, submission, done });
        }
        let reading = loaded.read(&output);
        self.loaded = Some(loaded);
        Ok(reading)
    }

    /// Waits for the oldest dispatch and learns from it.
    async fn land(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        let Some(mut oldest) = self.flying.pop_front() else { return Ok(()) };
        gpu.poll()?;
        // Done before the host looked: how long ago, nobody knows.
        let is_late = oldest.done.try_recv().is_ok_and(|done| done.is_some());
        if !is_late {
            gpu.arrival(&oldest.submission, &mut oldest.done).await?;
        }
        let now_ms = self.work.control.now_ms();
        let (ended_ms, was_seen) = self.ended;
        let spent_ms = now_ms - oldest.submitted_ms.max(ended_ms);
        if !is_late && (was_seen || oldest.alone) {
            self.pace.learn(oldest.work, spent_ms);
        } else {
            self.pace.learn_at_most(oldest.work, now_ms - oldest.submitted_ms);
        }
        self.ended = (now_ms, !is_late);
        match self.spent_ms.iter_mut().find(|(wave, _)| *wave == oldest.wave) {
            Some((_, sum)) => *sum += spent_ms,
            None => self.spent_ms.push((oldest.wave, spent_ms)),
        }
        Ok(())
    }

    /// The histograms of a wave, once its dispatches are done.
    async fn histograms(
        &mut self,
        id: u64,
        range: ObservationRange,
        reading: Reading,
    ) -> Result<Counted, Failure> {
        let gpu = reading.gpu().clone();
        while self.flying.front().is_some_and(|oldest| oldest.wave <= id) {
            self.land(&gpu).await?;
        }
        let values = reading.values().await?;
        let histograms = histograms(self.work.bins, &values, range).map_err(Failure::Device)?;
        let spent = self.spent_ms.iter().position(|&(wave, _)| wave == id);
        let sampling_ms = spent.map_or(0.0, |place| self.spent_ms.swap_remove(place).1);
        Ok(Counted { range, histograms, sampling_ms, is_fallback: false, tallies: None })
    }

    /// Counts a wave that failed: on the device opened anew, else the start of it on the CPU, where
    /// all later ones are counted too.
    async fn count_again(
        &mut self,
        failed: &Arc<Gpu>,
        range: ObservationRange,
        failure: Failure,
    ) -> Result<Counted, EngineError> {
        let (mut failed, mut failure) = (failed.clone(), failure);
        let reason = loop {
            let reason = match failure {
                Failure::Stopped => return Err(EngineError::Stopped),
                _ if self.on_cpu => return self.start_on_cpu(range),
                Failure::Unfit(reason) => break reason,
                Failure::Device(reason) => reason,
            };
            let (gpu, is_new) = match self.backend.reopened(&failed).await {
                Ok(opened) => opened,
                Err(closed) => break format!("{reason}; {closed}"),
            };
            if is_new {
                self.work.control.warn(&format!("{reason}; the device was opened again"));
            }
            match self.whole(&gpu, range).await {
                Ok(counted) => return Ok(counted),
                Err(Failure::Device(again)) if is_new => break again,
                // It was lost since another wave opened it.
                Err(again) => (failed, failure) = (gpu, again),
            }
        };
        self.work.control.warn(&format!("{reason}; the CPU counts from here on"));
        self.on_cpu = true;
        self.start_on_cpu(range)
    }

    /// Submits a wave and waits for it.
    async fn whole(&mut self, gpu: &Arc<Gpu>, range: ObservationRange) -> Result<Counted, Failure> {
        let id = self.waves;
        self.waves += 1;
        let reading = self.launch(gpu, id, range).await?;
        self.histograms(id, range, reading).await
    }

    /// Counts so little of a GPU's wave that the CPU is soon done: all of it may take hours.
    fn start_on_cpu(&self, range: ObservationRange) -> Result<Counted, EngineError> {
        let end = range.end.min(range.first.saturating_add(self.smallest_wave()));
        self.count_on_cpu(ObservationRange { end, ..range })
    }

    fn count_on_cpu(&self, range: ObservationRange) -> Result<Counted, EngineError> {
        let counted = self.backend.cpu().counted(self.work, range)?;
        Ok(Counted { is_fallback: true, ..counted })
    }
}

/// Counts of [world][parity][bin] as histograms, if they hold every observation of the range.
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
        halves.map_err(|_| format!("the device sent {} counts", values.len()))?;
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

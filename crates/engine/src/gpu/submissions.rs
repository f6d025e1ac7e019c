//! Submissions in flight, each sized to take a device a frame or two.

use std::collections::VecDeque;

use futures_channel::oneshot::Receiver;

use super::open::OpenDevice;
use crate::GpuError;

/// Maximum number of submissions in flight.
const DEPTH: usize = 2;

/// Submissions in flight, and the pace learned from completed ones.
#[derive(Debug)]
pub struct SubmissionQueue {
    pace: SubmissionPace,
    in_flight: VecDeque<Submission>,
    /// When the host saw the last submission complete, and whether it was waiting for it.
    ended: (f64, bool),
}

#[derive(Debug)]
struct Submission {
    wave: u64,
    work: u64,
    submitted_ms: f64,
    /// Whether the device was idle before.
    alone: bool,
    submission: wgpu::SubmissionIndex,
    done: Receiver<()>,
}

/// A completed submission.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Completion {
    /// Its wave.
    pub wave: u64,
    /// How long the device took.
    pub spent_ms: f64,
}

impl SubmissionQueue {
    /// An empty queue.
    #[must_use]
    pub fn new(pace: SubmissionPace) -> Self {
        SubmissionQueue { pace, in_flight: VecDeque::new(), ended: (0.0, false) }
    }

    /// Work of the next submission.
    #[must_use]
    pub fn budget(&self) -> u64 {
        self.pace.budget()
    }

    /// Whether the queue is full.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.in_flight.len() >= DEPTH
    }

    /// The wave of the oldest submission in flight.
    #[must_use]
    pub fn oldest(&self) -> Option<u64> {
        self.in_flight.front().map(|oldest| oldest.wave)
    }

    /// Discards all submissions, for example those of a failed device.
    pub fn clear(&mut self) {
        self.in_flight.clear();
    }

    /// Adds a submission that was started at `submitted_ms`.
    pub fn push(
        &mut self,
        open: &OpenDevice,
        wave: u64,
        work: u64,
        submitted_ms: f64,
        submission: wgpu::SubmissionIndex,
    ) {
        let (alone, done) = (self.in_flight.is_empty(), open.completion());
        self.in_flight.push_back(Submission { wave, work, submitted_ms, alone, submission, done });
    }

    /// Waits for the oldest submission, if there is one, and updates the pace.
    ///
    /// # Errors
    /// The device fails.
    pub async fn wait_for_oldest(
        &mut self,
        open: &OpenDevice,
        now_ms: impl FnOnce() -> f64,
    ) -> Result<Option<Completion>, GpuError> {
        let Some(mut oldest) = self.in_flight.pop_front() else { return Ok(None) };
        open.poll()?;
        // Completed at an unknown time before this call.
        let is_late = oldest.done.try_recv().is_ok_and(|done| done.is_some());
        if !is_late {
            open.arrival(&oldest.submission, &mut oldest.done).await?;
        }
        let now_ms = now_ms();
        let (ended_ms, was_seen) = self.ended;
        // Waves may have clocks of their own.
        let busy_until_ms = if oldest.alone { oldest.submitted_ms } else { ended_ms };
        let spent_ms = now_ms - oldest.submitted_ms.max(busy_until_ms);
        if !is_late && (was_seen || oldest.alone) {
            self.pace.learn(oldest.work, spent_ms);
        } else {
            self.pace.learn_at_most(oldest.work, now_ms - oldest.submitted_ms);
        }
        self.ended = (now_ms, !is_late);
        Ok(Some(Completion { wave: oldest.wave, spent_ms }))
    }
}

/// Work per submission, so that it takes about 40 ms.
#[derive(Debug)]
pub struct SubmissionPace {
    budget: u64,
    max: u64,
}

impl SubmissionPace {
    /// Less than half of a visible stutter, which leaves room for varying load.
    const PIECE_MS: f64 = 40.0;

    /// Blocks of normals: initially 4·10⁶, milliseconds on the slowest device; at max what a device ten
    /// times faster than any computes in 40 ms.
    #[must_use]
    pub fn of_blocks() -> Self {
        SubmissionPace::new(1 << 18, 1 << 34)
    }

    /// Work, in any unit, of the first submission, and the maximum.
    #[must_use]
    pub fn new(first: u64, max: u64) -> Self {
        SubmissionPace { budget: first, max }
    }

    /// Work of the next submission.
    #[must_use]
    pub fn budget(&self) -> u64 {
        self.budget
    }

    /// Updates the pace from a submission, unless the clock does not advance.
    pub fn learn(&mut self, work: u64, spent_ms: f64) {
        if !(spent_ms > 0.0) {
            return;
        }
        let wanted = (work as f64 * (Self::PIECE_MS / spent_ms)) as u64;
        // The last submission of a wave is small and therefore slow.
        let is_rest = work < self.budget / 2 && spent_ms < Self::PIECE_MS;
        if wanted > self.budget || !is_rest {
            self.budget = wanted.clamp(1, (4 * self.budget).min(self.max));
        }
    }

    /// Updates the pace from an upper limit on the time of a submission.
    pub(super) fn learn_at_most(&mut self, work: u64, at_most_ms: f64) {
        if work as f64 * Self::PIECE_MS > at_most_ms * self.budget as f64 {
            self.learn(work, at_most_ms);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pace_converges() {
        let mut pace = SubmissionPace::of_blocks();
        let per_ms = 5_000_000.0;
        for _ in 0..20 {
            pace.learn(pace.budget(), pace.budget() as f64 / per_ms);
        }
        let steady = pace.budget();
        assert!((steady as f64 / per_ms - SubmissionPace::PIECE_MS).abs() < 0.01);
        for (work, spent_ms) in [(10, 0.5), (steady, 0.0), (steady, f64::NAN), (steady, -1.0)] {
            pace.learn(work, spent_ms);
            assert_eq!(pace.budget(), steady);
        }
        pace.learn_at_most(steady, 300.0);
        assert_eq!(pace.budget(), steady);
        pace.learn_at_most(steady, 20.0);
        assert_eq!(pace.budget(), 2 * steady);
        pace.learn(steady / 10, 400.0);
        assert_eq!(pace.budget(), steady / 100);
        pace.learn(1 << 40, 0.01);
        assert_eq!(pace.budget(), steady / 100 * 4);
    }
}

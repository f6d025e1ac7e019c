//! Submissions that are kept ahead of the host, each so large that it takes a device a frame or two.

use std::collections::VecDeque;

use futures_channel::oneshot::Receiver;

use super::open::{Failure, OpenDevice};

/// Submissions that the host lets a device be behind.
const AHEAD: usize = 2;

/// Submissions that may not be done, and what is learnt from those that are.
#[derive(Debug)]
pub struct Ahead {
    pace: Pace,
    flying: VecDeque<Flying>,
    /// When the host saw the last submission end, and whether it was waiting for it.
    ended: (f64, bool),
}

#[derive(Debug)]
struct Flying {
    wave: u64,
    work: u64,
    submitted_ms: f64,
    /// Whether the device had nothing else to do.
    alone: bool,
    submission: wgpu::SubmissionIndex,
    done: Receiver<()>,
}

/// A submission that is done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Landed {
    /// The wave that it was of.
    pub wave: u64,
    /// How long the device had it.
    pub spent_ms: f64,
}

impl Ahead {
    /// Before the first submission.
    #[must_use]
    pub fn new(pace: Pace) -> Self {
        Ahead { pace, flying: VecDeque::new(), ended: (0.0, false) }
    }

    /// Work that the next submission is given.
    #[must_use]
    pub fn budget(&self) -> u64 {
        self.pace.budget()
    }

    /// Whether the device is as far behind as it may be.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.flying.len() >= AHEAD
    }

    /// The wave of the oldest submission that may not be done.
    pub(super) fn oldest(&self) -> Option<u64> {
        self.flying.front().map(|oldest| oldest.wave)
    }

    /// Forgets what was submitted, to a device that failed say.
    pub fn clear(&mut self) {
        self.flying.clear();
    }

    /// Notes a submission that was just made, begun at `submitted_ms`.
    pub fn submitted(
        &mut self,
        open: &OpenDevice,
        wave: u64,
        work: u64,
        submitted_ms: f64,
        submission: wgpu::SubmissionIndex,
    ) {
        let (alone, done) = (self.flying.is_empty(), open.completion());
        self.flying.push_back(Flying { wave, work, submitted_ms, alone, submission, done });
    }

    /// Waits for the oldest submission, if there is one, and learns from it.
    ///
    /// # Errors
    /// The device fails.
    pub async fn land(
        &mut self,
        open: &OpenDevice,
        now_ms: impl FnOnce() -> f64,
    ) -> Result<Option<Landed>, Failure> {
        let Some(mut oldest) = self.flying.pop_front() else { return Ok(None) };
        open.poll()?;
        // Done before the host looked: how long ago, nobody knows.
        let is_late = oldest.done.try_recv().is_ok_and(|done| done.is_some());
        if !is_late {
            open.arrival(&oldest.submission, &mut oldest.done).await?;
        }
        let now_ms = now_ms();
        let (ended_ms, was_seen) = self.ended;
        // Waves may come with clocks of their own.
        let busy_until_ms = if oldest.alone { oldest.submitted_ms } else { ended_ms };
        let spent_ms = now_ms - oldest.submitted_ms.max(busy_until_ms);
        if !is_late && (was_seen || oldest.alone) {
            self.pace.learn(oldest.work, spent_ms);
        } else {
            self.pace.learn_at_most(oldest.work, now_ms - oldest.submitted_ms);
        }
        self.ended = (now_ms, !is_late);
        Ok(Some(Landed { wave: oldest.wave, spent_ms }))
    }
}

/// How much a submission is given, so that it takes about 40 ms.
#[derive(Debug)]
pub struct Pace {
    budget: u64,
    most: u64,
}

impl Pace {
    /// Under half of what a screen shows as a stutter, so that load that comes and goes stays below.
    const PIECE_MS: f64 = 40.0;

    /// Blocks of normals: at first 4·10⁶ of these, milliseconds on the slowest device; at most what a
    /// device ten times faster than any does in 40 ms.
    pub(super) fn of_blocks() -> Self {
        Pace::new(1 << 18, 1 << 34)
    }

    /// Work of any unit: what the first submission is given, and what any is given at most.
    #[must_use]
    pub fn new(first: u64, most: u64) -> Self {
        Pace { budget: first, most }
    }

    /// Work that the next submission is given.
    #[must_use]
    pub fn budget(&self) -> u64 {
        self.budget
    }

    /// Learns from a submission; a clock that stands still teaches nothing.
    pub(super) fn learn(&mut self, work: u64, spent_ms: f64) {
        if !(spent_ms > 0.0) {
            return;
        }
        let wanted = (work as f64 * (Self::PIECE_MS / spent_ms)) as u64;
        // The rest of a wave is small, and the slower for it.
        let is_rest = work < self.budget / 2 && spent_ms < Self::PIECE_MS;
        if wanted > self.budget || !is_rest {
            self.budget = wanted.clamp(1, (4 * self.budget).min(self.most));
        }
    }

    /// Learns from a submission that took no longer than this.
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
    fn the_pace_finds_a_steady_rate_and_keeps_it() {
        let mut pace = Pace::of_blocks();
        let per_ms = 5_000_000.0;
        for _ in 0..20 {
            pace.learn(pace.budget(), pace.budget() as f64 / per_ms);
        }
        let steady = pace.budget();
        assert!((steady as f64 / per_ms - Pace::PIECE_MS).abs() < 0.01);
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

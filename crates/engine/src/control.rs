//! The caller's side of a run: clock, cancellation, progress and saving.

use crate::{Artefact, Plan};

/// Progress of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Results so far, see [`Plan::RESULTS_PER_UNIT`].
    pub done: u64,
    /// Results of this run.
    pub total: u64,
    /// Results before this run started.
    pub resumed: u64,
}

/// Callbacks of long work.
pub trait Control: Sync {
    /// Polled often; `false` ends the run with [`EngineError::Stopped`](crate::EngineError::Stopped).
    fn keep_going(&self) -> bool;
    /// Milliseconds since any fixed moment.
    fn now_ms(&self) -> f64;
    /// Called from time to time by work that is not a run; `total` is an upper limit.
    fn after_draws(&self, _done: u64, _total: u64) {}
    /// Called once for each recovered error, for example a lost GPU.
    fn warn(&self, _message: &str) {}
}

/// Callbacks of a run.
pub trait RunControl<P: Plan>: Control {
    /// Called after every wave with the current state: about four times per second, less often where
    /// a GPU needs larger waves.
    ///
    /// # Errors
    /// Any error of the callback, for example a full disk; it ends the run.
    fn after_wave(
        &self,
        _state: &Artefact<P>,
        _progress: Progress,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        Ok(())
    }
}

/// No progress, no cancellation; the clock never advances, so that waves of a CPU grow to the whole
/// run and dispatches of a GPU stay small.
#[derive(Debug, Clone, Copy)]
pub struct Unattended;

impl Control for Unattended {
    fn keep_going(&self) -> bool {
        true
    }

    fn now_ms(&self) -> f64 {
        0.0
    }
}

impl<P: Plan> RunControl<P> for Unattended {}

//! Progress bar and checkpoint of a run.

use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use dpscope_core::foreign_text::ForeignText;
use dpscope_engine::{Artefact, Control, Plan, Progress, RunControl};
use web_time::Instant;

use super::plan::RunPlan;
use crate::files::write_atomically;
use crate::progress::Terminal;

/// Longest time between two writes of a checkpoint.
const CHECKPOINT_EVERY: Duration = Duration::from_millis(700);

/// Progress bar and checkpoint of one run.
pub(super) struct RunDisplay<'a, P: Plan> {
    pub(super) terminal: Terminal,
    checkpoint: Option<&'a Path>,
    last: Mutex<Last<P>>,
}

/// What the last wave left.
struct Last<P: Plan> {
    saved_at: Option<Instant>,
    state: Option<Artefact<P>>,
}

impl<'a, P: RunPlan> RunDisplay<'a, P> {
    pub(super) fn new(quiet: bool, checkpoint: Option<&'a Path>) -> Self {
        let terminal = Terminal::new(quiet, P::PREPARATION);
        let last = Mutex::new(Last { saved_at: None, state: None });
        RunDisplay { terminal, checkpoint, last }
    }

    /// The state after the last wave.
    pub(super) fn last_state(&self) -> Option<Artefact<P>> {
        self.last.lock().map_or(None, |last| last.state.clone())
    }

    /// Writes the state to the checkpoint file, if there is one.
    pub(super) fn save(&self, state: &Artefact<P>) -> std::io::Result<()> {
        let Some(path) = self.checkpoint else { return Ok(()) };
        write_atomically(path, &state.to_bytes()).map_err(|error| {
            let kept = match path.exists() {
                true => "; the file still contains the last saved state",
                false => "; no state is saved: free some space, or choose another file",
            };
            let path = ForeignText::new(path);
            std::io::Error::other(format!("{path}: cannot write the checkpoint: {error}{kept}"))
        })
    }
}

impl<P: RunPlan> Control for RunDisplay<'_, P> {
    fn keep_going(&self) -> bool {
        self.terminal.keep_going()
    }

    fn now_ms(&self) -> f64 {
        self.terminal.now_ms()
    }

    fn after_draws(&self, done: u64, total: u64) {
        self.terminal.after_draws(done, total);
    }

    fn warn(&self, message: &str) {
        self.terminal.warn(message);
    }
}

impl<P: RunPlan> RunControl<P> for RunDisplay<'_, P> {
    fn after_wave(
        &self,
        state: &Artefact<P>,
        progress: Progress,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        self.terminal.show(&progress, |rate| P::progress(state, rate));
        let Ok(mut last) = self.last.lock() else { return Ok(()) };
        let due = last.saved_at.is_none_or(|at| at.elapsed() >= CHECKPOINT_EVERY);
        if due || state.is_finished() || !self.keep_going() {
            self.save(state)?;
            last.saved_at = Some(Instant::now());
        }
        last.state = Some(state.clone());
        Ok(())
    }
}

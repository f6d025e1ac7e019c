//! The page's side of a run: its clock and its stop button.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use dpscope_engine::{Artefact, Control, Progress};

/// Stops where it is told to, and where a device is given up: whoever asked has more cores than the
/// one that would go on.
#[derive(Debug, Default)]
pub(super) struct PageControl {
    stopped: AtomicBool,
    gave_up: AtomicBool,
    warning: Mutex<Option<String>>,
}

impl PageControl {
    /// Ends the run soon.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether the CPU had to stand in for a device.
    pub(super) fn gave_up(&self) -> bool {
        self.gave_up.load(Ordering::Relaxed)
    }

    /// What went wrong last without costing a count.
    pub(super) fn warning(&self) -> Option<String> {
        self.warning.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Control for PageControl {
    fn keep_going(&self) -> bool {
        !self.stopped.load(Ordering::Relaxed)
    }

    fn now_ms(&self) -> f64 {
        now_ms()
    }

    fn after_wave(
        &self,
        state: &Artefact,
        _progress: Progress,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        if state.fallback_shards > 0 {
            self.gave_up.store(true, Ordering::Relaxed);
            self.stop();
        }
        Ok(())
    }

    fn warn(&self, message: &str) {
        *self.warning.lock().unwrap_or_else(PoisonError::into_inner) = Some(message.to_owned());
    }
}

#[cfg(target_arch = "wasm32")]
fn now_ms() -> f64 {
    use wasm_bindgen::prelude::wasm_bindgen;

    #[wasm_bindgen]
    extern "C" {
        /// Of windows, workers and node alike.
        #[wasm_bindgen(js_namespace = performance)]
        fn now() -> f64;
    }
    now()
}

/// A clock that stands still: a module's tests have no page.
#[cfg(not(target_arch = "wasm32"))]
fn now_ms() -> f64 {
    0.0
}

//! Control of a run by a page: clock, stop, warnings.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use dpscope_engine::{Artefact, Control, Plan, Progress, RunControl};

/// Stops on request, and after a device is lost: a page has other workers, while the fallback would use
/// one core.
#[derive(Debug, Default)]
pub(crate) struct PageControl {
    stopped: AtomicBool,
    fell_back: AtomicBool,
    warning: Mutex<Option<String>>,
}

impl PageControl {
    /// Ends the run soon.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether the CPU replaced a lost device.
    pub(crate) fn fell_back(&self) -> bool {
        self.fell_back.load(Ordering::Relaxed)
    }

    /// The last warning.
    pub(crate) fn warning(&self) -> Option<String> {
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

    fn warn(&self, message: &str) {
        *self.warning.lock().unwrap_or_else(PoisonError::into_inner) = Some(message.to_owned());
    }
}

impl<P: Plan> RunControl<P> for PageControl {
    fn after_wave(
        &self,
        state: &Artefact<P>,
        _progress: Progress,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        if state.fallback_shards > 0 {
            self.fell_back.store(true, Ordering::Relaxed);
            self.stop();
        }
        Ok(())
    }
}

/// The clock of windows, workers and node, which all have it under the same name.
#[cfg(target_arch = "wasm32")]
fn now_ms() -> f64 {
    use wasm_bindgen::JsCast;

    let scope: web_sys::WorkerGlobalScope = js_sys::global().unchecked_into();
    scope.performance().map_or(0.0, |clock| clock.now())
}

/// A constant: tests of the module have no page.
#[cfg(not(target_arch = "wasm32"))]
fn now_ms() -> f64 {
    0.0
}

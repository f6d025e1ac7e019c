//! The control of a self-test.

use dpscope_engine::Control;

/// The caller's cancellation callback, with a clock.
pub(super) struct Watch<'a> {
    #[cfg(not(target_arch = "wasm32"))]
    started: std::time::Instant,
    keep_going: &'a (dyn Fn() -> bool + Sync),
}

impl<'a> Watch<'a> {
    pub(super) fn new(keep_going: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Watch {
            #[cfg(not(target_arch = "wasm32"))]
            started: std::time::Instant::now(),
            keep_going,
        }
    }
}

impl Control for Watch<'_> {
    fn keep_going(&self) -> bool {
        (self.keep_going)()
    }

    fn now_ms(&self) -> f64 {
        #[cfg(not(target_arch = "wasm32"))]
        return self.started.elapsed().as_secs_f64() * 1e3;
        // a page has no `Instant`; dispatches of the self-test stay small
        #[cfg(target_arch = "wasm32")]
        0.0
    }
}

//! Counts by WebGPU, for a dedicated worker.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use dpscope_engine::EngineError;
use dpscope_engine::gpu::Adapter;
use dpscope_simulation::Backend;
use dpscope_simulation::backend::CpuBackend;
use dpscope_simulation::backend::GpuBackend;
use wasm_bindgen::prelude::wasm_bindgen;

use super::count::Job;
use crate::adapter::found_adapter;
use crate::control::PageControl;
use crate::failure::{Failure, FailureKind};
use crate::input::named;

/// A GPU that counts.
///
/// Two calls may run at a time, so that the device has work while the page reads counts.
#[wasm_bindgen]
#[derive(Debug)]
pub struct GpuCounter {
    adapter: Adapter,
    backend: Backend,
    running: RefCell<Vec<Weak<PageControl>>>,
    lost: RefCell<Option<String>>,
}

#[wasm_bindgen]
impl GpuCounter {
    /// Opens the browser's adapter: hardware, unless `software` accepts a rasteriser on the CPU, which is
    /// slower than the workers of a CPU.
    ///
    /// # Errors
    /// No adapter, or no device of it.
    pub async fn open(
        #[wasm_bindgen(unchecked_param_type = "'exact' | 'fast'")] float_mode: String,
        software: Option<bool>,
    ) -> Result<GpuCounter, Failure> {
        let mode = named("float_mode", &float_mode)?;
        let adapter = found_adapter(software.unwrap_or(false)).await?;
        let backend = GpuBackend::open(&adapter, mode, CpuBackend::new(1)?).await?;
        let backend = Backend::Gpu(Box::new(backend));
        Ok(GpuCounter { adapter, backend, running: RefCell::default(), lost: RefCell::default() })
    }

    /// The device's name in results.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn name(&self) -> String {
        self.backend.device().name
    }

    /// Whether it is a GPU, not a rasteriser on the CPU.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn hardware(&self) -> bool {
        self.adapter.facts().hardware
    }

    /// Why the device was lost, if it was: open another counter, or use the CPU.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn lost(&self) -> Option<String> {
        self.lost.borrow().clone()
    }

    /// Counts observations `first..end` of each world; a range should take about a quarter of a second.
    ///
    /// A lost device is reopened once. If that fails, or the self-test does, the call fails with kind
    /// `device`, [`lost`](Self::lost) has the reason, and another counter must count the range.
    ///
    /// # Errors
    /// A lost device; invalid bytes; stopped.
    pub async fn count(&self, layout: Vec<u8>, first: f64, end: f64) -> Result<Vec<u8>, Failure> {
        let job = Job::from_bytes(&layout)?;
        let control = Rc::new(PageControl::default());
        self.running.borrow_mut().retain(|control| control.strong_count() > 0);
        self.running.borrow_mut().push(Rc::downgrade(&control));
        match job.counted(first, end, &self.backend, &control).await {
            Err(EngineError::Stopped) if control.fell_back() => {
                let reason = control.warning().unwrap_or_default();
                let failure = Failure::of(FailureKind::Device, &reason);
                *self.lost.borrow_mut() = Some(reason);
                Err(failure)
            }
            counted => Ok(counted?),
        }
    }

    /// Stops running calls within a few dispatches of at most 40 ms: they fail with kind `stopped`.
    pub fn stop(&self) {
        let running = self.running.borrow();
        running.iter().filter_map(Weak::upgrade).for_each(|control| control.stop());
    }

    /// Destroys the device, as a driver's reset does. For tests.
    #[doc(hidden)]
    pub fn lose_device(&self) {
        if let Backend::Gpu(gpu) = &self.backend {
            gpu.lose_device();
        }
    }

    /// Forbids to reopen a lost device. For tests.
    #[doc(hidden)]
    pub fn forbid_reopening(&self) {
        if let Backend::Gpu(gpu) = &self.backend {
            gpu.forbid_reopening();
        }
    }
}

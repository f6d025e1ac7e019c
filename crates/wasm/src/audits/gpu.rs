//! Counting by WebGPU, for a worker that is the GPU's own.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use dpscope_engine::backend::gpu::{Adapter, GpuBackend, adapters};
use dpscope_engine::backend::{CpuBackend, FloatMode};
use dpscope_engine::{Backend, EngineError};
use wasm_bindgen::prelude::wasm_bindgen;

use super::control::PageControl;
use super::count::Job;
use crate::failure::{Failure, FailureKind};
use crate::record::named;

const MODES: [(&str, FloatMode); 2] = [("exact", FloatMode::Exact), ("fast", FloatMode::Fast)];

/// A GPU that counts.
///
/// Two calls may be under way at a time, so that the device has work while the page reads counts.
#[wasm_bindgen]
#[derive(Debug)]
pub struct GpuCounter {
    adapter: Adapter,
    backend: Backend,
    under_way: RefCell<Vec<Weak<PageControl>>>,
    lost: RefCell<Option<String>>,
}

#[wasm_bindgen]
impl GpuCounter {
    /// Opens the browser's adapter, hardware unless `software` says that a rasteriser on the CPU will
    /// do, which is slower than the workers of a CPU.
    ///
    /// # Errors
    /// No adapter, or one that gives no device.
    pub async fn open(
        #[wasm_bindgen(unchecked_param_type = "FloatModeName")] float_mode: String,
        software: Option<bool>,
    ) -> Result<GpuCounter, Failure> {
        let mode = named("float_mode", &MODES, &float_mode)?;
        let software = software.unwrap_or(false);
        let mut found = adapters().await.into_iter();
        let adapter = found.find(|adapter| software || adapter.facts().hardware);
        let adapter = adapter.ok_or_else(|| {
            let message = "this browser shows no GPU; the CPU counts";
            Failure::of(FailureKind::Device, message.to_owned())
        })?;
        let backend = GpuBackend::open(&adapter, mode, CpuBackend::new(1)?).await?;
        let backend = Backend::Gpu(Box::new(backend));
        Ok(GpuCounter { adapter, backend, under_way: RefCell::default(), lost: RefCell::default() })
    }

    /// What results call the device.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn name(&self) -> String {
        self.backend.device()
    }

    /// Whether it is a GPU, not a rasteriser on the CPU.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn hardware(&self) -> bool {
        self.adapter.facts().hardware
    }

    /// Why the device counts no more, where that is so: open another counter, or count by CPU.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn lost(&self) -> Option<String> {
        self.lost.borrow().clone()
    }

    /// Counts observations `first..end` of each world; those that take a quarter of a second are
    /// best.
    ///
    /// A device that is lost is opened again. Where that does not help, or its self-test fails, the
    /// call fails with kind `device` and [`lost`](Self::lost) says why: the range is to be counted by
    /// others.
    ///
    /// # Errors
    /// As said; a layout that is none; stopped.
    pub async fn count(&self, layout: Vec<u8>, first: f64, end: f64) -> Result<Vec<u8>, Failure> {
        let job = Job::from_bytes(&layout)?;
        let control = Rc::new(PageControl::default());
        self.under_way.borrow_mut().retain(|control| control.strong_count() > 0);
        self.under_way.borrow_mut().push(Rc::downgrade(&control));
        match job.counted(first, end, &self.backend, &control).await {
            Err(EngineError::Stopped) if control.gave_up() => {
                let reason = control.warning().unwrap_or_default();
                *self.lost.borrow_mut() = Some(reason.clone());
                Err(Failure::of(FailureKind::Device, reason))
            }
            counted => Ok(counted?),
        }
    }

    /// Ends the calls under way within a few dispatches, of at most a twenty-fifth of a second each:
    /// they fail with kind `stopped`.
    pub fn stop(&self) {
        let under_way = self.under_way.borrow();
        under_way.iter().filter_map(Weak::upgrade).for_each(|control| control.stop());
    }

    /// Destroys the device, as a driver's reset would. For tests.
    #[doc(hidden)]
    pub fn lose_device(&self) {
        if let Backend::Gpu(gpu) = &self.backend {
            gpu.lose_device();
        }
    }

    /// Lets no device be opened in place of a lost one. For tests.
    #[doc(hidden)]
    pub fn forbid_reopening(&self) {
        if let Backend::Gpu(gpu) = &self.backend {
            gpu.forbid_reopening();
        }
    }
}

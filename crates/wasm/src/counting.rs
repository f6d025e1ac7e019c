//! Workloads whose ranges are computed by a worker of a page.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use dpscope_engine::gpu::Adapter;
use dpscope_engine::{Artefact, EngineError, RunControl, Unattended, Workload, run};

use crate::control::PageControl;
use crate::failure::{Failure, FailureKind};
use crate::ranges::range_within;
use crate::ready::ready;

/// Device memory of a wave, in bytes: a page shares its GPU with the screen.
pub(crate) const MEMORY_BYTES: u64 = 1 << 28;

/// A workload, and a state without evidence.
#[derive(Debug)]
pub(crate) struct Counting<W: Workload> {
    pub(crate) models: W,
    pub(crate) layout: Artefact<W::Plan>,
}

impl<W: Workload> Counting<W> {
    pub(crate) fn new(models: W, layout: Artefact<W::Plan>) -> Self {
        Counting { models, layout }
    }

    /// The models of a layout.
    ///
    /// # Errors
    /// Bytes that are no layout of these models.
    pub(crate) fn of(layout: &[u8], models: W) -> Result<Self, Failure> {
        let layout = Artefact::<W::Plan>::from_bytes(layout)?;
        layout.check_plan(models.plan())?;
        Ok(Counting { models, layout })
    }

    /// The number of units of the plan.
    pub(crate) fn units(&self) -> u64 {
        dpscope_engine::Plan::units(&self.layout.plan)
    }

    /// The evidence of these units.
    pub(crate) async fn counted(
        &self,
        first: f64,
        end: f64,
        control: &dyn RunControl<W::Plan>,
    ) -> Result<Vec<u8>, EngineError> {
        let mut start = self.layout.clone();
        start.range = range_within(first, end, self.units());
        Ok(run(&self.models, start, control).await?.to_bytes())
    }

    /// The evidence of these units, computed on the CPU; blocks until it is complete.
    pub(crate) fn count(&self, first: f64, end: f64) -> Result<Vec<u8>, Failure> {
        Ok(ready(self.counted(first, end, &Unattended))??)
    }
}

/// Counting on a GPU, one call at a time: a wave holds the memory of its models.
#[derive(Debug)]
pub(crate) struct GpuCounting<W: Workload> {
    adapter: Adapter,
    pub(crate) counting: Counting<W>,
    running: RefCell<Weak<PageControl>>,
    lost: RefCell<Option<String>>,
}

impl<W: Workload> GpuCounting<W> {
    pub(crate) fn new(adapter: Adapter, counting: Counting<W>) -> Self {
        let (running, lost) = (RefCell::default(), RefCell::default());
        GpuCounting { adapter, counting, running, lost }
    }

    /// Whether it is a GPU, not a rasteriser on the CPU.
    pub(crate) fn is_hardware(&self) -> bool {
        self.adapter.facts().hardware
    }

    /// Why the device was lost, if it was.
    pub(crate) fn lost(&self) -> Option<String> {
        self.lost.borrow().clone()
    }

    /// The evidence of these units.
    ///
    /// A lost device is reopened. If that fails, or the self-test does, the call fails with kind
    /// `device`, and [`lost`](Self::lost) has the reason.
    pub(crate) async fn count(&self, first: f64, end: f64) -> Result<Vec<u8>, Failure> {
        let control = Rc::new(PageControl::default());
        *self.running.borrow_mut() = Rc::downgrade(&control);
        let counted = self.counting.counted(first, end, &*control).await;
        if control.fell_back() {
            let reason = control.warning().unwrap_or_default();
            let failure = Failure::of(FailureKind::Device, &reason);
            *self.lost.borrow_mut() = Some(reason);
            return Err(failure);
        }
        Ok(counted?)
    }

    /// Stops a running call: it fails with kind `stopped`.
    pub(crate) fn stop(&self) {
        self.running.borrow().upgrade().iter().for_each(|control| control.stop());
    }
}

/// A class of JavaScript that trains by WebGPU: wasm-bindgen has no generic classes.
macro_rules! gpu_counter {
    ($(#[$about:meta])* $counter:ident($models:ty), $prepare:path) => {
        $(#[$about])*
        ///
        /// One call at a time: a wave holds the memory of its models.
        #[wasm_bindgen::prelude::wasm_bindgen]
        #[derive(Debug)]
        pub struct $counter($crate::counting::GpuCounting<$models>);

        #[wasm_bindgen::prelude::wasm_bindgen]
        impl $counter {
            /// Opens the browser's adapter and trains a few models on it and on the CPU, which must
            /// agree: hardware, unless `software` accepts a rasteriser on the CPU, which is slower than
            /// the workers of a CPU.
            ///
            /// # Errors
            /// No adapter, or no device of it; a model too large for it; a failed self-test; bytes that
            /// are no layout; another command than that of the audit.
            pub async fn open(
                layout: Vec<u8>,
                command: $crate::command::Command,
                software: Option<bool>,
            ) -> Result<$counter, $crate::failure::Failure> {
                use $crate::counting::{Counting, GpuCounting, MEMORY_BYTES};
                let Counting { models, layout } = Counting::of(&layout, $prepare(command)?)?;
                let adapter = $crate::adapter::found_adapter(software.unwrap_or(false)).await?;
                let models = models.on_device(&adapter, MEMORY_BYTES, &|| true).await;
                let models = models.map_err(|refused| refused.error)?;
                Ok($counter(GpuCounting::new(adapter, Counting::new(models, layout))))
            }

            /// The device's name in results.
            #[wasm_bindgen(getter)]
            #[must_use]
            pub fn name(&self) -> String {
                dpscope_engine::Workload::device(&self.0.counting.models).name
            }

            /// Whether it is a GPU, not a rasteriser on the CPU.
            #[wasm_bindgen(getter)]
            #[must_use]
            pub fn hardware(&self) -> bool {
                self.0.is_hardware()
            }

            /// Why the device was lost, if it was: open another counter, or use the CPU.
            #[wasm_bindgen(getter)]
            #[must_use]
            pub fn lost(&self) -> Option<String> {
                self.0.lost()
            }

            /// Trains units `first..end`.
            ///
            /// A lost device is reopened. If that fails, or the self-test does, the call fails with kind
            /// `device`, [`lost`](Self::lost) has the reason, and another counter must train them.
            ///
            /// # Errors
            /// A lost device; stopped.
            pub async fn count(
                &self,
                first: f64,
                end: f64,
            ) -> Result<Vec<u8>, $crate::failure::Failure> {
                self.0.count(first, end).await
            }

            /// Stops a running call within a few dispatches of at most 40 ms: it fails with kind
            /// `stopped`.
            pub fn stop(&self) {
                self.0.stop();
            }

            /// Destroys the device for good. For tests.
            #[doc(hidden)]
            pub fn lose_device(&self) {
                let trainer = self.0.counting.models.trainer();
                trainer.forbid_reopening();
                trainer.lose_device();
            }
        }
    };
}

pub(crate) use gpu_counter;

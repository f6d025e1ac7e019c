//! Training by WebGPU, for a dedicated worker.

use dpscope_train::{DpSgd, TrainedModels};
use wasm_bindgen::prelude::wasm_bindgen;

use super::counter::models;
use crate::adapter::found_adapter;
use crate::counting::{Counting, GpuCounting, MEMORY_BYTES};
use crate::data_set::DataFiles;
use crate::failure::Failure;

/// A GPU that trains.
///
/// One call at a time: a wave holds the memory of its models.
#[wasm_bindgen]
#[derive(Debug)]
pub struct GpuTrainingCounter(GpuCounting<TrainedModels>);

#[wasm_bindgen]
impl GpuTrainingCounter {
    /// Opens the browser's adapter and trains a few models on it and on the CPU, which must agree:
    /// hardware, unless `software` accepts a rasteriser on the CPU, which is slower than the workers of a
    /// CPU.
    ///
    /// # Errors
    /// No adapter, or no device of it; a model too large for it; a failed self-test; bytes that are no
    /// layout; other files than those of the audit.
    pub async fn open(
        layout: Vec<u8>,
        files: Option<DataFiles>,
        software: Option<bool>,
    ) -> Result<GpuTrainingCounter, Failure> {
        let (models, layout) = models(&layout, files.as_ref())?;
        let adapter = found_adapter(software.unwrap_or(false)).await?;
        let models = models.on_device(&adapter, MEMORY_BYTES, &|| true).await;
        let models = models.map_err(|refused| refused.error)?;
        Ok(GpuTrainingCounter(GpuCounting::new(adapter, Counting::new(models, layout))))
    }

    /// The device's name in results.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn name(&self) -> String {
        self.trainer().device().name
    }

    /// Whether it is a GPU, not a rasteriser on the CPU.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn hardware(&self) -> bool {
        self.0.is_hardware()
    }

    /// Runs of each world that are trained together.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn wave(&self) -> f64 {
        self.trainer().smallest_wave() as f64
    }

    /// Why the device was lost, if it was: open another counter, or use the CPU.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn lost(&self) -> Option<String> {
        self.0.lost()
    }

    /// Trains runs `first..end` in both worlds.
    ///
    /// A lost device is reopened. If that fails, or the self-test does, the call fails with kind
    /// `device`, [`lost`](Self::lost) has the reason, and another counter must train the runs.
    ///
    /// # Errors
    /// A lost device; stopped.
    pub async fn count(&self, first: f64, end: f64) -> Result<Vec<u8>, Failure> {
        self.0.count(first, end).await
    }

    /// Stops a running call within a few dispatches of at most 40 ms: it fails with kind `stopped`.
    pub fn stop(&self) {
        self.0.stop();
    }

    /// Destroys the device, as a driver's reset does. For tests.
    #[doc(hidden)]
    pub fn lose_device(&self) {
        self.trainer().lose_device();
    }

    /// Forbids to reopen a lost device. For tests.
    #[doc(hidden)]
    pub fn forbid_reopening(&self) {
        self.trainer().forbid_reopening();
    }
}

impl GpuTrainingCounter {
    fn trainer(&self) -> &DpSgd {
        self.0.counting.models.trainer()
    }
}

//! Trainings with canaries by WebGPU, for a dedicated worker.

use dpscope_engine::{Artefact, Workload};
use dpscope_train::one_run::OneRunModels;
use wasm_bindgen::prelude::wasm_bindgen;

use super::counter::models;
use crate::adapter::found_adapter;
use crate::counting::{Counting, GpuCounting, MEMORY_BYTES};
use crate::data_set::DataFiles;
use crate::failure::Failure;

/// A GPU that trains models with canaries.
///
/// One call at a time: a wave holds the memory of its models.
#[wasm_bindgen]
#[derive(Debug)]
pub struct GpuCanaryCounter(GpuCounting<OneRunModels>);

#[wasm_bindgen]
impl GpuCanaryCounter {
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
    ) -> Result<GpuCanaryCounter, Failure> {
        let layout = Artefact::from_bytes(&layout)?;
        let models = models(&layout, files.as_ref())?;
        let adapter = found_adapter(software.unwrap_or(false)).await?;
        let models = models.on_device(&adapter, MEMORY_BYTES, &|| true).await;
        let models = models.map_err(|refused| refused.error)?;
        Ok(GpuCanaryCounter(GpuCounting::new(adapter, Counting::new(models, layout))))
    }

    /// The device's name in results.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn name(&self) -> String {
        self.0.counting.models.device().name
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

    /// Trains models `first..end`.
    ///
    /// A lost device is reopened. If that fails, or the self-test does, the call fails with kind
    /// `device`, [`lost`](Self::lost) has the reason, and another counter must train the models.
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

    /// Destroys the device for good. For tests.
    #[doc(hidden)]
    pub fn lose_device(&self) {
        let trainer = self.0.counting.models.trainer();
        trainer.forbid_reopening();
        trainer.lose_device();
    }
}

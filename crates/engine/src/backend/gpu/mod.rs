//! GPUs through wgpu: the programs of `dpscope-shaders` on whatever adapter there is.

use dpscope_core::adjacency::World;
use dpscope_core::audit::AuditHistograms;
use dpscope_core::histogram::ScoreBins;
use dpscope_shaders::FloatMode;
use dpscope_shaders::bgm::ScoreKernel;

use super::CpuBackend;
use crate::{EngineError, ObservationRange};

/// What is known of an adapter before it is opened.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AdapterFacts {
    /// Place in the list of [`adapters`], from 0.
    pub index: usize,
    /// As the driver names it.
    pub name: String,
    /// "vulkan", "metal", "dx12" or "webgpu".
    pub backend: &'static str,
    /// Driver and its version.
    pub driver: String,
    /// Whether it is a GPU, not a rasteriser on the CPU.
    pub hardware: bool,
    /// Largest storage binding, in bytes.
    pub max_storage_binding_bytes: u64,
    /// Workgroups in one dimension of a dispatch.
    pub max_workgroups: u32,
    /// Invocations of a workgroup.
    pub max_invocations: u32,
}

/// An adapter that can be opened.
#[derive(Debug, Clone)]
pub struct Adapter {
    facts: AdapterFacts,
    #[expect(dead_code, reason = "stub")]
    inner: wgpu::Adapter,
}

/// The adapters of this machine; each once, hardware first.
pub async fn adapters() -> Vec<Adapter> {
    Vec::new()
}

impl Adapter {
    /// What is known of it.
    #[must_use]
    pub fn facts(&self) -> &AdapterFacts {
        &self.facts
    }
}

/// A GPU that counts, with the CPU twin beside it.
#[derive(Debug)]
pub struct GpuBackend {
    cpu: CpuBackend,
}

impl GpuBackend {
    /// Opens an adapter.
    ///
    /// # Errors
    /// The driver gives no device.
    pub async fn open(
        adapter: &Adapter,
        mode: FloatMode,
        cpu: CpuBackend,
    ) -> Result<Self, EngineError> {
        let _ = (adapter, mode);
        Ok(GpuBackend { cpu })
    }

    /// Scores of `count` observations of a world, in the kernel's unit, as the GPU computes them.
    ///
    /// # Errors
    /// The device fails.
    pub async fn scores(
        &self,
        kernel: &ScoreKernel,
        world: World,
        first: u64,
        count: u32,
    ) -> Result<Vec<i64>, EngineError> {
        let _ = (kernel, world, first, count);
        Ok(Vec::new())
    }

    /// Destroys the device, as a driver's reset would. For tests.
    #[doc(hidden)]
    pub fn lose_device(&self) {}

    pub(super) fn cpu(&self) -> &CpuBackend {
        &self.cpu
    }

    pub(super) fn count(
        &self,
        _kernel: &ScoreKernel,
        _bins: &ScoreBins,
        _range: ObservationRange,
    ) -> Result<AuditHistograms, EngineError> {
        Err(EngineError::Stopped)
    }
}

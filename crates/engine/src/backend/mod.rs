//! What turns observations into histograms.

mod cpu;
#[cfg(feature = "gpu")]
pub mod gpu;

pub use cpu::CpuBackend;
#[cfg(feature = "gpu")]
pub use gpu::GpuBackend;

use dpscope_core::audit::AuditHistograms;
use dpscope_core::histogram::ScoreBins;
pub use dpscope_shaders::FloatMode;
use dpscope_shaders::bgm::ScoreKernel;

use crate::{EngineError, ObservationRange};

/// A place where scores are computed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Backend {
    /// Threads of this machine, over lanes.
    Cpu(CpuBackend),
    /// A GPU.
    #[cfg(feature = "gpu")]
    Gpu(Box<GpuBackend>),
}

impl Backend {
    /// What the report calls the device.
    #[must_use]
    pub fn device(&self) -> String {
        match self {
            Backend::Cpu(cpu) => cpu.device(),
            #[cfg(feature = "gpu")]
            Backend::Gpu(gpu) => gpu.cpu().device(),
        }
    }

    /// How this backend computes floats.
    #[must_use]
    pub fn float_mode(&self) -> FloatMode {
        match self {
            Backend::Cpu(_) => FloatMode::Exact,
            #[cfg(feature = "gpu")]
            Backend::Gpu(_) => FloatMode::Fast,
        }
    }

    /// The CPU twin beside this backend: pilots run there.
    #[must_use]
    pub fn cpu(&self) -> &CpuBackend {
        match self {
            Backend::Cpu(cpu) => cpu,
            #[cfg(feature = "gpu")]
            Backend::Gpu(gpu) => gpu.cpu(),
        }
    }

    /// Histograms of observations `range` of both worlds.
    ///
    /// # Errors
    /// `keep_going` says no.
    pub async fn count(
        &self,
        kernel: &ScoreKernel,
        bins: &ScoreBins,
        range: ObservationRange,
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Result<AuditHistograms, EngineError> {
        match self {
            Backend::Cpu(cpu) => cpu.count(kernel, bins, range, keep_going),
            #[cfg(feature = "gpu")]
            Backend::Gpu(gpu) => gpu.count(kernel, bins, range),
        }
    }

    /// Observations of each world below which a call of [`count`](Self::count) leaves the device
    /// partly idle.
    #[must_use]
    pub fn smallest_wave(&self) -> u64 {
        match self {
            Backend::Cpu(cpu) => cpu.smallest_wave(),
            #[cfg(feature = "gpu")]
            Backend::Gpu(gpu) => gpu.cpu().smallest_wave(),
        }
    }
}

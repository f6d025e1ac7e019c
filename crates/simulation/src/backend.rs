//! Where observations are counted: CPU or GPU.

pub use crate::cpu::CpuBackend;
#[cfg(feature = "gpu")]
pub use crate::gpu::{GpuBackend, GpuCounting, PieceLimits, SubmittedWave};
use dpscope_engine::{Device, FloatMode};

/// Where scores are computed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Backend {
    /// CPU threads with vector lanes.
    Cpu(CpuBackend),
    /// A GPU.
    #[cfg(feature = "gpu")]
    Gpu(Box<GpuBackend>),
}

impl Backend {
    /// Name and float mode, for reports.
    #[must_use]
    pub fn device(&self) -> Device {
        match self {
            Backend::Cpu(cpu) => cpu.device(),
            #[cfg(feature = "gpu")]
            Backend::Gpu(gpu) => gpu.device(),
        }
    }

    /// Float mode of this backend.
    #[must_use]
    pub fn float_mode(&self) -> FloatMode {
        self.device().mode
    }

    /// The CPU twin of this backend, which runs pilots.
    #[must_use]
    pub fn cpu(&self) -> &CpuBackend {
        match self {
            Backend::Cpu(cpu) => cpu,
            #[cfg(feature = "gpu")]
            Backend::Gpu(gpu) => gpu.cpu(),
        }
    }
}

//! What turns observations into histograms.

mod cpu;

pub use cpu::CpuBackend;

use dpscope_core::audit::AuditHistograms;
use dpscope_core::histogram::ScoreBins;
use dpscope_shaders::bgm::ScoreKernel;

use crate::{EngineError, ObservationRange};

/// A place where scores are computed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Backend {
    /// Threads of this machine, over lanes.
    Cpu(CpuBackend),
}

/// How floats are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FloatMode {
    /// Bit for bit as the CPU twin.
    Exact,
    /// Within a derived error of it.
    Fast,
}

impl std::fmt::Display for FloatMode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            FloatMode::Exact => "exact",
            FloatMode::Fast => "fast",
        })
    }
}

impl Backend {
    /// What the report calls the device.
    #[must_use]
    pub fn device(&self) -> String {
        match self {
            Backend::Cpu(cpu) => cpu.device(),
        }
    }

    /// How this backend computes floats.
    #[must_use]
    pub fn float_mode(&self) -> FloatMode {
        match self {
            Backend::Cpu(_) => FloatMode::Exact,
        }
    }

    /// The CPU twin beside this backend: pilots run there.
    #[must_use]
    pub fn cpu(&self) -> &CpuBackend {
        match self {
            Backend::Cpu(cpu) => cpu,
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
        }
    }

    /// Observations of each world below which a call of [`count`](Self::count) leaves the device
    /// partly idle.
    #[must_use]
    pub fn smallest_wave(&self) -> u64 {
        match self {
            Backend::Cpu(cpu) => cpu.smallest_wave(),
        }
    }
}

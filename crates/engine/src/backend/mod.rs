//! Backends, which count the scores of observations in histograms.

mod cpu;
#[cfg(feature = "gpu")]
pub mod gpu;
mod pair;
mod work;

pub use cpu::CpuBackend;
#[cfg(feature = "gpu")]
pub use gpu::GpuBackend;
pub(crate) use pair::PairDrawing;
pub(crate) use work::{WaveCounts, Work};

pub use dpscope_shaders::FloatMode;

use crate::digest::TrainingDigest;
use crate::trainer::{self, Trainer};
use crate::{EngineError, ObservationRange};

/// Where scores are computed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Backend {
    /// CPU threads with vector lanes.
    Cpu(CpuBackend),
    /// A GPU.
    #[cfg(feature = "gpu")]
    Gpu(Box<GpuBackend>),
    /// Trains models and scores their outputs; pilots run on the CPU.
    Trainer(Box<dyn Trainer>, CpuBackend),
}

impl Backend {
    /// Name of the device, for reports.
    #[must_use]
    pub fn device(&self) -> String {
        match self {
            Backend::Cpu(cpu) => cpu.device(),
            #[cfg(feature = "gpu")]
            Backend::Gpu(gpu) => gpu.device(),
            Backend::Trainer(trainer, _) => trainer.device(),
        }
    }

    /// Float mode of this backend.
    #[must_use]
    pub fn float_mode(&self) -> FloatMode {
        match self {
            Backend::Cpu(_) => FloatMode::Exact,
            #[cfg(feature = "gpu")]
            Backend::Gpu(gpu) => gpu.float_mode(),
            // the order of sums depends on the machine
            Backend::Trainer(..) => FloatMode::Fast,
        }
    }

    /// Name and float mode of the device that replaces a failed one.
    pub(crate) fn fallback_device(&self) -> (String, FloatMode) {
        match self {
            Backend::Trainer(trainer, _) => (trainer.fallback_device(), self.float_mode()),
            _ => (self.cpu().device(), FloatMode::Exact),
        }
    }

    /// The training that this backend observes.
    pub(crate) fn training(&self) -> Option<TrainingDigest> {
        match self {
            Backend::Trainer(trainer, _) => Some(TrainingDigest::of(trainer.description())),
            _ => None,
        }
    }

    /// The CPU twin of this backend, which runs pilots.
    #[must_use]
    pub fn cpu(&self) -> &CpuBackend {
        match self {
            Backend::Cpu(cpu) => cpu,
            #[cfg(feature = "gpu")]
            Backend::Gpu(gpu) => gpu.cpu(),
            Backend::Trainer(_, cpu) => cpu,
        }
    }

    /// Prepares to count the scores of a kernel.
    pub(crate) fn counting<'a>(&'a self, work: Work<'a>) -> Counting<'a> {
        match self {
            Backend::Cpu(cpu) => Counting::Cpu(cpu, work),
            #[cfg(feature = "gpu")]
            Backend::Gpu(gpu) => Counting::Gpu(Box::new(gpu::GpuCounting::new(gpu, work))),
            Backend::Trainer(trainer, _) => Counting::Trainer(&**trainer, work),
        }
    }
}

/// Counts the scores of one kernel: waves are submitted, and collected in the same order.
pub(crate) enum Counting<'a> {
    Cpu(&'a CpuBackend, Work<'a>),
    #[cfg(feature = "gpu")]
    Gpu(Box<gpu::GpuCounting<'a>>),
    Trainer(&'a dyn Trainer, Work<'a>),
}

/// A submitted wave.
pub(crate) enum PendingWave {
    Counted(Box<WaveCounts>),
    #[cfg(feature = "gpu")]
    Gpu(gpu::Wave),
}

impl Counting<'_> {
    /// Submits observations `range` of both worlds.
    pub(crate) async fn submit(
        &mut self,
        range: ObservationRange,
    ) -> Result<PendingWave, EngineError> {
        match self {
            Counting::Cpu(cpu, work) => {
                let counted = cpu.count_wave(*work, range)?;
                Ok(PendingWave::Counted(Box::new(counted)))
            }
            #[cfg(feature = "gpu")]
            Counting::Gpu(gpu) => Ok(PendingWave::Gpu(gpu.submit(range).await?)),
            Counting::Trainer(trainer, work) => {
                let counted = trainer::count_wave(*trainer, *work, range)?;
                Ok(PendingWave::Counted(Box::new(counted)))
            }
        }
    }

    /// The histograms of the first submitted wave, or of the start of it.
    pub(crate) async fn collect(
        &mut self,
        pending: PendingWave,
    ) -> Result<WaveCounts, EngineError> {
        match (self, pending) {
            (_, PendingWave::Counted(counted)) => Ok(*counted),
            #[cfg(feature = "gpu")]
            (Counting::Gpu(gpu), PendingWave::Gpu(wave)) => gpu.collect(wave).await,
            #[cfg(feature = "gpu")]
            (Counting::Cpu(cpu, work), PendingWave::Gpu(wave)) => {
                cpu.count_wave(*work, wave.range())
            }
            #[cfg(feature = "gpu")]
            (Counting::Trainer(trainer, work), PendingWave::Gpu(wave)) => {
                trainer::count_wave(*trainer, *work, wave.range())
            }
        }
    }

    /// Number of waves to keep in flight.
    pub(crate) fn depth(&self) -> usize {
        match self {
            Counting::Cpu(..) | Counting::Trainer(..) => 1,
            #[cfg(feature = "gpu")]
            Counting::Gpu(gpu) => gpu.depth(),
        }
    }

    /// Minimum number of observations of each world in a wave; sizes are multiples of it.
    pub(crate) fn smallest_wave(&self) -> u64 {
        match self {
            Counting::Cpu(cpu, _) => cpu.smallest_wave(),
            #[cfg(feature = "gpu")]
            Counting::Gpu(gpu) => gpu.smallest_wave(),
            Counting::Trainer(trainer, _) => trainer.smallest_wave().max(1),
        }
    }
}

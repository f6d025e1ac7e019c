//! What turns observations into histograms.

mod cpu;
#[cfg(feature = "gpu")]
pub mod gpu;
mod pair;

pub use cpu::CpuBackend;
#[cfg(feature = "gpu")]
pub use gpu::GpuBackend;
pub(crate) use pair::PairDrawing;

use dpscope_core::audit::AuditHistograms;
use dpscope_core::audit::histogram::ScoreBins;
pub use dpscope_shaders::FloatMode;
use dpscope_shaders::bgm::ScoreKernel;

use crate::training::{self, Trainer, TrainingDigest, TrainingTally};
use crate::{Control, EngineError, ObservationRange};

/// A place where scores are computed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Backend {
    /// Threads of this machine, over lanes.
    Cpu(CpuBackend),
    /// A GPU.
    #[cfg(feature = "gpu")]
    Gpu(Box<GpuBackend>),
    /// Models are trained and their outputs scored; pilots run on the CPU.
    Trainer(Box<dyn Trainer>, CpuBackend),
}

impl Backend {
    /// What the report calls the device.
    #[must_use]
    pub fn device(&self) -> String {
        match self {
            Backend::Cpu(cpu) => cpu.device(),
            #[cfg(feature = "gpu")]
            Backend::Gpu(gpu) => gpu.device(),
            Backend::Trainer(trainer, _) => trainer.device(),
        }
    }

    /// How this backend computes floats.
    #[must_use]
    pub fn float_mode(&self) -> FloatMode {
        match self {
            Backend::Cpu(_) => FloatMode::Exact,
            #[cfg(feature = "gpu")]
            Backend::Gpu(gpu) => gpu.float_mode(),
            // a sum of products has the order that is fastest on each machine
            Backend::Trainer(..) => FloatMode::Fast,
        }
    }

    /// What the report calls the device that stands in for one that failed, and its float mode.
    pub(crate) fn stand_in(&self) -> (String, FloatMode) {
        match self {
            Backend::Trainer(trainer, _) => (trainer.stand_in(), self.float_mode()),
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

    /// The CPU twin beside this backend: pilots run there.
    #[must_use]
    pub fn cpu(&self) -> &CpuBackend {
        match self {
            Backend::Cpu(cpu) => cpu,
            #[cfg(feature = "gpu")]
            Backend::Gpu(gpu) => gpu.cpu(),
            Backend::Trainer(_, cpu) => cpu,
        }
    }

    /// Gets ready to count the scores of a kernel.
    pub(crate) fn counting<'a>(&'a self, work: Work<'a>) -> Counting<'a> {
        match self {
            Backend::Cpu(cpu) => Counting::Cpu(cpu, work),
            #[cfg(feature = "gpu")]
            Backend::Gpu(gpu) => Counting::Gpu(Box::new(gpu.counting(work))),
            Backend::Trainer(trainer, _) => Counting::Trainer(&**trainer, work),
        }
    }
}

/// What is counted, and for whom.
#[derive(Clone, Copy)]
pub(crate) struct Work<'a> {
    pub(crate) kernel: &'a ScoreKernel,
    pub(crate) bins: &'a ScoreBins,
    pub(crate) control: &'a dyn Control,
}

/// Histograms of a wave.
#[derive(Debug)]
pub(crate) struct Counted {
    /// The wave, or the start of it where the CPU stood in.
    pub(crate) range: ObservationRange,
    pub(crate) histograms: AuditHistograms,
    /// Wall time; that of overlapping waves is not counted twice.
    pub(crate) sampling_ms: f64,
    /// Whether the CPU stood in for a device that failed.
    pub(crate) is_fallback: bool,
    /// What else trained runs of each world showed.
    pub(crate) tallies: Option<[TrainingTally; 2]>,
}

/// The counting of one kernel's scores by a backend: waves are submitted, and collected in the same
/// order.
pub(crate) enum Counting<'a> {
    Cpu(&'a CpuBackend, Work<'a>),
    #[cfg(feature = "gpu")]
    Gpu(Box<gpu::GpuCounting<'a>>),
    Trainer(&'a dyn Trainer, Work<'a>),
}

/// A wave that was submitted.
pub(crate) enum Pending {
    Done(Box<Counted>),
    #[cfg(feature = "gpu")]
    Gpu(gpu::Wave),
}

impl Counting<'_> {
    /// Starts on observations `range` of both worlds.
    pub(crate) async fn submit(&mut self, range: ObservationRange) -> Result<Pending, EngineError> {
        match self {
            Counting::Cpu(cpu, work) => {
                let counted = cpu.counted(*work, range)?;
                Ok(Pending::Done(Box::new(counted)))
            }
            #[cfg(feature = "gpu")]
            Counting::Gpu(gpu) => gpu.submit(range).await,
            Counting::Trainer(trainer, work) => {
                let counted = training::counted(*trainer, *work, range)?;
                Ok(Pending::Done(Box::new(counted)))
            }
        }
    }

    /// The histograms of the wave that was submitted first, or of the start of it.
    pub(crate) async fn collect(&mut self, pending: Pending) -> Result<Counted, EngineError> {
        match (self, pending) {
            (_, Pending::Done(counted)) => Ok(*counted),
            #[cfg(feature = "gpu")]
            (Counting::Gpu(gpu), Pending::Gpu(wave)) => gpu.collect(wave).await,
            #[cfg(feature = "gpu")]
            (Counting::Cpu(cpu, work), Pending::Gpu(wave)) => cpu.counted(*work, wave.range()),
            #[cfg(feature = "gpu")]
            (Counting::Trainer(trainer, work), Pending::Gpu(wave)) => {
                training::counted(*trainer, *work, wave.range())
            }
        }
    }

    /// Waves that are best under way at a time.
    pub(crate) fn depth(&self) -> usize {
        match self {
            Counting::Cpu(..) | Counting::Trainer(..) => 1,
            #[cfg(feature = "gpu")]
            Counting::Gpu(gpu) => gpu.depth(),
        }
    }

    /// Observations of each world in a wave, or a multiple of them.
    pub(crate) fn smallest_wave(&self) -> u64 {
        match self {
            Counting::Cpu(cpu, _) => cpu.smallest_wave(),
            #[cfg(feature = "gpu")]
            Counting::Gpu(gpu) => gpu.smallest_wave(),
            Counting::Trainer(trainer, _) => trainer.smallest_wave().max(1),
        }
    }
}

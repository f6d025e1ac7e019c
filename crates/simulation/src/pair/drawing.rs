//! Samples of the exact pair from any backend.

use dpscope_core::accounting::pair::Draw;
use dpscope_engine::{Control, EngineError, UnitRange};
use dpscope_shaders::{LANES, PairKernel};

use crate::Backend;
#[cfg(feature = "gpu")]
use crate::gpu::GpuPair;

/// Random words per chunk of a CPU thread: a few milliseconds.
const CHUNK_WORDS: u64 = 1 << 21;

/// Maximum number of draws per chunk, which are stored in memory.
const MAX_DRAWS: u64 = 1 << 16;

/// Samples epochs of one proposal: the same draws on every backend.
pub(crate) struct PairDrawing<'a> {
    backend: &'a Backend,
    kernel: PairKernel,
    control: &'a dyn Control,
    #[cfg(feature = "gpu")]
    gpu: Option<GpuPair<'a>>,
}

impl<'a> PairDrawing<'a> {
    pub(crate) fn new(
        backend: &'a Backend,
        kernel: PairKernel,
        control: &'a dyn Control,
        on_cpu: bool,
    ) -> PairDrawing<'a> {
        #[cfg(feature = "gpu")]
        let gpu = match backend {
            Backend::Gpu(gpu) if !on_cpu => Some(gpu.pair(&kernel)),
            _ => None,
        };
        let _ = on_cpu;
        PairDrawing {
            backend,
            kernel,
            control,
            #[cfg(feature = "gpu")]
            gpu,
        }
    }

    /// Whether there is no GPU, or it has failed.
    pub(crate) fn is_on_cpu(&self) -> bool {
        #[cfg(feature = "gpu")]
        return self.gpu.is_none();
        #[cfg(not(feature = "gpu"))]
        true
    }

    /// The first draws of a range, at least one; on the CPU after a GPU failure.
    pub(crate) fn first_of(&mut self, range: UnitRange) -> Result<Vec<Draw>, EngineError> {
        if !self.control.keep_going() {
            return Err(EngineError::Stopped);
        }
        let cpu = self.backend.cpu();
        #[cfg(feature = "gpu")]
        if let Some(gpu) = &mut self.gpu {
            match gpu.values(&self.kernel, range, self.control) {
                Ok(values) => return Ok(cpu.pair_draws_of(&self.kernel, &values)),
                Err(reason) => {
                    self.control.warn(&format!("{reason}; continuing on the CPU"));
                    self.gpu = None;
                }
            }
        }
        let threads = cpu.threads() as u64;
        let max = (threads * CHUNK_WORDS / (16 * self.kernel.blocks()))
            .clamp(LANES as u64 * threads, MAX_DRAWS);
        let end = range.end.min(range.first + max);
        let keep_going = || self.control.keep_going();
        cpu.pair_draws(&self.kernel, UnitRange { end, ..range }, &keep_going)
    }
}

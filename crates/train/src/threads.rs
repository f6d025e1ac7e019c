//! The CPU threads that train models.

use dpscope_engine::{Device, EngineError, FloatMode};

/// A pool of threads; in WebAssembly the calling thread, which `rayon` uses there by itself.
#[derive(Debug)]
pub(crate) struct Threads {
    #[cfg(not(target_arch = "wasm32"))]
    pool: rayon::ThreadPool,
}

impl Threads {
    /// A pool of `count` threads; 0 means one per core.
    pub(crate) fn new(count: usize) -> Result<Self, EngineError> {
        #[cfg(not(target_arch = "wasm32"))]
        {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build();
            let failed = |error: rayon::ThreadPoolBuildError| EngineError::Backend {
                backend: "cpu",
                reason: error.to_string(),
            };
            Ok(Threads { pool: pool.map_err(failed)? })
        }
        #[cfg(target_arch = "wasm32")]
        {
            let _ = count;
            Ok(Threads {})
        }
    }

    /// Number of threads.
    pub(crate) fn count(&self) -> usize {
        #[cfg(not(target_arch = "wasm32"))]
        return self.pool.current_num_threads();
        #[cfg(target_arch = "wasm32")]
        1
    }

    /// Runs parallel iterators on these threads.
    pub(crate) fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        #[cfg(not(target_arch = "wasm32"))]
        return self.pool.install(work);
        #[cfg(target_arch = "wasm32")]
        work()
    }

    /// Name and float mode: the order of sums depends on the machine.
    pub(crate) fn device(&self) -> Device {
        let threads = self.count();
        let plural = if threads == 1 { "" } else { "s" };
        let name = format!("cpu ({threads} thread{plural}, training)");
        Device { name, mode: FloatMode::Fast }
    }
}

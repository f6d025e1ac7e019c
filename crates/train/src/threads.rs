//! The CPU threads that train models.

use dpscope_engine::{Device, EngineError, FloatMode};

/// A pool of `threads` threads; 0 means one per core.
pub(crate) fn thread_pool(threads: usize) -> Result<rayon::ThreadPool, EngineError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| EngineError::Backend { backend: "cpu", reason: error.to_string() })
}

/// Name and float mode: the order of sums depends on the machine.
pub(crate) fn cpu_device(pool: &rayon::ThreadPool) -> Device {
    let threads = pool.current_num_threads();
    let plural = if threads == 1 { "" } else { "s" };
    let name = format!("cpu ({threads} thread{plural}, training)");
    Device { name, mode: FloatMode::Fast }
}

//! Time of this thread on a CPU, which other work on the machine does not lengthen.

use std::time::Instant;

/// A running clock.
#[derive(Debug)]
pub(crate) struct CpuClock {
    wall: Instant,
    cpu: Option<f64>,
}

impl CpuClock {
    pub(crate) fn start() -> Self {
        Self { wall: Instant::now(), cpu: cpu_seconds() }
    }

    /// Seconds since the start; wall time if the system does not report the time of a thread. Linux
    /// counts in ticks of up to 10 ms, so measure at least a second.
    pub(crate) fn seconds(&self) -> f64 {
        match (self.cpu, cpu_seconds()) {
            (Some(start), Some(now)) => now - start,
            _ => self.wall.elapsed().as_secs_f64(),
        }
    }
}

fn cpu_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}

//! Number of models that are trained together.

/// Maximum number of models: the extent of a dispatch along z.
const MAX_MODELS: u64 = 65_535;

/// Maximum number of words per buffer that kernels can index.
const MAX_WORDS: u64 = 1 << 30;

/// Maximum number of operations per submission: 40 ms at 10¹⁵ per second.
pub(super) const MAX_WORK: u64 = 40_000_000_000_000;

/// Limits on the resources of a wave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaveLimits {
    /// Total size of all buffers, in bytes.
    pub memory_bytes: u64,
    /// Buffer size assumed for planning, in bytes; `None` uses the device's limit.
    pub planned_bytes: Option<u64>,
    /// Buffer size requested from the device, in bytes.
    pub granted_bytes: u64,
    /// Number of units: runs of each world, or models.
    pub runs: u64,
    /// Operations per submission.
    pub work: u64,
}

impl WaveLimits {
    /// Limits only the memory; everything else is limited by the device.
    #[must_use]
    pub fn of_memory(memory_bytes: u64) -> Self {
        let (granted_bytes, runs, work) = (u64::MAX, u64::MAX, MAX_WORK);
        WaveLimits { memory_bytes, planned_bytes: None, granted_bytes, runs, work }
    }
}

/// Memory requirements of a wave, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MemoryNeed {
    /// Per model and buffer.
    pub(super) models: Vec<u64>,
    /// Per model, for transfers to and from the device.
    pub(super) transfer: u64,
    /// Shared by all models.
    pub(super) shared: u64,
    /// Models per unit.
    pub(super) worlds: u64,
}

impl MemoryNeed {
    /// Number of units that fit, possibly 0.
    pub(super) fn units(&self, memory_bytes: u64, buffer_bytes: u64) -> u64 {
        let model = self.models.iter().sum::<u64>() + self.transfer;
        let by_memory = memory_bytes.saturating_sub(self.shared) / model.max(1);
        let max_bytes = buffer_bytes.min(4 * MAX_WORDS);
        let largest = self.models.iter().copied().fold(1, u64::max);
        by_memory.min(max_bytes / largest).min(MAX_MODELS) / self.worlds
    }

    /// Bytes for some units.
    pub(super) fn bytes(&self, units: u64) -> u64 {
        self.worlds * units * (self.models.iter().sum::<u64>() + self.transfer) + self.shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waves_respect_every_limit() {
        let need = MemoryNeed { models: vec![400, 90, 8], transfer: 2, shared: 10_000, worlds: 2 };
        for memory_bytes in [0, 9_999, 10_000, 10_999, 11_000, 50_000, 1 << 20, 1 << 30, 1 << 40] {
            for buffer_bytes in [0, 799, 800, 5_000, 1 << 27, u64::MAX] {
                let runs = need.units(memory_bytes, buffer_bytes);
                let fits = |runs: u64| {
                    need.bytes(runs) <= memory_bytes
                        && 2 * runs * 400 <= buffer_bytes.min(1 << 32)
                        && 2 * runs <= 65_535
                };
                assert!(runs == 0 || fits(runs), "{memory_bytes} {buffer_bytes}: {runs}");
                assert!(!fits(runs + 1), "{memory_bytes} {buffer_bytes}: more than {runs}");
            }
        }
    }
}

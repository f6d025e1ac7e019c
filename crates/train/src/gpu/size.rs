//! How many models are trained together.

/// Models along z of a dispatch.
const MOST_MODELS: u64 = 65_535;

/// Words of a buffer that kernels can index.
const MOST_WORDS: u64 = 1 << 30;

/// Operations of a submission at most: 40 ms of 10¹⁵ a second.
const MOST_WORK: u64 = 40_000_000_000_000;

/// What a wave may take of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaveLimits {
    /// Bytes of all buffers together.
    pub memory_bytes: u64,
    /// Bytes of a buffer with which a wave is planned, where they are not those of the device.
    pub planned_bytes: Option<u64>,
    /// Bytes of a buffer for which the device is asked.
    pub granted_bytes: u64,
    /// Runs of each world.
    pub runs: u64,
    /// Operations of a submission.
    pub work: u64,
}

impl WaveLimits {
    /// So many bytes of memory, and whatever else the device gives.
    #[must_use]
    pub fn of_memory(memory_bytes: u64) -> Self {
        let (granted_bytes, runs, work) = (u64::MAX, u64::MAX, MOST_WORK);
        WaveLimits { memory_bytes, planned_bytes: None, granted_bytes, runs, work }
    }
}

/// What waves need, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Need {
    /// Of each buffer a model.
    pub(super) models: Vec<u64>,
    /// Of what is on its way to or from a model.
    pub(super) passing: u64,
    /// Of what is there once.
    pub(super) once: u64,
}

impl Need {
    /// Runs of each world that fit; 0 where not even one does.
    pub(super) fn runs(&self, memory_bytes: u64, buffer_bytes: u64) -> u64 {
        let model = self.models.iter().sum::<u64>() + self.passing;
        let by_memory = memory_bytes.saturating_sub(self.once) / model.max(1);
        let most_bytes = buffer_bytes.min(4 * MOST_WORDS);
        let largest = self.models.iter().copied().fold(1, u64::max);
        by_memory.min(most_bytes / largest).min(MOST_MODELS) / 2
    }

    /// Bytes of both worlds' models.
    pub(super) fn bytes(&self, runs: u64) -> u64 {
        2 * runs * (self.models.iter().sum::<u64>() + self.passing) + self.once
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waves_stay_within_every_limit() {
        let need = Need { models: vec![400, 90, 8], passing: 2, once: 10_000 };
        for memory_bytes in [0, 9_999, 10_000, 10_999, 11_000, 50_000, 1 << 20, 1 << 30, 1 << 40] {
            for buffer_bytes in [0, 799, 800, 5_000, 1 << 27, u64::MAX] {
                let runs = need.runs(memory_bytes, buffer_bytes);
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

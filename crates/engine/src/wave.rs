//! The size of a wave.

/// Target wall time of a wave, in milliseconds.
const WAVE_MS: f64 = 250.0;

/// Maximum wall time to which waves grow while more observations cost a GPU nothing: one of 10⁸
/// normals takes seconds, and a device processes 10⁵ in parallel.
const MAX_WAVE_MS: f64 = 30_000.0;

/// Maximum number of observations of each world in a wave: both worlds' counts fit 32 bits.
const MAX_OBSERVATIONS: u64 = 1 << 31;

/// The size of the next wave.
#[derive(Debug)]
pub(crate) struct WaveSize {
    /// Observations of each world.
    pub(crate) next: u64,
    /// The highest rate so far, in observations per millisecond.
    best: f64,
    /// The smallest size with that rate.
    filling: u64,
}

impl WaveSize {
    pub(crate) fn new(smallest: u64) -> Self {
        WaveSize { next: smallest, best: 0.0, filling: 0 }
    }

    /// Updates the size from a wave: a multiple of `smallest`, at most eight times the last and the
    /// next size. If waves overlap (`depth` > 1), the size doubles while the rate improves.
    pub(crate) fn learn(&mut self, last: u64, spent_ms: f64, smallest: u64, depth: usize) {
        let spent_ms = spent_ms.max(0.01);
        let mut target = last as f64 * (WAVE_MS / spent_ms).min(8.0);
        let rate = last as f64 / spent_ms;
        if depth > 1 && rate > 1.25 * self.best && spent_ms < MAX_WAVE_MS {
            (self.best, self.filling) = (rate, last);
            target = target.max(2.0 * last as f64);
        }
        // Without overlap the device has failed; its size does not apply to the CPU.
        let filling = if depth > 1 { self.filling } else { 0 };
        let target = target.max(filling as f64).min(8.0 * self.next as f64);
        let waves = (target / smallest as f64) as u64;
        self.next = waves.clamp(1, (MAX_OBSERVATIONS / smallest).max(1)).saturating_mul(smallest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wave sizes for a fixed time per wave plus a time per observation.
    fn sizes(fixed_ms: f64, per_ms: f64, depth: usize) -> Vec<u64> {
        let mut size = WaveSize::new(64);
        let wave = |_| {
            let last = size.next;
            size.learn(last, fixed_ms + last as f64 / per_ms, 64, depth);
            last
        };
        (0..20).map(wave).collect()
    }

    #[test]
    fn waves_take_250_ms() {
        for depth in [1, 2] {
            let sizes = sizes(0.0, 40_000.0, depth);
            assert_eq!(sizes[..3], [64, 512, 4096]);
            assert!(sizes[10..].iter().all(|&n| n == 40_000 * 250 / 64 * 64), "{sizes:?}");
        }
        assert_eq!(sizes(0.0, 0.001, 1)[19], 64);
    }

    #[test]
    fn waves_fill_a_wide_device_despite_slow_observations() {
        let filled = sizes(1000.0, 100.0, 2);
        assert!(filled[15..].iter().all(|&n| n >= 1 << 17), "{filled:?}");
        assert_eq!(sizes(1000.0, 100.0, 1)[19], 64);
        assert_eq!(sizes(60_000.0, 100.0, 2)[19], 64);
    }

    #[test]
    fn wave_size_of_a_gpu_does_not_carry_over_to_the_cpu() {
        let mut size = WaveSize::new(64);
        for _ in 0..20 {
            size.learn(size.next, 1000.0 + size.next as f64 / 100.0, 64, 2);
        }
        let (filled, per_ms) = (size.next, 0.5);
        assert!(filled >= 1 << 17);
        size.learn(64, 64.0 / per_ms, 64, 1);
        // The wave that was in flight.
        size.learn(filled, 1000.0, 64, 1);
        for _ in 0..10 {
            let last = size.next;
            assert!(last <= 8 * 128, "{last}");
            size.learn(last, last as f64 / per_ms, 64, 1);
        }
        assert_eq!(size.next, 64);
    }

    #[test]
    fn without_a_clock_only_the_count_limits_waves() {
        let mut size = WaveSize::new(64);
        for _ in 0..30 {
            size.learn(size.next, 0.0, 64, 2);
        }
        assert_eq!(size.next, MAX_OBSERVATIONS);
    }
}

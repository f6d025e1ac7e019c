//! Bins per CPU-second from two histograms of 2¹⁷ bins to the uncorrected maximum of ε: prints one
//! line of JSON.
//!
//! `cargo run --release -p dpscope-core --example histogram_speed`

mod cpu_clock;

use std::hint::black_box;

use dpscope_core::audit::bound::max_uncorrected;
use dpscope_core::audit::histogram::{MAX_BINS, ScoreBins, ScoreHistogram};
use dpscope_core::audit::trade_off::TradeOff;
use dpscope_core::special::normal_cdf;

use cpu_clock::CpuClock;

const REPEATS: u32 = 100;

/// Expected counts of 5·10⁸ normal scores.
fn counts(mean: f64) -> Vec<u64> {
    let at = |bin: u32| (f64::from(bin) / f64::from(MAX_BINS) - 0.5) * 16.0 - mean;
    (0..MAX_BINS).map(|b| (5e8 * (normal_cdf(at(b + 1)) - normal_cdf(at(b)))) as u64).collect()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bins = ScoreBins::new(1.0, 0, 0, MAX_BINS)?;
    let target = ScoreHistogram::from_counts(&bins, counts(1.0))?;
    let zero_out = ScoreHistogram::from_counts(&bins, counts(0.0))?;
    let clock = CpuClock::start();
    let mut epsilon = 0.0;
    for _ in 0..REPEATS {
        let trade_off = TradeOff::from_histograms(&bins, &target, black_box(&zero_out))?;
        epsilon = max_uncorrected(&trade_off, 1e-5, 0.05)?.value();
    }
    let seconds = clock.seconds() / f64::from(REPEATS);
    let rate = f64::from(MAX_BINS) / seconds;
    println!(
        "{{\"bins_per_cpu_second\": {rate:.0}, \"ms\": {:.2}, \"epsilon\": {epsilon}}}",
        seconds * 1e3
    );
    Ok(())
}

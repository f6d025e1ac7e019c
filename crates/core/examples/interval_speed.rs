//! Clopper–Pearson limits per CPU-second, at most 20 events: prints one line of JSON.
//!
//! `cargo run --release -p dpscope-core --example interval_speed`

mod cpu_clock;

use std::hint::black_box;

use dpscope_core::interval::clopper_pearson_upper;

use cpu_clock::CpuClock;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let clock = CpuClock::start();
    let mut limits = 0_u32;
    for repeat in 0..2_000_u64 {
        for trials in [1_000, 500_000, 10_000_000_000] {
            for events in 0..=20 {
                black_box(clopper_pearson_upper(events, black_box(trials + repeat), 0.025)?);
                limits += 1;
            }
        }
    }
    let rate = f64::from(limits) / clock.seconds();
    println!("{{\"limits_per_cpu_second\": {rate:.0}}}");
    Ok(())
}

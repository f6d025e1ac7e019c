//! Clopper–Pearson limits a CPU-second, at most 20 events: prints one line of JSON.
//!
//! `cargo run --release -p dpscope-core --example interval_speed`

use std::hint::black_box;
use std::time::Instant;

use dpscope_core::interval::clopper_pearson_upper;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let start = Instant::now();
    let mut limits = 0_u32;
    for repeat in 0..2_000_u64 {
        for trials in [1_000, 500_000, 10_000_000_000] {
            for events in 0..=20 {
                black_box(clopper_pearson_upper(events, black_box(trials + repeat), 0.025)?);
                limits += 1;
            }
        }
    }
    let rate = f64::from(limits) / start.elapsed().as_secs_f64();
    println!("{{\"limits_per_cpu_second\": {rate:.0}}}");
    Ok(())
}

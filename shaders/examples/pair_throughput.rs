//! Prints draws of the exact pair per CPU-second of one thread, as JSON.
//!
//! `cargo run --release -p dpscope-shaders --example pair_throughput -- --isa avx2 --steps 100`

use dpscope_core::accounting::{Training, pair::epsilon_proposal};
use dpscope_shaders::{InstructionSet, PairKernel};
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

/// The value after `--name`, or `default`.
fn option(name: &str, default: &str) -> String {
    let arguments: Vec<String> = std::env::args().collect();
    let at = arguments.iter().position(|a| a.trim_start_matches("--") == name);
    at.and_then(|at| arguments.get(at + 1)).map_or(default.to_owned(), Clone::clone)
}

/// CPU time of this thread in seconds; wall time if the system does not report it.
fn cpu_seconds(start: Instant) -> f64 {
    let nanoseconds = std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| start.elapsed().as_secs_f64(), |n| n / 1e9)
}

/// Best rate per CPU-second out of ten repetitions.
fn rate(things: usize, mut work: impl FnMut(u64) -> bool) -> f64 {
    let start = Instant::now();
    let mut best = 0.0_f64;
    for repeat in 0..10 {
        let before = cpu_seconds(start);
        black_box(work(repeat));
        best = best.max(things as f64 / (cpu_seconds(start) - before));
    }
    best
}

fn main() -> Result<(), Box<dyn Error>> {
    let isa_name = option("isa", InstructionSet::detect().name());
    let isa = InstructionSet::by_name(&isa_name).ok_or(format!("no {isa_name} here"))?;
    let steps: u64 = option("steps", "100").parse()?;
    let noise_multiplier: f64 = option("sigma", "1").parse()?;
    let run = Training { noise_multiplier, steps_per_epoch: steps, epochs: 1, sampling_rate: None };
    let proposal = epsilon_proposal(&run, 1e-5)?;
    let kernel = PairKernel::new(&proposal, 7)?.with_instruction_set(isa);
    let draws = (20_000_000 / steps).max(64).next_multiple_of(64) as usize;
    let first = |repeat: u64| repeat * draws as u64;
    let sums =
        rate(draws, |repeat| black_box(kernel.values(first(repeat), draws, &|| true)).is_ok());
    let whole =
        rate(draws, |repeat| black_box(kernel.draws(first(repeat), draws, &|| true)).is_ok());
    println!(
        "{{\"program\": \"dpscope\", \"isa\": \"{isa_name}\", \"steps\": {steps}, \
         \"noise_multiplier\": {noise_multiplier}, \"sums_per_cpu_second\": {sums:.4e}, \
         \"draws_per_cpu_second\": {whole:.4e}, \"normals_per_cpu_second\": {:.4e}}}",
        whole * steps as f64
    );
    Ok(())
}

//! Prints observations and normals per CPU-second of one thread, as JSON.
//!
//! `cargo run --release -p dpscope-shaders --example throughput -- --isa avx2 --entries 100`

use dpscope_core::adjacency::World;
use dpscope_core::mechanism::{ScoreDistribution, ScoreDistributionKind, SlotWeights};
use dpscope_shaders::{InstructionSet, Phase, ScoreKernel};
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

fn main() -> Result<(), Box<dyn Error>> {
    let isa_name = option("isa", InstructionSet::detect().name());
    let isa = InstructionSet::by_name(&isa_name).ok_or(format!("no {isa_name} here"))?;
    let sigma: f64 = option("sigma", "1").parse()?;
    let entries: u32 = option("entries", "100").parse()?;
    let epochs: u32 = option("epochs", "1").parse()?;
    let gap: f64 = option("gap", "2").parse()?;
    let rate: f64 = option("poisson", "0").parse()?;
    let kind = if rate > 0.0 {
        ScoreDistributionKind::Poisson { sampling_rate: rate }
    } else {
        ScoreDistributionKind::OneSlot { gap, weights: SlotWeights::Uniform }
    };
    let distribution = ScoreDistribution { noise_multiplier: sigma, epochs, entries, kind };
    let kernel = ScoreKernel::new(&distribution, 7, Phase::Audit)?.with_instruction_set(isa);

    let per_observation = kernel.entries_per_observation();
    let observations = (100_000_000 / per_observation).max(64).next_multiple_of(64) as usize;
    let mut out = vec![0; observations];
    let mut best = 0.0_f64;
    for repeat in 0..10 {
        let start = Instant::now();
        let before = cpu_seconds(start);
        for world in World::BOTH {
            kernel.scores(world, repeat * observations as u64, black_box(&mut out), &|| true)?;
        }
        best = best.max(2.0 * observations as f64 / (cpu_seconds(start) - before));
    }
    println!(
        "{{\"program\": \"dpscope\", \"isa\": \"{isa_name}\", \"entries\": {entries}, \
         \"epochs\": {epochs}, \"noise_multiplier\": {sigma}, \
         \"observations_per_cpu_second\": {best:.0}, \"normals_per_cpu_second\": {:.4e}}}",
        best * per_observation as f64
    );
    Ok(())
}

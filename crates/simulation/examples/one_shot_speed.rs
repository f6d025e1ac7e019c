//! One-shot audits per CPU-second: prints one line of JSON.
//!
//! `cargo run --release -p dpscope-simulation --example one_shot_speed -- trial`, or another of the jobs
//! below; `directions avx2` computes with narrower vectors than the machine has

#[path = "../../core/examples/cpu_clock/mod.rs"]
mod cpu_clock;

use std::error::Error;
use std::hint::black_box;

use dpscope_core::audit::one_shot::{
    CanaryDesign, CosineNull, CumulativeBand, OneShotQuestion, OneShotResult,
};
use dpscope_shaders::InstructionSet;
use dpscope_simulation::noisy_sum::CosineDraws;
use dpscope_simulation::{CanaryDirections, ModelChange};

use cpu_clock::CpuClock;

fn main() -> Result<(), Box<dyn Error>> {
    let what = std::env::args().nth(1).unwrap_or_default();
    let rate = match what.as_str() {
        "trial" => {
            let mut draws = CosineDraws::new(10_000_000, 1.0, 1);
            let mut cosines = Vec::new();
            rate(20_000, |run| {
                draws.cosines(run, 3_162, &mut cosines);
                Ok(cosines[0])
            })
        }
        "band" => rate(200, |_| Ok(CumulativeBand::of_uniforms(1_000, 0.05)?.local_level())),
        "cosines" => {
            let mut cosines = Vec::new();
            CosineDraws::new(10_000_000, 1.0, 1).cosines(0, 1_000_000, &mut cosines);
            rate(10, |_| bounds(&cosines))
        }
        "directions" => {
            let initial: Vec<f64> = (0..10_000_000).map(|i| f64::from(i % 977)).collect();
            let change = ModelChange::between(&initial, &vec![1.0; initial.len()]);
            let change = change.ok_or("the model did not change")?;
            let set = std::env::args().nth(2).map(|name| {
                InstructionSet::by_name(&name).ok_or(format!("{name} is not supported here"))
            });
            let set = set.unwrap_or(Ok(InstructionSet::detect()))?;
            let mut directions = CanaryDirections::new(1, initial.len()).with_instruction_set(set);
            rate(100, |canary| Ok(directions.cosine(canary, &change)))
        }
        other => Err(format!("`{other}` is not trial, band, cosines or directions").into()),
    }?;
    println!("{{\"audits_per_cpu_second\": {rate}}}");
    Ok(())
}

fn rate(
    repeats: u64,
    mut audit: impl FnMut(u64) -> Result<f64, Box<dyn Error>>,
) -> Result<f64, Box<dyn Error>> {
    let clock = CpuClock::start();
    for repeat in 0..repeats {
        black_box(audit(black_box(repeat))?);
    }
    Ok(repeats as f64 / clock.seconds())
}

/// All bounds from cosines in R^10⁷.
fn bounds(cosines: &[f64]) -> Result<f64, Box<dyn Error>> {
    let inserted = cosines.len() as u64;
    let question = OneShotQuestion {
        design: CanaryDesign::Poisson { mean: cosines.len() as f64 },
        inserted,
        delta: 1e-9,
        significance: 0.05,
        null_significance: 0.0,
        server_rounds: 1,
    };
    let tails = CosineNull::new(10_000_000)?.tails(cosines)?;
    Ok(OneShotResult::new(&tails, question)?.bounds().epsilon)
}

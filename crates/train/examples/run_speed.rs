//! CPU time of one training in an audit, one thread: prints one line of JSON.
//!
//! `cargo run --release -p dpscope-train --example run_speed -- mlp`, or `lenet`: 10 batches of 50.
//! `--features portable` leaves AVX out.

use std::error::Error;

#[path = "../../core/examples/cpu_clock/mod.rs"]
mod cpu_clock;

use cpu_clock::CpuClock;
use dpscope_core::adjacency::World;
use dpscope_core::mechanism::{BatchSampler, BatchedGaussian, ThreatModel};
use dpscope_train::{BuiltInModel, Canary, CanaryDirection, Training, TrainingSettings};

const REPEATS: u64 = 5;
/// Clocks of threads count in ticks.
const SECONDS: f64 = 0.7;

fn main() -> Result<(), Box<dyn Error>> {
    let name = std::env::args().nth(1).unwrap_or_default();
    let model = BuiltInModel::named(&name).ok_or("name a model: mlp, lenet or cnn")?;
    let mechanism = BatchedGaussian {
        noise_multiplier: 0.5,
        steps_per_epoch: 10,
        epochs: 1,
        sampler: BatchSampler::Shuffle,
        threat_model: ThreatModel::PartiallyInformed,
        batch_size: Some(50),
        dataset_size: None,
    };
    let settings = TrainingSettings {
        clip_norm: 1.0,
        learning_rate: model.learning_rate,
        canary: Canary { direction: CanaryDirection::Random, is_fresh: true },
        debias_records: 0,
    };
    let examples = model.data.generate(500, BuiltInModel::HELD_OUT)?;
    let training = Training::new(&model.spec(), examples, mechanism, settings, 1)?;
    let mut shortest = f64::INFINITY;
    for _ in 0..REPEATS {
        let (clock, mut runs) = (CpuClock::start(), 0);
        while clock.seconds() < SECONDS {
            for world in World::BOTH {
                training.watch(world, runs, 0, &|| true)?;
            }
            runs += 1;
        }
        shortest = shortest.min(clock.seconds() / (2 * runs) as f64);
    }
    println!("{{\"milliseconds_per_run\": {:.3}}}", 1e3 * shortest);
    Ok(())
}

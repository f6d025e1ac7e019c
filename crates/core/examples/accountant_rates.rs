//! Evaluations of one accountant per CPU-second: prints one line of JSON.
//!
//! `cargo run --release -p dpscope-core --example accountant_rates -- poisson 1 100 1`
//! `(poisson | calibration | shuffle | fixed-size | truncated) NOISE_MULTIPLIER
//! STEPS_PER_EPOCH EPOCHS`; of 100·T records, batches have 100, or on average 100 and at most 110

mod cpu_clock;

use std::error::Error;

use dpscope_core::accounting::{
    Accountant, FixedSize, Given, Parameter, Poisson, PrivacyTarget, Query, Shuffle, ShuffleMethod,
    Training, TruncatedPoisson, calibrate,
};
use dpscope_core::adjacency::Adjacency;
use dpscope_core::mechanism::Truncation;

use cpu_clock::CpuClock;

const DELTA: f64 = 1e-5;
const GIVEN: Given = Given::Delta(DELTA);

fn poisson(training: Training) -> Result<f64, Box<dyn Error>> {
    let query = Query { error: Some(1e-4), ..Query::upper(training, GIVEN) };
    Ok(Poisson.account(&query)?.epsilon)
}

/// Noise multiplier σ for ε = 2.
fn calibration(training: Training) -> Result<f64, Box<dyn Error>> {
    let target = PrivacyTarget { epsilon: 2.0, delta: DELTA, error: Some(1e-3) };
    Ok(calibrate(&Poisson, Parameter::Noise, &target, &training)?.value)
}

fn shuffle(training: Training) -> Result<f64, Box<dyn Error>> {
    let query = Query::lower(training, GIVEN);
    Ok(Shuffle(ShuffleMethod::MaxSlice).account(&query)?.epsilon)
}

/// ε of batches of fixed size for neighbours that replace a record, as the peer has them.
fn fixed_size(training: Training) -> Result<f64, Box<dyn Error>> {
    let accountant = FixedSize { adjacency: Adjacency::Replace };
    Ok(accountant.account(&Query::upper(training, GIVEN))?.epsilon)
}

fn truncated_poisson(training: Training) -> Result<f64, Box<dyn Error>> {
    let accountant = TruncatedPoisson {
        adjacency: Adjacency::AddRemove,
        truncation: Truncation {
            dataset_size: 100 * training.steps_per_epoch,
            max_batch_size: 110,
        },
    };
    Ok(accountant.account(&Query::upper(training, GIVEN))?.epsilon)
}

fn main() -> Result<(), Box<dyn Error>> {
    let usage = "WHAT NOISE_MULTIPLIER STEPS_PER_EPOCH EPOCHS";
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, noise_multiplier, steps_per_epoch, epochs] = &arguments[..] else {
        return Err(usage.into());
    };
    let training = Training {
        noise_multiplier: noise_multiplier.parse()?,
        steps_per_epoch: steps_per_epoch.parse()?,
        epochs: epochs.parse()?,
        sampling_rate: None,
    };
    let (clock, mut evaluations, mut least) = (CpuClock::start(), 0_u64, f64::INFINITY);
    while clock.seconds() < 1.0 {
        evaluations += 1;
        let value = match what.as_str() {
            "poisson" => poisson(training)?,
            "calibration" => calibration(training)?,
            "shuffle" => shuffle(training)?,
            "fixed-size" => fixed_size(training)?,
            "truncated" => truncated_poisson(training)?,
            _ => return Err(usage.into()),
        };
        least = least.min(value);
    }
    let rate = evaluations as f64 / clock.seconds();
    println!("{{\"value\": {least:.6}, \"evaluations_per_cpu_second\": {rate:.6}}}");
    Ok(())
}

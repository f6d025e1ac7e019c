//! Prints values and times of the accountants: `cargo run --release --example accounting_speed`.

use std::time::Instant;

use dpscope_core::accounting::{
    Accountant, AccountingError, BallsInBins, Given, Parameter, Poisson, PrivacyTarget, Query,
    Training, calibrate,
};

/// Noise multiplier σ, steps per epoch T, epochs E and δ of each query.
const SETTINGS: [(f64, u32, u32, f64); 12] = [
    (1.0, 100, 1, 1e-5),
    (0.5, 100, 1, 1e-5),
    (0.4, 1000, 1, 1e-6),
    (0.6, 10, 5, 1e-5),
    (0.8, 10, 1, 1e-8),
    (0.9, 500, 20, 1e-6),
    (0.82, 254, 30, 1e-5),
    (1.0, 1000, 10, 1e-5),
    (1.2, 1000, 10, 1e-6),
    (3.0, 10, 500, 1e-5),
    (1.0, 1000, 100, 1e-5),
    (1.0, 440, 509, 1e-5),
];

fn training(noise_multiplier: f64, steps_per_epoch: u32, epochs: u32) -> Training {
    let (steps_per_epoch, epochs) = (steps_per_epoch.into(), epochs.into());
    Training { noise_multiplier, steps_per_epoch, epochs, sampling_rate: None }
}

fn query(noise_multiplier: f64, steps: u32, epochs: u32, delta: f64, error: f64) -> Query {
    let training = training(noise_multiplier, steps, epochs);
    Query { error: Some(error), ..Query::upper(training, Given::Delta(delta)) }
}

fn main() -> Result<(), AccountingError> {
    for (noise_multiplier, steps_per_epoch, epochs, delta) in SETTINGS {
        let query = query(noise_multiplier, steps_per_epoch, epochs, delta, 1e-4);
        let mut elapsed_ms = f64::INFINITY;
        let mut bound = Poisson.account(&query)?;
        for _ in 0..5 {
            let start = Instant::now();
            bound = Poisson.account(&query)?;
            elapsed_ms = elapsed_ms.min(start.elapsed().as_secs_f64() * 1e3);
        }
        println!(
            "Poisson, noise multiplier {noise_multiplier}, {steps_per_epoch} steps, {epochs} \
             epochs, delta {delta:e}: epsilon at most {:.6}, error {:.1e}, {elapsed_ms:.1} ms",
            bound.epsilon, bound.numeric_error,
        );
    }
    for (noise_multiplier, steps_per_epoch, delta) in [
        (0.5, 100, 1e-5),
        (0.5, 1000, 1e-5),
        (0.6, 50, 1e-5),
        (0.8, 10, 1e-8),
        (0.8, 500, 1e-6),
        (1.5, 100, 1e-5),
        (1.5, 1000, 1e-5),
    ] {
        let query = query(noise_multiplier, steps_per_epoch, 1, delta, 2e-4);
        let start = Instant::now();
        let bound = BallsInBins.account(&query)?;
        println!(
            "balls in bins, noise multiplier {noise_multiplier}, {steps_per_epoch} steps, delta \
             {delta:e}: epsilon at most {:.6}, error {:.1e}, {:.0} ms",
            bound.epsilon,
            bound.numeric_error,
            start.elapsed().as_secs_f64() * 1e3,
        );
    }
    for (epsilon, steps) in [(0.1, 100_u32), (1.0, 10), (4.0, 100), (2.0, 10_000)] {
        let target = PrivacyTarget { epsilon, delta: 1e-5, error: Some(1e-4) };
        let sampling_rate = Some(1.0 / f64::from(steps.min(1000)));
        let training = Training { sampling_rate, ..training(1.0, steps, 1) };
        let start = Instant::now();
        let noise = calibrate(&Poisson, Parameter::Noise, &target, &training)?;
        println!(
            "calibration, epsilon {epsilon}, {steps} steps: noise multiplier {:.6}, {:.0} ms",
            noise.value,
            start.elapsed().as_secs_f64() * 1e3,
        );
    }
    Ok(())
}

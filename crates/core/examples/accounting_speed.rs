//! Prints values and times of the accountants: `cargo run --release --example accounting_speed`.

use std::time::Instant;

use dpscope_core::accounting::{
    AccountingError, BallsInBins, Directions, PoissonSampling, PrivacyTarget, poisson_noise,
};

/// σ, T, E, δ.
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

fn main() -> Result<(), AccountingError> {
    for (noise_multiplier, steps_per_epoch, epochs, delta) in SETTINGS {
        let training = PoissonSampling {
            noise_multiplier,
            sampling_rate: 1.0 / f64::from(steps_per_epoch),
            steps: u64::from(steps_per_epoch) * u64::from(epochs),
        };
        let mut elapsed_ms = f64::INFINITY;
        let mut bound = training.epsilon_upper(delta, Directions::Both, 1e-4)?;
        for _ in 0..5 {
            let start = Instant::now();
            bound = training.epsilon_upper(delta, Directions::Both, 1e-4)?;
            elapsed_ms = elapsed_ms.min(start.elapsed().as_secs_f64() * 1e3);
        }
        println!(
            "Poisson, noise multiplier {noise_multiplier}, {steps_per_epoch} steps, {epochs} \
             epochs, delta {delta:e}: epsilon at most {:.6}, error {:.1e}, {elapsed_ms:.1} ms",
            bound.value(),
            bound.account().numeric_error,
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
        let training = BallsInBins { noise_multiplier, steps_per_epoch, epochs: 1 };
        let start = Instant::now();
        let bound = training.epsilon_upper(delta, Directions::Both, 2e-4)?;
        println!(
            "balls in bins, noise multiplier {noise_multiplier}, {steps_per_epoch} steps, delta \
             {delta:e}: epsilon at most {:.6}, error {:.1e}, {:.0} ms",
            bound.value(),
            bound.account().numeric_error,
            start.elapsed().as_secs_f64() * 1e3,
        );
    }
    for (epsilon, steps) in [(0.1, 100_u32), (1.0, 10), (4.0, 100), (2.0, 10_000)] {
        let target = PrivacyTarget { epsilon, delta: 1e-5, error: 1e-4 };
        let start = Instant::now();
        let noise = poisson_noise(target, 1.0 / f64::from(steps.min(1000)), u64::from(steps))?;
        println!(
            "calibration, epsilon {epsilon}, {steps} steps: noise multiplier {:.6}, {:.0} ms",
            noise.value,
            start.elapsed().as_secs_f64() * 1e3,
        );
    }
    Ok(())
}

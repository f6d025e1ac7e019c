//! Prints the exact pair's ε, and how fast it is found, as JSON.
//!
//! `cargo run --release -p dpscope-simulation --example pair_speed -- --steps 100 --draws 200000`; on the
//! preferred GPU with `--features gpu` and `--device gpu`.

use dpscope_core::accounting::pair::{ExactPair, PairMethod};
use dpscope_core::accounting::{Given, Training};
use dpscope_engine::Control;
use dpscope_simulation::backend::CpuBackend;
use dpscope_simulation::{Backend, pair};
use std::error::Error;
use std::time::Instant;

/// The value after `--name`, or `default`.
fn option(name: &str, default: &str) -> String {
    let arguments: Vec<String> = std::env::args().collect();
    let at = arguments.iter().position(|a| a.trim_start_matches("--") == name);
    at.and_then(|at| arguments.get(at + 1)).map_or(default.to_owned(), Clone::clone)
}

fn backend(threads: usize, device: &str) -> Result<Backend, Box<dyn Error>> {
    let cpu = CpuBackend::new(threads)?;
    match device {
        "cpu" => Ok(Backend::Cpu(cpu)),
        #[cfg(feature = "gpu")]
        "gpu" => pollster::block_on(async {
            use dpscope_engine::{FloatMode, gpu};
            use dpscope_simulation::backend::GpuBackend;
            let adapters = gpu::adapters().await;
            let adapter = adapters.first().ok_or("there is no GPU adapter")?;
            let gpu = GpuBackend::open(adapter, FloatMode::Exact, cpu).await?;
            Ok(Backend::Gpu(Box::new(gpu)))
        }),
        other => {
            Err(format!("--device is {other}; it must be cpu, or gpu where built with it").into())
        }
    }
}

/// A clock, so that dispatches of a GPU grow; says what goes wrong.
struct Timed(Instant);

impl Control for Timed {
    fn keep_going(&self) -> bool {
        true
    }

    fn now_ms(&self) -> f64 {
        1e3 * self.0.elapsed().as_secs_f64()
    }

    fn warn(&self, message: &str) {
        eprintln!("{message}");
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let run = Training {
        noise_multiplier: option("noise-multiplier", "1").parse()?,
        steps_per_epoch: option("steps", "100").parse()?,
        epochs: 1,
        sampling_rate: None,
    };
    let given = Given::Delta(option("delta", "1e-5").parse()?);
    let exact = ExactPair {
        method: PairMethod::OneEpoch,
        draws: option("draws", "200000").parse()?,
        significance: 0.025,
    };
    let threads: usize = option("threads", "1").parse()?;
    let backend = backend(threads, &option("device", "cpu"))?;
    let control = Timed(Instant::now());
    let mut best_ms = f64::INFINITY;
    for _ in 0..option("repeats", "7").parse()? {
        let start = Instant::now();
        pair::evaluate(&exact, &run, given, 1, &backend, &control)?;
        best_ms = best_ms.min(1e3 * start.elapsed().as_secs_f64());
    }
    let seen = pair::evaluate(&exact, &run, given, 1, &backend, &control)?;
    println!(
        "{{\"program\": \"dpscope\", \"device\": \"{}\", \"noise_multiplier\": {}, \"steps\": {}, \
         \"draws\": {}, \"lower\": {:.5}, \"estimate\": {:.5}, \"standard_error\": {:.5}, \
         \"elapsed_ms\": {best_ms:.1}, \"evaluations_per_cpu_second\": {:.4e}, \"draws_per_second\": {:.4e}, \"normals_per_second\": {:.4e}}}",
        backend.device().name,
        run.noise_multiplier,
        run.steps_per_epoch,
        exact.draws,
        seen.lower.epsilon,
        seen.estimate.epsilon,
        seen.estimate.standard_error.unwrap_or(0.0),
        1e3 / best_ms / threads as f64,
        1e3 * exact.draws as f64 / best_ms,
        1e3 * exact.draws as f64 * run.steps_per_epoch as f64 / best_ms,
    );
    Ok(())
}

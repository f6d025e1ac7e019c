//! Runs of DP-SGD on a GPU beside the CPU, in turn: `cargo bench -p dpscope-train --features gpu
//! --bench runs`. `DPSCOPE_BENCH_DEVICE` is an index or part of a name; else the first GPU is
//! taken, or what there is. Software gets small batches: there the ratio says that it works, and no
//! more.

use std::error::Error;
use std::time::{Duration, Instant};

use dpscope_core::mechanism::{BatchSampler, BatchedGaussian, ThreatModel};
use dpscope_engine::gpu::{Adapter, AdapterFacts, adapters, find, preferred};
use dpscope_engine::{Control, UnitRange};
use dpscope_train::data::SyntheticData;
use dpscope_train::gpu::{WaveLimits, default_memory_bytes};
use dpscope_train::{Canary, CanaryDirection, DpSgd, ModelSpec, Training, TrainingSettings};

/// Each device's turn.
const TURN: Duration = Duration::from_secs(3);

const TURNS: usize = 3;

/// A clock that stops nothing.
struct Clock(Instant);

impl Control for Clock {
    fn keep_going(&self) -> bool {
        true
    }

    fn now_ms(&self) -> f64 {
        self.0.elapsed().as_secs_f64() * 1e3
    }

    fn warn(&self, message: &str) {
        println!("warning: {message}");
    }
}

/// Runs a second, both worlds together, over waves that begin within a turn.
struct Meter<'a> {
    trainer: &'a DpSgd,
    next: u64,
    runs: u64,
    spent: Duration,
}

impl<'a> Meter<'a> {
    fn new(trainer: &'a DpSgd) -> Self {
        Meter { trainer, next: 0, runs: 0, spent: Duration::ZERO }
    }

    fn turn(&mut self, clock: &Clock, counts: bool) -> Result<(), Box<dyn Error>> {
        let started = Instant::now();
        while started.elapsed() < TURN {
            let end = self.next + self.trainer.smallest_wave();
            let trained =
                pollster::block_on(self.trainer.train(UnitRange { first: self.next, end }, clock))?;
            self.next = trained.range.end;
            self.runs += if counts { 2 * trained.range.len() } else { 0 };
        }
        self.spent += if counts { started.elapsed() } else { Duration::ZERO };
        Ok(())
    }

    fn rate(&self) -> f64 {
        self.runs as f64 / self.spent.as_secs_f64()
    }
}

fn training(
    spec: &ModelSpec,
    data: SyntheticData,
    batch_size: u32,
) -> Result<Training, Box<dyn Error>> {
    let mechanism = BatchedGaussian {
        noise_multiplier: 1.0,
        steps_per_epoch: 10,
        epochs: 1,
        sampler: BatchSampler::Shuffle,
        threat_model: ThreatModel::PartiallyInformed,
        batch_size: Some(batch_size),
        dataset_size: None,
    };
    let settings = TrainingSettings {
        clip_norm: 1.0,
        learning_rate: 0.1,
        canary: Canary { direction: CanaryDirection::Random, is_fresh: true },
        debias_records: 0,
    };
    let examples = data.generate(10 * batch_size as usize, 0)?;
    Ok(Training::new(spec, examples, mechanism, settings, 1)?)
}

fn row(
    name: &str,
    spec: &ModelSpec,
    data: SyntheticData,
    adapter: &Adapter,
) -> Result<(), Box<dyn Error>> {
    let batch_size = if adapter.facts().hardware { 100 } else { 5 };
    let cpu = DpSgd::new(training(spec, data, batch_size)?, 0)?;
    let twin = DpSgd::new(training(spec, data, batch_size)?, 0)?;
    let limits = WaveLimits::of_memory(default_memory_bytes(adapter.facts()));
    let gpu = pollster::block_on(twin.on_device_within(adapter, limits, None, &|| true));
    let gpu = gpu.map_err(|refused| refused.error)?;
    let clock = Clock(Instant::now());
    let (mut on_gpu, mut on_cpu) = (Meter::new(&gpu), Meter::new(&cpu));
    on_gpu.turn(&clock, false)?; // waves grow
    for _ in 0..TURNS {
        on_cpu.turn(&clock, true)?;
        on_gpu.turn(&clock, true)?;
    }
    println!(
        "{name}, 10 steps of {batch_size}: {:.1} runs a second in waves of {}, {:.1} on {}, ratio {:.2}",
        on_gpu.rate(),
        2 * gpu.smallest_wave(),
        on_cpu.rate(),
        cpu.device().name,
        on_gpu.rate() / on_cpu.rate()
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let adapters = pollster::block_on(adapters());
    let facts: Vec<AdapterFacts> = adapters.iter().map(|adapter| adapter.facts().clone()).collect();
    let wanted = std::env::var("DPSCOPE_BENCH_DEVICE").ok();
    let index = match &wanted {
        Some(name) => find(&facts, name),
        None => preferred(&facts).or((!facts.is_empty()).then_some(0)),
    };
    let adapter = index.and_then(|index| adapters.get(index)).ok_or("no such device")?;
    println!("on {}", adapter.facts().device());
    row("mlp", &ModelSpec::mlp(), SyntheticData::P100Like, adapter)?;
    row("lenet", &ModelSpec::lenet(), SyntheticData::FmnistLike, adapter)?;
    if adapter.facts().hardware {
        row("cnn", &ModelSpec::cnn(), SyntheticData::CifarLike, adapter)?;
    }
    Ok(())
}

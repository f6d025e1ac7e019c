//! Metagradients per CPU-second on one thread, all states stored, 400 canaries: prints one line of
//! JSON.
//!
//! `cargo run --release -p dpscope-train --example metastep -- mlp`, or `lenet`; `clipped` after the
//! model differentiates through clipping. The MLP 446–32–30 trains with T = B = 150, LeNet with
//! T = 500, B = 100.

#[path = "../../core/examples/cpu_clock/mod.rs"]
mod cpu_clock;

use cpu_clock::CpuClock;

use dpscope_train::metagradient::{
    Checkpointing, InnerTraining, LaneDerivatives, Occurrence, Optimizer, Record, Records,
};
use dpscope_train::{LayerSpec, ModelSpec, Network, Shape};

/// Records in memory.
struct Noise {
    inputs: usize,
    values: Vec<f32>,
}

impl Noise {
    const RECORDS: usize = 3_000;

    fn new(inputs: usize) -> Self {
        let value = |at: usize| ((at / inputs * 31 + at % inputs * 17) % 97) as f32 / 97.0;
        Self { inputs, values: (0..Self::RECORDS * inputs).map(value).collect() }
    }
}

impl Records<f32> for Noise {
    fn append(&self, record: u32, examples: &mut Vec<f32>) -> u32 {
        examples.extend_from_slice(&self.values[record as usize * self.inputs..][..self.inputs]);
        record % 2
    }
}

const CANARIES: usize = 400;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let layers =
        [LayerSpec::Linear { outputs: 32 }, LayerSpec::Tanh, LayerSpec::Linear { outputs: 30 }];
    let mlp = ModelSpec { input: Shape::flat(446), layers: layers.to_vec() };
    let (spec, steps, batch_size, repeats) = match words.first().map(String::as_str) {
        Some("mlp") => (mlp, 150, 150, 20),
        Some("lenet") => (ModelSpec::lenet(), 500, 100, 1),
        _ => return Err("pass mlp or lenet".into()),
    };
    let network = Network::new(&spec)?;
    let mut turn = 0_u32;
    let initial = network.initial(|| {
        turn = turn.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(turn) / f64::from(u32::MAX)
    });
    let batch = |step: usize| {
        let record = |at: usize| match at {
            0..10 => Record::Canary(((step * 10 + at) % (CANARIES / 2)) as u32),
            _ => Record::Base(((step * batch_size + at) % Noise::RECORDS) as u32),
        };
        (0..batch_size).map(|at| Occurrence { record: record(at), augmentation: None }).collect()
    };
    let batches: Vec<Vec<_>> = (0..steps).map(batch).collect();
    let labels: Vec<u32> = (0..CANARIES as u32).map(|at| at % 2).collect();
    let weights: Vec<f64> =
        (0..CANARIES).map(|at| if at < CANARIES / 2 { 1.0 } else { -1.0 }).collect();
    let is_clipped = words.iter().any(|word| word == "clipped");
    let training = InnerTraining {
        base: &Noise::new(network.inputs()),
        labels: &labels,
        weights: &weights,
        initial: &initial,
        batches: &batches,
        learning_rates: &vec![0.05; steps],
        rule: &Optimizer::Momentum { momentum: 0.9, weight_decay: 0.0 },
        clip_norm: is_clipped.then_some(1.0),
        noise: None,
        keep_going: &|| true,
    };
    let values: Vec<f32> =
        (0..CANARIES * network.inputs()).map(|at| (at % 89) as f32 / 89.0).collect();
    let mut derivatives = LaneDerivatives::new(&network);
    let clock = CpuClock::start();
    for _ in 0..repeats {
        training.metagradient(&mut derivatives, &values, Checkpointing::StoreAll)?;
    }
    let rate = f64::from(repeats) / clock.seconds();
    println!("{{\"metagradients_per_cpu_second\": {rate}}}");
    Ok(())
}

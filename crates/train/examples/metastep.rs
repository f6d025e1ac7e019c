//! Metagradients per CPU-second on one thread, all states stored, 400 canaries: prints one line of
//! JSON.
//!
//! `cargo run --release -p dpscope-train --example metastep -- mlp`, `mlp-dense` or `lenet`;
//! `clipped` after the model differentiates through clipping. The MLP 446–32–30 trains with T = B =
//! 150, on binary records of which 12 % are 1, as in Location-30, or on dense ones. LeNet trains with
//! T = 500, B = 100, on dense records. Canaries are always dense.

#[path = "../../core/examples/cpu_clock/mod.rs"]
mod cpu_clock;

use cpu_clock::CpuClock;

use dpscope_train::metagradient::{
    Checkpointing, InnerTraining, LaneDerivatives, Occurrence, Optimizer, Record, Records,
    SparseRecords, SparseRow,
};
use dpscope_train::{LayerSpec, ModelSpec, Network, Shape};

/// Records in memory.
struct Synthetic {
    inputs: usize,
    classes: u32,
    values: Vec<f32>,
    sparse: Option<SparseRecords<f32>>,
}

impl Synthetic {
    const RECORDS: usize = 3_000;

    fn new(network: &Network, value: fn(record: usize, feature: usize, at: usize) -> f32) -> Self {
        let inputs = network.inputs();
        let value = |at: usize| value(at / inputs, at % inputs, at);
        let values = (0..Self::RECORDS * inputs).map(value).collect();
        let dense = Self { inputs, classes: network.classes() as u32, values, sparse: None };
        let sparse = SparseRecords::read(&dense, Self::RECORDS as u32);
        Self { sparse, ..dense }
    }
}

/// 1 with probability 0.12, by a hash of the index.
fn binary(_: usize, _: usize, at: usize) -> f32 {
    let mut hash = at as u32;
    hash = (hash ^ hash >> 16).wrapping_mul(0x7feb_352d);
    hash = (hash ^ hash >> 15).wrapping_mul(0x846c_a68b);
    hash ^= hash >> 16;
    if hash < 515_396_076 { 1.0 } else { 0.0 }
}

fn dense(record: usize, feature: usize, _: usize) -> f32 {
    ((record * 31 + feature * 17) % 97) as f32 / 97.0
}

impl Records<f32> for Synthetic {
    fn append(&self, record: u32, examples: &mut Vec<f32>) -> u32 {
        examples.extend_from_slice(&self.values[record as usize * self.inputs..][..self.inputs]);
        record % self.classes
    }

    fn sparse(&self, record: u32) -> Option<(SparseRow<'_, f32>, u32)> {
        self.sparse.as_ref().map(|sparse| (sparse.row(record), record % self.classes))
    }
}

const CANARIES: usize = 400;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let layers =
        [LayerSpec::Linear { outputs: 32 }, LayerSpec::Tanh, LayerSpec::Linear { outputs: 30 }];
    let mlp = ModelSpec { input: Shape::flat(446), layers: layers.to_vec() };
    let value = if words.first().is_some_and(|word| word == "mlp") { binary } else { dense };
    let (spec, steps, batch_size, repeats) = match words.first().map(String::as_str) {
        Some("mlp" | "mlp-dense") => (mlp, 150, 150, 20),
        Some("lenet") => (ModelSpec::lenet(), 500, 100, 1),
        _ => return Err("pass mlp, mlp-dense or lenet".into()),
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
            _ => Record::Base(((step * batch_size + at) % Synthetic::RECORDS) as u32),
        };
        (0..batch_size).map(|at| Occurrence { record: record(at), augmentation: None }).collect()
    };
    let batches: Vec<Vec<_>> = (0..steps).map(batch).collect();
    let labels: Vec<u32> = (0..CANARIES as u32).map(|at| at % network.classes() as u32).collect();
    let weights: Vec<f64> =
        (0..CANARIES).map(|at| if at < CANARIES / 2 { 1.0 } else { -1.0 }).collect();
    let is_clipped = words.iter().any(|word| word == "clipped");
    let training = InnerTraining {
        base: &Synthetic::new(&network, value),
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

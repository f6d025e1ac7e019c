//! Time of one metagradient on one thread: MLP 446–32–30 with T = B = 150, and LeNet with T = 500,
//! B = 100, without and with clipping; an argument
//! selects one of the models.

use std::time::Instant;

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

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let layers =
        [LayerSpec::Linear { outputs: 32 }, LayerSpec::Tanh, LayerSpec::Linear { outputs: 30 }];
    let mlp = ModelSpec { input: Shape::flat(446), layers: layers.to_vec() };
    for (name, spec, steps, batch_size, canaries) in
        [("MLP", mlp, 150, 150, 400), ("LeNet", ModelSpec::lenet(), 500, 100, 400)]
    {
        if std::env::args().nth(1).is_some_and(|only| only != name) {
            continue;
        }
        let network = Network::new(&spec)?;
        let mut turn = 0_u32;
        let initial = network.initial(|| {
            turn = turn.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(turn) / f64::from(u32::MAX)
        });
        let row = |record| Occurrence { record, augmentation: None };
        let batch = |step: usize| {
            let record = |at: usize| match at {
                0..10 => Record::Canary(((step * 10 + at) % (canaries / 2)) as u32),
                _ => Record::Base(((step * batch_size + at) % Noise::RECORDS) as u32),
            };
            (0..batch_size).map(|at| row(record(at))).collect()
        };
        let batches: Vec<Vec<_>> = (0..steps).map(batch).collect();
        let labels: Vec<u32> = (0..canaries as u32).map(|at| at % 2).collect();
        let weights: Vec<f64> =
            (0..canaries).map(|at| if at < canaries / 2 { 1.0 } else { -1.0 }).collect();
        for clip_norm in [None, Some(1.0)] {
            let training = InnerTraining {
                base: &Noise::new(network.inputs()),
                labels: &labels,
                weights: &weights,
                initial: &initial,
                batches: &batches,
                learning_rates: &vec![0.05; steps],
                rule: &Optimizer::Momentum { momentum: 0.9, weight_decay: 0.0 },
                clip_norm,
                noise: None,
                keep_going: &|| true,
            };
            let values: Vec<f32> =
                (0..canaries * network.inputs()).map(|at| (at % 89) as f32 / 89.0).collect();
            let mut derivatives = LaneDerivatives::new(&network);
            let start = Instant::now();
            training.train(&mut derivatives, &values)?;
            let forward = start.elapsed().as_secs_f64();
            let start = Instant::now();
            let found =
                training.metagradient(&mut derivatives, &values, Checkpointing::StoreAll)?;
            let whole = start.elapsed().as_secs_f64();
            println!(
                "{name}, clip norm {clip_norm:?}: training {forward:.3} s, metagradient {whole:.3} s, \
             φ {:.4}",
                found.objective
            );
        }
    }
    Ok(())
}

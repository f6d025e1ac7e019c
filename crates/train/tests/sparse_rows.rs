//! Records without their zeros yield the same bits as with them.

use dpscope_train::metagradient::{
    BatchRows, Checkpointing, Derivatives, InnerTraining, LaneDerivatives, Occurrence, Optimizer,
    Record, Records, SparseRecords, SparseRow,
};
use dpscope_train::{LayerSpec, ModelSpec, Network, Shape};

use crate::models::{self, Numbers};

const INPUTS: usize = 70;
const RECORDS: u32 = 200;

/// Binary records, stored with and without zeros.
struct Data {
    values: Vec<f32>,
    sparse: Option<SparseRecords<f32>>,
}

impl Data {
    fn new() -> Self {
        let mut numbers = Numbers::new(5);
        let mut value = |_| if numbers.uniform() < 0.15 { 1.0 } else { 0.0 };
        let values = (0..RECORDS as usize * INPUTS).map(&mut value).collect();
        Data { values, sparse: None }
    }

    fn without_zeros() -> Self {
        let data = Self::new();
        let sparse = SparseRecords::read(&data, RECORDS);
        assert!(sparse.is_some(), "most features are 0");
        Data { sparse, ..data }
    }
}

impl Records<f32> for Data {
    fn append(&self, record: u32, examples: &mut Vec<f32>) -> u32 {
        examples.extend_from_slice(&self.values[record as usize * INPUTS..][..INPUTS]);
        record % 3
    }

    fn sparse(&self, record: u32) -> Option<(SparseRow<'_, f32>, u32)> {
        self.sparse.as_ref().map(|sparse| (sparse.row(record), record % 3))
    }
}

fn network() -> Network {
    let layers =
        [LayerSpec::Linear { outputs: 20 }, LayerSpec::Tanh, LayerSpec::Linear { outputs: 3 }];
    models::network(&ModelSpec { input: Shape::flat(INPUTS), layers: layers.to_vec() })
}

fn draw(seed: u64, count: usize) -> Vec<f32> {
    let mut numbers = Numbers::new(seed);
    (0..count).map(|_| numbers.symmetric() as f32).collect()
}

/// The bits of numbers; all NaN are equal, and 0 is −0.
fn bits(values: &[f32]) -> Vec<u32> {
    let canonical = |value: f32| if value.is_nan() { f32::NAN } else { value + 0.0 };
    values.iter().map(|&value| canonical(value).to_bits()).collect()
}

/// Three canaries and the first records, `count` rows in all: dense ones, and sparse ones.
fn rows(data: &Data, count: usize) -> (Vec<f32>, Vec<SparseRow<'_, f32>>) {
    let (mut examples, mut sparse) = (draw(2, 3 * INPUTS), Vec::new());
    for record in 0..count as u32 - 3 {
        match data.sparse(record) {
            Some((row, _)) => sparse.push(row),
            None => _ = data.append(record, &mut examples),
        }
    }
    (examples, sparse)
}

/// Gradient, product and cross terms of three canaries and the first records.
fn derivatives(theta: &[f32], data: &Data, labels: &[u32]) -> [Vec<u32>; 3] {
    let network = network();
    let mut lanes = LaneDerivatives::new(&network);
    assert!(lanes.reads_sparse_rows(None) && !lanes.reads_sparse_rows(Some(1.0)));
    let (examples, sparse) = rows(data, labels.len());
    let batch = BatchRows { examples: &examples, sparse: &sparse, labels, canaries: 3 };
    let [mut gradient, mut product, mut kept_gradient, mut kept_product] =
        [0; 4].map(|_| vec![0.0; theta.len()]);
    let [mut cross, mut kept_cross] = [0; 2].map(|_| vec![0.0; 3 * INPUTS]);
    let w = draw(3, theta.len());
    lanes.gradient(theta, batch, None, &mut gradient);
    lanes.product(theta, &w, batch, None, &mut product, &mut cross);
    let found = [&gradient, &product, &cross].map(|values| bits(values));

    // What is kept of a gradient does not change its product.
    let mut kept = Vec::new();
    lanes.keeping_gradient(theta, batch, &mut kept_gradient, &mut kept);
    assert_eq!(kept.len(), labels.len() * lanes.kept_per_row());
    lanes.product_of_kept((theta, &w), batch, &kept, &mut kept_product, &mut kept_cross);
    let of_kept = [&kept_gradient, &kept_product, &kept_cross].map(|values| bits(values));
    assert_eq!(of_kept, found);
    kept[40] += 1e-3;
    lanes.product_of_kept((theta, &w), batch, &kept, &mut kept_product, &mut kept_cross);
    assert_ne!(bits(&kept_product), found[1], "the numbers that were kept are read");
    found
}

#[test]
fn derivatives_have_the_same_bits() {
    let labels: Vec<u32> = (0..143).map(|at| at % 3).collect();
    let theta = draw(1, network().parameters());
    let (dense, sparse) = (Data::new(), Data::without_zeros());
    let expected = derivatives(&theta, &dense, &labels);
    assert_eq!(derivatives(&theta, &sparse, &labels), expected);

    // Negative control: a record without one of its features.
    let mut other = Data::new();
    let first = other.values.iter_mut().find(|value| **value != 0.0);
    *first.expect("some are not 0") = 0.0;
    other.sparse = SparseRecords::read(&other, RECORDS);
    let found = derivatives(&theta, &other, &labels);
    assert!(found[0] != expected[0] && found[1] != expected[1]);
}

#[test]
fn products_of_0_and_infinity_are_nan() {
    let labels: Vec<u32> = (0..143).map(|at| at % 3).collect();
    let (dense, sparse) = (Data::new(), Data::without_zeros());
    let mut theta = draw(1, network().parameters());
    theta[30] = f32::INFINITY;
    let found = derivatives_without_kept(&theta, &sparse, &labels);
    assert_eq!(found, derivatives_without_kept(&theta, &dense, &labels));
    let nan = f32::NAN.to_bits();
    assert!(found.iter().all(|value| *value == nan), "some row has a 0 there");

    // A label that is no class makes the gradient of its row NaN, also where its features are 0.
    let mut labels = labels;
    labels[60] = 99;
    let theta = draw(1, network().parameters());
    let found = derivatives_without_kept(&theta, &sparse, &labels);
    assert_eq!(found, derivatives_without_kept(&theta, &dense, &labels));
    assert!(found[..20 * INPUTS].iter().all(|value| *value == nan));
}

fn derivatives_without_kept(theta: &[f32], data: &Data, labels: &[u32]) -> Vec<u32> {
    let network = network();
    let (examples, sparse) = rows(data, labels.len());
    let batch = BatchRows { examples: &examples, sparse: &sparse, labels, canaries: 3 };
    let mut gradient = vec![0.0; theta.len()];
    LaneDerivatives::new(&network).gradient(theta, batch, None, &mut gradient);
    bits(&gradient)
}

/// The metagradient of six canaries, and its parameters.
fn metagradient(data: &Data, optimizer: Optimizer, schedule: Checkpointing) -> [Vec<u32>; 2] {
    let network = network();
    let record = |step: u32, at: u32| match at {
        0..2 => Record::Canary((step + at) % 3),
        _ => Record::Base((step * 40 + at) % RECORDS),
    };
    let row = |record| Occurrence { record, augmentation: None };
    let batches: Vec<Vec<_>> =
        (0..12).map(|step| (0..40).map(|at| row(record(step, at))).collect()).collect();
    let training = InnerTraining {
        base: data,
        labels: &[0, 1, 2, 0, 1, 2],
        weights: &[1.0, 1.0, 1.0, -1.0, -1.0, -1.0],
        initial: &draw(4, network.parameters()),
        batches: &batches,
        learning_rates: &[0.1; 12],
        rule: &optimizer,
        clip_norm: None,
        noise: None,
        keep_going: &|| true,
    };
    let mut derivatives = LaneDerivatives::new(&network);
    let found = training.metagradient(&mut derivatives, &draw(6, 6 * INPUTS), schedule);
    let found = found.expect("the training converges");
    [bits(&found.gradient), bits(&found.parameters)]
}

#[test]
fn metagradients_have_the_same_bits_for_every_schedule() {
    let (dense, sparse) = (Data::new(), Data::without_zeros());
    let adam = Optimizer::Adam {
        beta1: 0.9,
        beta2: 0.99,
        epsilon: 1e-3,
        epsilon_root: 1e-4,
        weight_decay: 0.0,
    };
    let momentum = Optimizer::Momentum { momentum: 0.9, weight_decay: 0.01 };
    for optimizer in [Optimizer::SGD, momentum, adam] {
        let expected = metagradient(&dense, optimizer, Checkpointing::StoreAll);
        let schedules = [
            Checkpointing::StoreAll,
            Checkpointing::TwoLevel,
            Checkpointing::Revolve { states: 3 },
        ];
        for schedule in schedules {
            let found = metagradient(&sparse, optimizer, schedule);
            assert_eq!(found, expected, "{optimizer:?} {schedule:?}");
        }
    }
}

//! Gradient descent in the span of its examples, for networks that begin with a linear layer.

use super::batch::{BatchRows, Inputs};
use super::instruction_set::InstructionSet;
use super::linear::Direct;
use super::row_products::{DotProducts, Start, WeightedRows};
use super::second_order::SecondOrderWorkspace;
use crate::layers::{Layer, Linear};
use crate::model::Network;

/// Steps on the records of one client after another, each client from given parameters.
///
/// Gradients of a first linear layer, D of its outputs on the rows B of a batch, move its weights W by
/// multiples of D·X_B only, X the n rows of the client. With Z = XWᵀ + b before the first step,
/// G = XXᵀ + 1 for weights and biases, and coefficients A = 0, a step of rate r is
///
/// A_B ← A_B − r·D, Z ← Z − r·G_B·D,
///
/// and the layer ends at W + AᵀX, b + AᵀX·1. No step reads or writes the weights: beside the first
/// product and the last, a step costs n·|B| products of outputs instead of 2·|B|·inputs.
#[derive(Debug)]
pub(crate) struct RowSpace {
    set: InstructionSet,
    first: Linear,
    /// Parameters of the first layer.
    own: usize,
    /// The layers above it.
    above: SecondOrderWorkspace,
    /// Their parameters, as the steps change them.
    theta: Vec<f32>,
    gradient: Vec<f32>,
    /// Examples X, row by row.
    examples: Vec<f32>,
    labels: Vec<u32>,
    /// Products G = XXᵀ + 1 of the examples, n × n.
    products: Vec<f32>,
    /// Outputs Z of the first layer, n × outputs.
    outputs: Vec<f32>,
    /// Coefficients A, n × outputs.
    coefficients: Vec<f32>,
    batch: Batch,
}

/// What a step copies of the rows of its batch.
#[derive(Debug, Default)]
struct Batch {
    labels: Vec<u32>,
    outputs: Vec<f32>,
    products: Vec<f32>,
    slopes: Vec<f32>,
    factors: Vec<f64>,
}

impl RowSpace {
    /// None unless the network is a linear layer with others above.
    pub(crate) fn new(network: &Network) -> Option<Self> {
        let above = network.without_first()?;
        let placed = network.layers().first()?;
        let Layer::Linear(first) = placed.layer else { return None };
        Some(Self {
            set: InstructionSet::detect(),
            first,
            own: placed.parameters.end,
            theta: vec![0.0; above.parameters()],
            gradient: vec![0.0; above.parameters()],
            above: SecondOrderWorkspace::new(&above),
            examples: Vec::new(),
            labels: Vec::new(),
            products: Vec::new(),
            outputs: Vec::new(),
            coefficients: Vec::new(),
            batch: Batch::default(),
        })
    }

    /// Whether `epochs` passes over `rows` examples take fewer operations than steps on the weights.
    pub(crate) fn is_cheaper(&self, rows: usize, epochs: u32) -> bool {
        let Linear { inputs, outputs } = self.first;
        let [rows, inputs, outputs] = [rows, inputs, outputs].map(|count| count as f64);
        let epochs = f64::from(epochs);
        rows * (inputs + epochs * outputs) < 2.0 * inputs * outputs * (epochs - 1.0)
    }

    /// Starts from parameters θ; `fill` replaces examples and labels by those of the steps.
    pub(crate) fn start(&mut self, theta: &[f32], fill: impl FnOnce(&mut Vec<f32>, &mut Vec<u32>)) {
        fill(&mut self.examples, &mut self.labels);
        let (rows, Linear { inputs, outputs }) = (self.labels.len(), self.first);
        let examples = &self.examples[..];
        self.products.clear();
        self.products.resize(rows * rows, 1.0);
        let out = &mut self.products[..];
        self.set.run(DotProducts { left: examples, right: examples, terms: inputs, out });
        self.outputs.clear();
        self.outputs.resize(rows * outputs, 0.0);
        let weights = (&theta[..self.own], &[][..]);
        Direct(self.set).forward(&self.first, weights, Inputs::Dense(examples), &mut self.outputs);
        self.coefficients.clear();
        self.coefficients.resize(rows * outputs, 0.0);
        self.theta.copy_from_slice(&theta[self.own..]);
    }

    /// A step θ −= rate · Σ gradient over some of the examples, by their places.
    pub(crate) fn descend(&mut self, places: &[u32], rate: f32) {
        let (rows, outputs) = (self.labels.len(), self.first.outputs);
        let Batch { labels, outputs: values, products, slopes, factors } = &mut self.batch;
        values.clear();
        products.clear();
        labels.clear();
        for place in places.iter().map(|&place| place as usize) {
            labels.push(self.labels[place]);
            values.extend_from_slice(&self.outputs[place * outputs..][..outputs]);
            products.extend_from_slice(&self.products[place * rows..][..rows]);
        }
        factors.clear();
        factors.resize(labels.len(), -f64::from(rate));
        slopes.clear();
        slopes.resize(values.len(), 0.0);
        let batch = BatchRows { examples: values, sparse: &[], labels, canaries: 0 };
        let sums = (&mut self.gradient[..], &mut slopes[..]);
        self.above.gradient(&self.theta, batch, factors, sums, None);
        self.set.add_scaled(1.0, &self.gradient, &mut self.theta);
        for (&place, slopes) in places.iter().zip(slopes.chunks_exact(outputs)) {
            let own = &mut self.coefficients[place as usize * outputs..][..outputs];
            own.iter_mut().zip(slopes).for_each(|(own, slope)| *own += slope);
        }
        let (factors, steps, out) = (&products[..], [1, rows], &mut self.outputs[..]);
        let (rows, length, start) = (&slopes[..], outputs, Start::Out);
        self.set.run(WeightedRows { factors, steps, rows, length, start, out });
    }

    /// How far the steps have moved from θ.
    pub(crate) fn change(&self, theta: &[f32], change: &mut [f32]) {
        let Linear { inputs, outputs } = self.first;
        change.fill(0.0);
        let (weights, rest) = change.split_at_mut(inputs * outputs);
        let (biases, above) = rest.split_at_mut(outputs);
        let (factors, steps) = (&self.coefficients[..], [1, outputs]);
        let (rows, length) = (&self.examples[..], inputs);
        let (start, out) = (Start::Out, weights);
        self.set.run(WeightedRows { factors, steps, rows, length, start, out });
        for row in self.coefficients.chunks_exact(outputs) {
            biases.iter_mut().zip(row).for_each(|(bias, coefficient)| *bias += coefficient);
        }
        let ends = self.theta.iter().zip(&theta[self.own..]);
        above.iter_mut().zip(ends).for_each(|(change, (after, before))| *change = after - before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LayerSpec, ModelSpec, Shape};

    fn network(layers: &[LayerSpec]) -> Network {
        let spec = ModelSpec { input: Shape::flat(23), layers: layers.to_vec() };
        Network::new(&spec).unwrap()
    }

    fn values(count: usize, seed: usize) -> Vec<f32> {
        (0..count).map(|at| ((at * 37 + seed * 11) % 101) as f32 / 50.0 - 1.0).collect()
    }

    /// Largest distance between the changes of both routes after some steps, and the largest change; the
    /// first batches are those of the span, the others those of steps on the weights.
    fn distance(layers: &[LayerSpec], records: usize, [own, others]: [&[&[u32]]; 2]) -> [f32; 2] {
        let network = network(layers);
        let theta = values(network.parameters(), 1);
        let examples = values(23 * records, 2);
        let labels: Vec<u32> = (0..records as u32).map(|place| place % 3).collect();
        let rate = |batch: &[u32]| 0.3 / batch.len() as f32;
        let mut row_space = RowSpace::new(&network).unwrap();
        let mut direct = SecondOrderWorkspace::new(&network);
        let mut change = vec![f32::NAN; theta.len()];
        let mut found = [0.0; 2];
        // a client before leaves nothing behind
        for epochs in [1, 3] {
            row_space.start(&theta, |to, of| (*to, *of) = (examples.clone(), labels.clone()));
            for batch in own.iter().cycle().take(epochs * own.len()) {
                row_space.descend(batch, rate(batch));
            }
            row_space.change(&theta, &mut change);
            let (mut moved, mut scratch) = (theta.clone(), theta.clone());
            for batch in others.iter().cycle().take(epochs * others.len()) {
                let row = |&place: &u32| examples[23 * place as usize..][..23].to_vec();
                let rows: Vec<f32> = batch.iter().flat_map(row).collect();
                let of: Vec<u32> = batch.iter().map(|&place| labels[place as usize]).collect();
                direct.descend(&mut moved, (&rows, &of), rate(batch), &mut scratch);
            }
            let ends = moved.iter().zip(&theta);
            let expected: Vec<f32> = ends.map(|(after, before)| after - before).collect();
            let away = change.iter().zip(&expected).map(|(a, b)| (a - b).abs());
            let most = expected.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
            found = [away.fold(0.0, f32::max), most];
        }
        found
    }

    #[test]
    fn steps_equal_those_on_the_weights() {
        let linear = |outputs| LayerSpec::Linear { outputs };
        let nets: [&[LayerSpec]; 3] = [
            &[linear(7), LayerSpec::Relu, linear(3)],
            &[linear(40), LayerSpec::Tanh, linear(5), LayerSpec::Relu, linear(3)],
            &[linear(1), linear(3)],
        ];
        let all: Vec<u32> = (0..90).collect();
        let (ten, parts): (&[&[u32]], &[&[u32]]) = (&[&all[..10]], &[&[8, 1, 4], &[0, 7], &[1]]);
        for layers in nets {
            for (records, batches) in [(10, ten), (1, &[&[0]]), (90, &[&all]), (9, parts)] {
                let [away, most] = distance(layers, records, [batches; 2]);
                assert!(most > 0.01 && away < 2e-5 * (1.0 + most), "{away} of {most}");
            }
        }
        // mutant: one record of a batch is another
        let [away, most] = distance(nets[0], 9, [&[&[8, 1, 5], &[0, 7], &[1]], parts]);
        assert!(away > 1e-3 * (1.0 + most), "{away} of {most}");
    }

    #[test]
    fn few_records_and_many_passes_are_cheaper() {
        let linear = |outputs| LayerSpec::Linear { outputs };
        let of = |layers: &[LayerSpec]| RowSpace::new(&network(layers));
        let row_space = of(&[linear(7), LayerSpec::Relu, linear(3)]).unwrap();
        assert!(row_space.is_cheaper(10, 5) && !row_space.is_cheaper(10, 1));
        assert!(!row_space.is_cheaper(1_000, 5));
        assert!(of(&[linear(3)]).is_none());
        assert!(of(&[LayerSpec::Relu, linear(3)]).is_none());
    }
}

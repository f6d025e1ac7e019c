//! Compares derivatives in vector instructions with the reference.

#[cfg(test)]
mod models;

use dpscope_train::metagradient::{BatchRows, Derivatives, LaneDerivatives, ReferenceDerivatives};
use dpscope_train::{ModelSpec, Network};
use models::{Numbers, every_layer};

/// A batch with parameters, a direction and weights of losses.
struct Case {
    network: Network,
    theta: Vec<f32>,
    direction: Vec<f32>,
    examples: Vec<f32>,
    labels: Vec<u32>,
    weights: Vec<f64>,
}

impl Case {
    fn new(spec: &ModelSpec, rows: usize) -> Self {
        let network = models::network(spec);
        let mut numbers = Numbers::new(11);
        let theta = network.initial(|| numbers.uniform());
        let mut draw = |count: usize| (0..count).map(|_| numbers.symmetric() as f32).collect();
        let direction: Vec<f32> = draw(network.parameters());
        let examples: Vec<f32> = draw(rows * network.inputs());
        let labels = (0..rows).map(|row| (row % network.classes()) as u32).collect();
        let weights = (0..rows).map(|row| if row % 2 == 0 { 1.0 } else { -0.5 }).collect();
        Self { theta, direction, examples, labels, weights, network }
    }

    /// Gradient, product, cross terms, and gradients of the objective.
    fn all<D: Derivatives<Number = N>, N: Copy + Into<f64>>(
        &self,
        derivatives: &mut D,
        number: fn(f32) -> N,
        clip_norm: Option<f64>,
    ) -> [Vec<f64>; 5] {
        let numbers =
            |values: &[f32]| values.iter().map(|&value| number(value)).collect::<Vec<_>>();
        let (theta, direction) = (numbers(&self.theta), numbers(&self.direction));
        let (examples, inputs) = (numbers(&self.examples), self.network.inputs());
        let canaries = self.labels.len() / 2;
        let batch = BatchRows { examples: &examples, labels: &self.labels, canaries };
        let zeros = |count: usize| vec![number(0.0); count];
        let mut out = [0; 3].map(|_| zeros(theta.len()));
        let [mut cross, mut direct] = [zeros(canaries * inputs), zeros(examples.len())];
        let [gradient, product, objective] = &mut out;
        derivatives.gradient(&theta, batch, clip_norm, gradient);
        derivatives.product(&theta, &direction, batch, clip_norm, product, &mut cross);
        derivatives.objective(&theta, batch, &self.weights, objective, &mut direct);
        let [gradient, product, objective] = out;
        let widened = |values: Vec<N>| values.into_iter().map(Into::into).collect();
        [gradient, product, cross, objective, direct].map(widened)
    }
}

fn norm(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum::<f64>().sqrt()
}

#[test]
fn lanes_equal_the_reference() {
    let names = ["gradient", "product", "cross", "objective", "direct"];
    for (name, spec) in every_layer() {
        for (rows, clip_norm) in [(1, None), (16, None), (37, None), (5, Some(0.3))] {
            let case = Case::new(&spec, rows);
            let mut reference = ReferenceDerivatives::new(&case.network);
            let mut lanes = LaneDerivatives::new(&case.network);
            let expected = case.all(&mut reference, f64::from, clip_norm);
            let seen = case.all(&mut lanes, |value| value, clip_norm);
            for ((expected, seen), what) in expected.iter().zip(&seen).zip(names) {
                let difference = norm(expected.iter().zip(seen).map(|(left, right)| left - right));
                let size = norm(expected.iter().copied());
                let what = format!("{name}, {rows} rows, {what}: {difference:e} of {size:e}");
                assert!(difference <= 1e-5 * size, "{what}");
            }
            // The comparison rejects a direction that is off by 1e-4.
            let mut other = Case::new(&spec, rows);
            other.direction.iter_mut().step_by(2).for_each(|value| *value *= 1.0001);
            let other = other.all(&mut reference, f64::from, clip_norm);
            let difference =
                norm(expected[1].iter().zip(&other[1]).map(|(left, right)| left - right));
            assert!(difference > 1e-5 * norm(expected[1].iter().copied()), "{name}");
        }
    }
}

#[test]
fn invalid_labels_yield_nan() {
    let (_, spec) = every_layer().swap_remove(1);
    let case = Case { labels: vec![99; 3], ..Case::new(&spec, 3) };
    let mut lanes = LaneDerivatives::new(&case.network);
    assert!(case.all_gradient(&mut lanes).iter().any(|value| value.is_nan()));
}

impl Case {
    fn all_gradient(&self, derivatives: &mut LaneDerivatives) -> Vec<f32> {
        let mut out = vec![0.0; self.theta.len()];
        let batch = BatchRows { examples: &self.examples, labels: &self.labels, canaries: 0 };
        derivatives.gradient(&self.theta, batch, None, &mut out);
        out
    }
}

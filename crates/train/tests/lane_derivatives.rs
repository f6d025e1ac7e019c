//! Compares derivatives in vector instructions with the reference.

use dpscope_train::metagradient::{BatchRows, Derivatives, LaneDerivatives, ReferenceDerivatives};
use dpscope_train::{ModelSpec, Network};

use crate::models::{self, Numbers, every_layer};

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
        let batch = BatchRows { examples: &examples, sparse: &[], labels: &self.labels, canaries };
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
        for (rows, clip_norm) in
            [(1, None), (16, None), (37, None), (5, Some(0.3)), (37, Some(1.5))]
        {
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

/// Σ_b min(1, C ÷ ‖g_b‖)·H_b·w, where C is between the middle norms; and C.
fn without_projection(case: &Case) -> (Vec<f64>, f64) {
    let (theta, inputs) = (case.theta.iter().map(|&value| f64::from(value)), case.network.inputs());
    let theta: Vec<f64> = theta.collect();
    let direction: Vec<f64> = case.direction.iter().map(|&value| f64::from(value)).collect();
    let examples: Vec<f64> = case.examples.iter().map(|&value| f64::from(value)).collect();
    let mut reference = ReferenceDerivatives::new(&case.network);
    let rows: Vec<_> = examples
        .chunks(inputs)
        .zip(case.labels.chunks(1))
        .map(|(examples, labels)| {
            let row = BatchRows { examples, sparse: &[], labels, canaries: 0 };
            let (mut gradient, mut product) = (theta.clone(), theta.clone());
            reference.gradient(&theta, row, None, &mut gradient);
            reference.product(&theta, &direction, row, None, &mut product, &mut []);
            (norm(gradient.into_iter()), product)
        })
        .collect();
    let mut norms: Vec<f64> = rows.iter().map(|(norm, _)| *norm).collect();
    norms.sort_by(f64::total_cmp);
    // Not at a norm, where the derivative jumps.
    let clip_norm = f64::midpoint(norms[norms.len() / 2 - 1], norms[norms.len() / 2]);
    let mut sum = vec![0.0; theta.len()];
    for (norm, product) in rows {
        let factor = (clip_norm / norm).min(1.0);
        sum.iter_mut().zip(product).for_each(|(sum, value)| *sum += factor * value);
    }
    (sum, clip_norm)
}

#[test]
fn the_derivative_of_clipping_is_a_projection() {
    for (name, spec) in every_layer() {
        let case = Case::new(&spec, 37);
        // Half of the rows are clipped.
        let (broken, clip_norm) = without_projection(&case);
        let mut reference = ReferenceDerivatives::new(&case.network);
        let [_, expected, ..] = case.all(&mut reference, f64::from, Some(clip_norm));
        let mut lanes = LaneDerivatives::new(&case.network);
        let [_, seen, ..] = case.all(&mut lanes, |value| value, Some(clip_norm));
        let distance = |values: &[f64]| {
            let pairs = values.iter().zip(&expected);
            norm(pairs.map(|(left, right)| left - right)) / norm(expected.iter().copied())
        };
        // Rounding, and the lanes clip to (1 − 2⁻¹⁸)·C.
        assert!(distance(&seen) < 2e-5, "{name}: {:e}", distance(&seen));
        assert!(distance(&broken) > 1e-3, "{name}: {:e}", distance(&broken));
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
        let batch =
            BatchRows { examples: &self.examples, sparse: &[], labels: &self.labels, canaries: 0 };
        derivatives.gradient(&self.theta, batch, None, &mut out);
        out
    }
}

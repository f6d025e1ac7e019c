//! Layers of small networks, one network per lane, and their training by Adam.

use crate::lanes::{LANES, Lanes, logistic, tanh, vector_fn};

/// Learning rate of Adam.
const LEARNING_RATE: f64 = 1e-4;

/// A dense layer: y = W x + b, with its gradient and the state of Adam.
///
/// Parameters: W, row-major with a row per output, then b.
#[derive(Debug, Clone)]
pub(crate) struct Dense {
    inputs: usize,
    outputs: usize,
    pub(crate) parameters: Vec<Lanes>,
    gradient: Vec<Lanes>,
    means: Vec<Lanes>,
    squares: Vec<Lanes>,
    /// 0.9^t and 0.999^t after t steps.
    powers: [f64; 2],
}

impl Dense {
    /// Xavier uniform weights, ±√(6/(inputs + outputs)), and b = 0.
    ///
    /// `uniforms` yields numbers of (−1, 1), one per lane.
    pub(crate) fn new(inputs: usize, outputs: usize, mut uniforms: impl FnMut() -> Lanes) -> Self {
        let limit = (6.0 / (inputs + outputs) as f64).sqrt();
        let weights = (0..inputs * outputs).map(|_| uniforms().map(|u| u * limit));
        let biases = std::iter::repeat_n(Lanes::ZERO, outputs);
        let parameters: Vec<Lanes> = weights.chain(biases).collect();
        let zeros = vec![Lanes::ZERO; parameters.len()];
        Dense {
            inputs,
            outputs,
            parameters,
            gradient: zeros.clone(),
            means: zeros.clone(),
            squares: zeros,
            powers: [1.0; 2],
        }
    }

    pub(crate) fn inputs(&self) -> usize {
        self.inputs
    }

    pub(crate) fn outputs(&self) -> usize {
        self.outputs
    }

    /// y = W x + b for each row.
    pub(crate) fn forward(&self, x: &[Lanes], y: &mut [Lanes]) {
        let (weights, biases) = self.parameters.split_at(self.inputs * self.outputs);
        products(weights, biases, self.inputs, x, y);
    }

    /// The first output of one lane for one row.
    pub(crate) fn logit(&self, lane: usize, x: &[f64]) -> f64 {
        let bias = self.parameters.get(self.inputs * self.outputs).map_or(0.0, |bias| bias.0[lane]);
        x.iter().zip(&self.parameters).fold(bias, |sum, (x, weight)| sum + x * weight.0[lane])
    }

    /// Adds the gradient of rows with derivatives `changes` of the loss by y.
    pub(crate) fn add_gradient(&mut self, x: &[Lanes], changes: &[Lanes]) {
        outer_products(x, changes, self.inputs, self.outputs, &mut self.gradient);
    }

    /// Derivatives of the loss by x.
    pub(crate) fn backward(&self, changes: &[Lanes], out: &mut [Lanes]) {
        transposed_products(&self.parameters, changes, self.inputs, self.outputs, out);
    }

    /// One step of Adam, and a zero gradient.
    pub(crate) fn step(&mut self) {
        self.powers = [self.powers[0] * 0.9, self.powers[1] * 0.999];
        let rates = [1.0 / (1.0 - self.powers[0]), 1.0 / (1.0 - self.powers[1])];
        adam(rates, &mut self.gradient, &mut self.means, &mut self.squares, &mut self.parameters);
    }

    /// Copies the parameters of one lane.
    pub(crate) fn copy_lane(&mut self, lane: usize, from: &Dense) {
        for (to, from) in self.parameters.iter_mut().zip(&from.parameters) {
            to.0[lane] = from.0[lane];
        }
    }
}

/// Rows whose products are formed together, so that a weight is loaded once for all of them.
const TOGETHER: usize = 4;

vector_fn! {
    fn products(weights: &[Lanes], biases: &[Lanes], inputs: usize, x: &[Lanes], y: &mut [Lanes]) {
        let outputs = biases.len();
        let blocks = x.chunks(TOGETHER * inputs).zip(y.chunks_mut(TOGETHER * outputs));
        for (x, y) in blocks {
            if x.len() == TOGETHER * inputs {
                products_of_rows::<TOGETHER>(weights, biases, x, y);
                continue;
            }
            for (x, y) in x.chunks_exact(inputs).zip(y.chunks_exact_mut(outputs)) {
                products_of_rows::<1>(weights, biases, x, y);
            }
        }
    }
}

#[inline(always)]
fn products_of_rows<const ROWS: usize>(
    weights: &[Lanes],
    biases: &[Lanes],
    x: &[Lanes],
    y: &mut [Lanes],
) {
    let (inputs, outputs) = (x.len() / ROWS, biases.len());
    let rows: [&[Lanes]; ROWS] = std::array::from_fn(|row| &x[row * inputs..][..inputs]);
    for (output, (weights, bias)) in weights.chunks_exact(inputs).zip(biases).enumerate() {
        let mut sums = [*bias; ROWS];
        for (input, weight) in weights.iter().enumerate() {
            for (sum, x) in sums.iter_mut().zip(&rows) {
                *sum = sum.plus_product(*weight, x[input]);
            }
        }
        for (row, sum) in sums.into_iter().enumerate() {
            y[row * outputs + output] = sum;
        }
    }
}

vector_fn! {
    fn outer_products(
        x: &[Lanes],
        changes: &[Lanes],
        inputs: usize,
        outputs: usize,
        gradient: &mut [Lanes],
    ) {
        let (weights, biases) = gradient.split_at_mut(inputs * outputs);
        let blocks = x.chunks(TOGETHER * inputs).zip(changes.chunks(TOGETHER * outputs));
        for (x, changes) in blocks {
            if x.len() == TOGETHER * inputs {
                outer_products_of_rows::<TOGETHER>(x, changes, weights, biases);
                continue;
            }
            for (x, changes) in x.chunks_exact(inputs).zip(changes.chunks_exact(outputs)) {
                outer_products_of_rows::<1>(x, changes, weights, biases);
            }
        }
    }
}

#[inline(always)]
fn outer_products_of_rows<const ROWS: usize>(
    x: &[Lanes],
    changes: &[Lanes],
    weights: &mut [Lanes],
    biases: &mut [Lanes],
) {
    let (inputs, outputs) = (x.len() / ROWS, biases.len());
    let rows: [&[Lanes]; ROWS] = std::array::from_fn(|row| &x[row * inputs..][..inputs]);
    let gradients = weights.chunks_exact_mut(inputs).zip(biases).enumerate();
    for (output, (weights, bias)) in gradients {
        let changes: [Lanes; ROWS] = std::array::from_fn(|row| changes[row * outputs + output]);
        for change in changes {
            *bias = bias.zip(change, |sum, change| sum + change);
        }
        for (input, weight) in weights.iter_mut().enumerate() {
            let mut sum = *weight;
            for (x, change) in rows.iter().zip(changes) {
                sum = sum.plus_product(x[input], change);
            }
            *weight = sum;
        }
    }
}

vector_fn! {
    fn transposed_products(
        weights: &[Lanes],
        changes: &[Lanes],
        inputs: usize,
        outputs: usize,
        out: &mut [Lanes],
    ) {
        let blocks = changes.chunks(TOGETHER * outputs).zip(out.chunks_mut(TOGETHER * inputs));
        for (changes, out) in blocks {
            if out.len() == TOGETHER * inputs {
                transposed_products_of_rows::<TOGETHER>(weights, changes, inputs, out);
                continue;
            }
            for (changes, out) in changes.chunks_exact(outputs).zip(out.chunks_exact_mut(inputs)) {
                transposed_products_of_rows::<1>(weights, changes, inputs, out);
            }
        }
    }
}

#[inline(always)]
fn transposed_products_of_rows<const ROWS: usize>(
    weights: &[Lanes],
    changes: &[Lanes],
    inputs: usize,
    out: &mut [Lanes],
) {
    let outputs = changes.len() / ROWS;
    let rows: [&[Lanes]; ROWS] = std::array::from_fn(|row| &changes[row * outputs..][..outputs]);
    for input in 0..inputs {
        let mut sums = [Lanes::ZERO; ROWS];
        for output in 0..outputs {
            let weight = weights[output * inputs + input];
            for (sum, changes) in sums.iter_mut().zip(&rows) {
                *sum = sum.plus_product(weight, changes[output]);
            }
        }
        for (row, sum) in sums.into_iter().enumerate() {
            out[row * inputs + input] = sum;
        }
    }
}

vector_fn! {
    fn adam(
        rates: [f64; 2],
        gradient: &mut [Lanes],
        means: &mut [Lanes],
        squares: &mut [Lanes],
        parameters: &mut [Lanes],
    ) {
        let state = gradient.iter_mut().zip(means).zip(squares).zip(parameters);
        for (((gradient, mean), square), parameter) in state {
            for lane in 0..LANES {
                let g = gradient.0[lane];
                let m = 0.9 * mean.0[lane] + 0.1 * g;
                let v = 0.999 * square.0[lane] + 0.001 * (g * g);
                (mean.0[lane], square.0[lane], gradient.0[lane]) = (m, v, 0.0);
                let size = (v * rates[1]).sqrt() + 1e-8;
                parameter.0[lane] -= LEARNING_RATE * (m * rates[0]) / size;
            }
        }
    }
}

vector_fn! {
    /// tanh of each value.
    fn apply_tanh(values: &mut [Lanes]) {
        for value in values {
            *value = value.map(tanh);
        }
    }
}

vector_fn! {
    /// Multiplies by the derivative 1 − y² of y = tanh.
    fn through_tanh(y: &[Lanes], changes: &mut [Lanes]) {
        for (y, change) in y.iter().zip(changes) {
            *change = change.zip(*y, |change, y| change * (1.0 - y * y));
        }
    }
}

vector_fn! {
    /// The larger of each value and 0.
    fn apply_relu(values: &mut [Lanes]) {
        for value in values {
            *value = value.map(|x| if x > 0.0 { x } else { 0.0 });
        }
    }
}

vector_fn! {
    /// Multiplies by the derivative of y = max(x, 0).
    fn through_relu(y: &[Lanes], changes: &mut [Lanes]) {
        for (y, change) in y.iter().zip(changes) {
            *change = change.zip(*y, |change, y| if y > 0.0 { change } else { 0.0 });
        }
    }
}

vector_fn! {
    /// Derivatives of the mean cross-entropy by the logits: weight·(1/(1 + e^−x) − label).
    fn cross_entropy(logits: &[Lanes], labels: &[Lanes], weight: Lanes, changes: &mut [Lanes]) {
        for ((logit, label), change) in logits.iter().zip(labels).zip(changes) {
            let residual = logit.zip(*label, |logit, label| logistic(logit) - label);
            *change = residual.zip(weight, |residual, weight| residual * weight);
        }
    }
}

/// Two layers, and the outputs of the last rows that passed.
#[derive(Debug, Clone)]
pub(crate) struct TwoLayers {
    pub(crate) first: Dense,
    pub(crate) second: Dense,
    hidden: Vec<Lanes>,
    hidden_changes: Vec<Lanes>,
}

impl TwoLayers {
    pub(crate) fn new(sizes: [usize; 3], mut uniforms: impl FnMut() -> Lanes) -> Self {
        TwoLayers {
            first: Dense::new(sizes[0], sizes[1], &mut uniforms),
            second: Dense::new(sizes[1], sizes[2], &mut uniforms),
            hidden: Vec::new(),
            hidden_changes: Vec::new(),
        }
    }

    /// tanh(W₂ tanh(W₁ z + b₁) + b₂): a generator.
    pub(crate) fn generate(&mut self, z: &[Lanes], x: &mut [Lanes]) {
        self.fit(z.len() / self.first.inputs());
        self.first.forward(z, &mut self.hidden);
        apply_tanh(&mut self.hidden);
        self.second.forward(&self.hidden, x);
        apply_tanh(x);
    }

    /// A step of a generator, from derivatives of the loss by its outputs `x`.
    pub(crate) fn step_generator(&mut self, z: &[Lanes], x: &[Lanes], changes: &mut [Lanes]) {
        through_tanh(x, changes);
        self.second.add_gradient(&self.hidden, changes);
        self.second.backward(changes, &mut self.hidden_changes);
        through_tanh(&self.hidden, &mut self.hidden_changes);
        self.first.add_gradient(z, &self.hidden_changes);
        self.first.step();
        self.second.step();
    }

    /// Logits w₂·max(W₁ x + b₁, 0) + b₂: a student.
    pub(crate) fn logits(&mut self, x: &[Lanes], logits: &mut [Lanes]) {
        self.fit(logits.len());
        self.first.forward(x, &mut self.hidden);
        apply_relu(&mut self.hidden);
        self.second.forward(&self.hidden, logits);
    }

    /// A step of a student, from derivatives of the loss by its logits.
    pub(crate) fn step_student(&mut self, x: &[Lanes], changes: &[Lanes]) {
        self.second.add_gradient(&self.hidden, changes);
        self.hidden_changes_of_student(changes);
        self.first.add_gradient(x, &self.hidden_changes);
        self.first.step();
        self.second.step();
    }

    /// Derivatives of the loss by the inputs of a student.
    pub(crate) fn input_changes(&mut self, changes: &[Lanes], out: &mut [Lanes]) {
        self.hidden_changes_of_student(changes);
        self.first.backward(&self.hidden_changes, out);
    }

    fn hidden_changes_of_student(&mut self, changes: &[Lanes]) {
        self.second.backward(changes, &mut self.hidden_changes);
        through_relu(&self.hidden, &mut self.hidden_changes);
    }

    fn fit(&mut self, rows: usize) {
        self.hidden.resize(rows * self.first.outputs(), Lanes::ZERO);
        self.hidden_changes.resize(self.hidden.len(), Lanes::ZERO);
    }
}

//! Derivatives on the simulator agree with f64, and wrong tangents do not.

use dpscope_shaders::train::Numbers as KernelNumbers;
use dpscope_train::gpu::plan::DerivativePlan;
use dpscope_train::metagradient::{BatchRows, Derivatives, ReferenceDerivatives, rounding};
use dpscope_train::{ModelSpec, Network};

use super::memory::SharedMemory;
use super::{ROWS, SUMS, THETA, simulate_models};
use crate::models::{Numbers, every_layer};

/// A batch with parameters and a direction.
struct BatchCase {
    network: Network,
    theta: Vec<f32>,
    w: Vec<f32>,
    examples: Vec<f32>,
    labels: Vec<u32>,
}

impl BatchCase {
    fn new(spec: &ModelSpec) -> Self {
        let network = Network::new(spec).unwrap();
        let mut numbers = Numbers::new(3);
        let theta = network.initial(|| numbers.uniform());
        let mut draw =
            |count: usize| -> Vec<f32> { (0..count).map(|_| numbers.symmetric() as f32).collect() };
        let (w, examples) = (draw(theta.len()), draw(3 * network.inputs()));
        let labels = (0..3).map(|row| row % network.classes() as u32).collect();
        Self { network, theta, w, examples, labels }
    }

    /// Gradient, product with the Hessian and cross terms in f64.
    fn expected(&self) -> [Vec<f64>; 3] {
        let wide = |values: &[f32]| values.iter().map(|&x| x.into()).collect::<Vec<f64>>();
        let (theta, w, examples) = (wide(&self.theta), wide(&self.w), wide(&self.examples));
        let batch =
            BatchRows { examples: &examples, sparse: &[], labels: &self.labels, canaries: 3 };
        let mut expected = [theta.len(), theta.len(), examples.len()].map(|count| vec![0.0; count]);
        let [gradient, product, cross] = &mut expected;
        let mut reference = ReferenceDerivatives::new(&self.network);
        reference.gradient(&theta, batch, None, gradient);
        reference.product(&theta, &w, batch, None, product, cross);
        expected
    }

    /// The sums of two passes on two rows and one, and the gradients with respect to examples, on
    /// such numbers and from edited sources.
    fn simulated(
        &self,
        numbers: KernelNumbers,
        edit: &dyn Fn(String) -> String,
    ) -> Result<[Vec<f32>; 2], String> {
        let inputs = self.network.inputs();
        let plan = DerivativePlan::new(&self.network, 2, numbers).unwrap();
        let words = plan.buffer_words();
        let names = ["values", "theta", "sums", "canary", "data", "rows", "outputs"];
        let mut memory = vec![SharedMemory::default()];
        memory.extend(
            names.iter().zip(words).map(|(n, words)| SharedMemory::uninitialized(n, words)),
        );
        let (first, factors) = plan.factors();
        memory[1].fill_from(first, &factors);
        memory[THETA] = SharedMemory::filled("theta", &plan.numbers(&self.theta, Some(&self.w)));
        let mut cross = Vec::new();
        for (pass, labels) in self.labels.chunks(2).enumerate() {
            let examples = &self.examples[2 * pass * inputs..][..labels.len() * inputs];
            let [data, selected] = plan.rows_of_batch(examples, labels);
            memory[5] = SharedMemory::uninitialized("data", words[4]);
            memory[5].fill_from(0, &data);
            memory[ROWS] = SharedMemory::filled("rows", &selected);
            let params = plan.pass_params(pass == 0);
            for kernel in plan.kernels() {
                simulate_models(kernel, &edit(kernel.source()), &params, &mut memory, 1)?;
            }
            if numbers == KernelNumbers::Dual {
                let place = plan.input_gradients(labels.len());
                cross.extend(plan.last_words(&memory[1].words()[place]));
            }
        }
        Ok([plan.last_words(memory[SUMS].words()).collect(), cross])
    }
}

/// ‖found − expected‖ ÷ ‖expected‖.
fn relative_distance(found: &[f32], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let square = |(a, b): (&f32, &f64)| (f64::from(*a) - b) * (f64::from(*a) - b);
    let size: f64 = expected.iter().map(|x| x * x).sum();
    (found.iter().zip(expected).map(square).sum::<f64>() / size).sqrt()
}

#[test]
fn simulated_derivatives_equal_those_of_f64() {
    let mut closest = f64::INFINITY;
    for (name, spec) in every_layer() {
        let case = BatchCase::new(&spec);
        let [gradient, product, cross] = case.expected();
        let simulated = |numbers| {
            let found = case.simulated(numbers, &|source| source);
            found.unwrap_or_else(|problem| panic!("{name}: {problem}"))
        };
        let [sums, _] = simulated(KernelNumbers::Value);
        let [tangents, input_tangents] = simulated(KernelNumbers::Dual);
        let tolerance = rounding(&case.network, 3);
        for (found, expected) in [(sums, gradient), (tangents, product), (input_tangents, cross)] {
            let distance = relative_distance(&found, &expected);
            assert!(distance <= tolerance, "{name}: {distance:e}, more than {tolerance:e}");
            closest = closest.min(tolerance / distance.max(1e-12));
        }
    }
    assert!(closest < 1e3, "the tolerance is {closest} times every distance");
}

#[test]
fn wrong_derivatives_are_rejected() {
    let models = every_layer();
    let [mlp, lenet, smooth, normed] = [1, 3, 10, 12].map(|model| &models[model].1);
    // the last two: a relative error of 1e-4, and sums that forget earlier passes
    for (spec, from, to) in [
        (lenet, "a.y * b.x + a.x * b.y", "a.y * b.x - a.x * b.y"),
        (mlp, "a.y * b.primal + a.x * b.tangent", "a.y * b.primal - a.x * b.tangent"),
        (lenet, "lifted(x, y, 1.0 - y * y)", "lifted(x, y, y * y - 1.0)"),
        (mlp, "lifted(x, y, -y * y)", "lifted(x, y, y * y)"),
        (mlp, "lifted(x, y, y)", "lifted(x, y, -y)"),
        (smooth, "density * (2.0 - x * x)", "density * (1.0 - x * x)"),
        (smooth, "s * (1.0 - s)", "-s * (1.0 - s)"),
        (normed, "-0.5 * inverse", "0.5 * inverse"),
        (mlp, "a.y * b.primal + a.x * b.tangent", "a.y * b.primal + a.x * b.tangent * 0.9999"),
        (lenet, "params.is_first_pass == 1u", "params.is_first_pass < 2u"),
    ] {
        let case = BatchCase::new(spec);
        let [_, product, _] = case.expected();
        let edit = |source: String| source.replace(from, to);
        let [found, _] = case.simulated(KernelNumbers::Dual, &edit).unwrap();
        let tolerance = rounding(&case.network, 3);
        assert!(!(relative_distance(&found, &product) <= tolerance), "{from} -> {to}");
    }
}

//! Compares reference gradients with finite differences of the loss.

use dpscope_core::math::powi;
use dpscope_train::{Arithmetic, Dual, ModelSpec, Network, Scalar};

use crate::models::{self, Numbers, every_layer};

/// A network with parameters, an example and a direction, all in f64.
struct Case {
    network: Network,
    theta: Vec<f64>,
    example: Vec<f64>,
    direction: Vec<f64>,
    label: usize,
}

impl Case {
    fn new(spec: &ModelSpec) -> Case {
        let network = models::network(spec);
        let mut numbers = Numbers::new(7);
        let theta = network.initial(|| numbers.uniform());
        let theta = theta.iter().map(|&value| f64::from(value)).collect();
        let mut draw = |count: usize| (0..count).map(|_| numbers.symmetric()).collect::<Vec<f64>>();
        let example = draw(network.inputs());
        let direction = draw(network.parameters());
        Case { theta, example, direction, label: 1, network }
    }

    fn moved(&self, step: f64) -> Vec<f64> {
        let pairs = self.theta.iter().zip(&self.direction);
        pairs.map(|(value, direction)| value + step * direction).collect()
    }

    fn gradient(&self, theta: &[f64]) -> Vec<f64> {
        let mut out = vec![f64::NAN; theta.len()];
        self.network.gradient(theta, &self.example, self.label, &mut out);
        out
    }

    /// Errors of central differences of the loss for repeatedly halved steps.
    fn errors(&self, derivative: f64) -> Vec<f64> {
        let loss = |step| self.network.loss(&self.moved(step), &self.example, self.label);
        let steps = (0..4).map(|halvings| 2e-4 * powi(0.5, halvings));
        let difference = |step: f64| (loss(step) - loss(-step)) / (2.0 * step);
        steps.map(|step| (difference(step) - derivative).abs()).collect()
    }
}

fn product(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

/// Whether each halving of the step divides the error by about four, down to rounding errors.
fn converges_quadratically(errors: &[f64]) -> bool {
    let is_quarter = |pair: &[f64]| pair[1] < 1e-11 || (3.5..4.5).contains(&(pair[0] / pair[1]));
    errors.windows(2).all(is_quarter)
}

#[test]
fn differences_converge_to_the_gradient() {
    for (name, spec) in every_layer() {
        let case = Case::new(&spec);
        let gradient = case.gradient(&case.theta);
        let errors = case.errors(product(&gradient, &case.direction));
        assert!(converges_quadratically(&errors), "{name}: {errors:?}");
    }
}

#[test]
fn differences_detect_wrong_gradients() {
    for (name, spec) in every_layer() {
        let case = Case::new(&spec);
        let gradient = case.gradient(&case.theta);
        for (broken, what) in models::broken(&spec, &gradient) {
            let errors = case.errors(product(&broken, &case.direction));
            assert!(!converges_quadratically(&errors), "{name}, {what}: {errors:?}");
        }
    }
}

#[test]
fn tangents_are_inner_products_with_the_gradient() {
    for (name, spec) in every_layer() {
        let case = Case::new(&spec);
        let along = |direction: &[f64]| {
            case.network.tangent(&case.theta, direction, &case.example, case.label)
        };
        let (loss, derivative) = along(&case.direction);
        let gradient = case.gradient(&case.theta);
        let truth = product(&gradient, &case.direction);
        let size = product(&gradient, &gradient).sqrt();
        assert!((derivative - truth).abs() < 1e-12 * size.max(1.0), "{name}: {derivative} {truth}");
        assert_eq!(loss, case.network.loss(&case.theta, &case.example, case.label));
        for (broken, what) in models::broken(&spec, &gradient) {
            let wrong = product(&broken, &case.direction);
            assert!((derivative - wrong).abs() > 1e-9 * size, "{name}, {what}");
        }
    }
}

#[test]
fn dual_numbers_compute_second_derivatives() {
    for (name, spec) in every_layer() {
        let case = Case::new(&spec);
        let dual = |value: f64, derivative: f64| Dual { value, derivative };
        let theta: Vec<_> =
            case.theta.iter().zip(&case.direction).map(|(&v, &s)| dual(v, s)).collect();
        let example: Vec<_> = case.example.iter().map(|&value| Dual::from_f64(value)).collect();
        let mut out = vec![dual(0.0, 0.0); theta.len()];
        let loss = case.network.gradient(&theta, &example, case.label, &mut out);
        let (step, gradient) = (1e-5, case.gradient(&case.theta));
        let (ahead, behind) = (case.gradient(&case.moved(step)), case.gradient(&case.moved(-step)));
        for (at, out) in out.iter().enumerate() {
            assert!((out.value - gradient[at]).abs() < 1e-15, "{name} {at}");
            let difference = (ahead[at] - behind[at]) / (2.0 * step);
            assert!(
                (out.derivative - difference).abs() < 1e-7,
                "{name} {at}: {out:?} {difference}"
            );
        }
        assert!((loss.derivative - product(&gradient, &case.direction)).abs() < 1e-12, "{name}");
        // The tangent of dual numbers along the same direction is the curvature.
        let direction: Vec<_> = case.direction.iter().map(|&value| Dual::from_f64(value)).collect();
        let (_, derivative) = case.network.tangent(&theta, &direction, &example, case.label);
        let curvature: f64 =
            out.iter().zip(&case.direction).map(|(out, d)| out.derivative * d).sum();
        assert!(
            (derivative.derivative - curvature).abs() < 1e-10 * curvature.abs().max(1.0),
            "{name}"
        );
        assert!(curvature.abs() > 1e-6, "{name}: no curvature");
    }
}

#[test]
fn dual_numbers_differentiate_elementary_functions() {
    let at = |f: fn(Dual<f64>) -> Dual<f64>, x: f64| f(Dual { value: x, derivative: 1.0 });
    let functions: [fn(Dual<f64>) -> Dual<f64>; 10] = [
        |x| x.exp() * x,
        |x| x.ln() / x,
        |x| x.tanh() - x,
        |x| -(x / (x + Dual::from_f64(2.0))),
        |x| x.max(Dual::from_f64(1.0)) * x,
        |x| Dual::from_f64(1.0).max(x),
        |x| x.sqrt() * x,
        |x| x.sigmoid() * x,
        |x| x.softplus() * x,
        |x| x.normal_cdf() * x.normal_density(),
    ];
    for (index, function) in functions.into_iter().enumerate() {
        for x in [0.3, 0.9, 1.7] {
            let difference = (at(function, x + 1e-6).value - at(function, x - 1e-6).value) / 2e-6;
            let derivative = at(function, x).derivative;
            assert!(
                (derivative - difference).abs() < 1e-8,
                "{index} at {x}: {derivative} {difference}"
            );
        }
    }
}

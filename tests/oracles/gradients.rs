//! Gradients of networks against an automatic differentiation: `gradients/generate.py`.

use dpscope_train::{Arithmetic, Dual, ModelSpec, Network, Rows, Workspace};
use serde_json::Value;

/// The largest relative error of sums of so many terms in f64.
const TOLERANCE: f64 = 1e-12;
/// As above, in f32.
const SINGLE: f64 = 2e-5;

struct Case {
    name: String,
    network: Network,
    theta: Vec<f64>,
    direction: Vec<f64>,
    example: Vec<f64>,
    label: usize,
    golden: Value,
}

/// Numbers in [−1, 1): the top 20 bits of SplitMix64.
fn stream(seed: u64, count: usize) -> Vec<f64> {
    let number = |index: usize| {
        let x = (index as u64 + 1).wrapping_add(seed << 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((x ^ (x >> 31)) >> 44) as f64 / f64::from(1 << 19) - 1.0
    };
    (0..count).map(number).collect()
}

fn cases() -> Vec<Case> {
    let text = include_str!("gradients/gradients.json");
    let cases: Vec<Value> = serde_json::from_str(text).unwrap();
    cases.into_iter().map(Case::new).collect()
}

impl Case {
    fn new(golden: Value) -> Case {
        let spec: ModelSpec = serde_json::from_value(golden["model"].clone()).unwrap();
        let network = Network::new(&spec).unwrap();
        let seed = golden["seed"].as_u64().unwrap();
        let bounds = golden["parts"].as_array().unwrap().iter().flat_map(|part| {
            let bound = part[1].as_f64().unwrap();
            std::iter::repeat_n(bound, part[0].as_u64().unwrap() as usize)
        });
        let theta = stream(4 * seed, network.parameters());
        let theta = theta.iter().zip(bounds).map(|(number, bound)| number * bound);
        Case {
            name: golden["name"].as_str().unwrap().to_string(),
            theta: theta.collect(),
            direction: stream(4 * seed + 1, network.parameters()),
            example: stream(4 * seed + 2, network.inputs()),
            label: golden["label"].as_u64().unwrap() as usize,
            network,
            golden,
        }
    }

    fn float(&self, field: &str) -> f64 {
        self.golden[field].as_f64().unwrap()
    }

    fn floats(&self, field: &str) -> Vec<f64> {
        let list = self.golden[field].as_array().unwrap();
        list.iter().map(|value| value.as_f64().unwrap()).collect()
    }

    /// How far a gradient is from the oracle's, in parts of its norm: by its known coordinates
    /// and by the norms of layers.
    fn distance(&self, gradient: &[f64]) -> f64 {
        let norms = self.floats("layer_norms");
        let size = norm(&norms);
        let known = self.floats("gradient");
        let every = self.float("every") as usize;
        assert_eq!(known.len(), gradient.len().div_ceil(every), "{}", self.name);
        let coordinates = gradient.iter().step_by(every).zip(&known);
        let mut worst = coordinates.map(|(own, known)| (own - known).abs()).fold(0.0, f64::max);
        let mut first = 0;
        for (part, norm_of_part) in self.golden["parts"].as_array().unwrap().iter().zip(norms) {
            let end = first + part[0].as_u64().unwrap() as usize;
            worst = worst.max((norm(&gradient[first..end]) - norm_of_part).abs());
            first = end;
        }
        assert_eq!(first, gradient.len(), "{}", self.name);
        worst / size
    }
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

#[test]
fn gradients_match_automatic_differentiation() {
    for case in cases() {
        let mut gradient = vec![f64::NAN; case.theta.len()];
        let loss = case.network.gradient(&case.theta, &case.example, case.label, &mut gradient);
        assert!((loss - case.float("loss")).abs() < TOLERANCE * loss, "{}", case.name);
        let error = case.distance(&gradient);
        assert!(error < TOLERANCE, "{}: {error}", case.name);
        // One value off by a millionth of the norm.
        let norm_of_all = norm(&gradient);
        gradient[0] += 1e-6 * norm_of_all;
        assert!(case.distance(&gradient) > TOLERANCE, "{}", case.name);
    }
}

#[test]
fn tangents_and_curvatures_match_automatic_differentiation() {
    for case in cases().iter().filter(|case| case.theta.len() < 100_000) {
        let theta = case.theta.iter().zip(&case.direction);
        let theta: Vec<_> = theta.map(|(&value, &derivative)| Dual { value, derivative }).collect();
        let dual = |values: &[f64]| values.iter().map(|&value| Dual::from_f64(value)).collect();
        let (direction, example): (Vec<_>, Vec<_>) = (dual(&case.direction), dual(&case.example));
        let (loss, along) = case.network.tangent(&theta, &direction, &example, case.label);
        let (derivative, curvature) = (case.float("slope"), case.float("curvature"));
        let near = |own: f64, truth: f64| (own - truth).abs() < 1e-11 * truth.abs().max(1.0);
        assert!(near(loss.derivative, derivative), "{}: {loss:?} {derivative}", case.name);
        assert!(near(along.value, derivative), "{}: {along:?} {derivative}", case.name);
        assert!(near(along.derivative, curvature), "{}: {along:?} {curvature}", case.name);
        assert!(curvature.abs() > 1e-6, "{} is flat", case.name);
    }
}

#[test]
fn f32_gradients_match_automatic_differentiation() {
    for case in cases() {
        let single = |values: &[f64]| values.iter().map(|&value| value as f32).collect();
        let (theta, examples): (Vec<f32>, Vec<f32>) = (single(&case.theta), single(&case.example));
        let rows = Rows { examples: &examples, labels: &[case.label as u32] };
        let mut work = Workspace::new(&case.network, 1);
        let (mut out, mut norms) = (vec![0.0; theta.len()], Vec::new());
        case.network.clipped_sum(&theta, rows, 1e9, &mut work, &mut out, &mut norms);
        let out: Vec<f64> = out.iter().map(|&value| f64::from(value)).collect();
        let error = case.distance(&out);
        assert!(error < SINGLE, "{}: {error}", case.name);
        let size = norm(&case.floats("layer_norms"));
        assert!((f64::from(norms[0]) / size - 1.0).abs() < SINGLE, "{}", case.name);
    }
}

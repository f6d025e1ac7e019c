//! Compares f32 sums of clipped gradients with per-example gradients in f64.

use dpscope_train::{LayerSpec, ModelSpec, Network, NormMethod, Rows, Shape, Workspace};
use proptest::prelude::*;

use crate::models::{self, Numbers, every_layer};

/// A network with parameters and examples.
struct Case {
    network: Network,
    theta: Vec<f32>,
    examples: Vec<f32>,
    labels: Vec<u32>,
}

/// Sum and norms of a batch.
struct Sum {
    out: Vec<f32>,
    norms: Vec<f32>,
}

impl Case {
    fn new(spec: &ModelSpec, rows: usize, seed: u64) -> Case {
        let network = models::network(spec);
        let mut numbers = Numbers::new(seed);
        let theta = network.initial(|| numbers.uniform());
        let classes = network.classes() as f64;
        let labels = (0..rows).map(|_| (numbers.uniform() * classes) as u32).collect();
        let values = rows * network.inputs();
        let examples = (0..values).map(|_| numbers.symmetric() as f32).collect();
        Case { theta, examples, labels, network }
    }

    fn rows(&self) -> Rows<'_> {
        Rows { examples: &self.examples, labels: &self.labels }
    }

    fn sum(&self, clip_norm: f32, norm_method: Option<NormMethod>) -> Sum {
        let mut work = Workspace::with_norm_method(&self.network, self.labels.len(), norm_method);
        let mut sum = Sum { out: vec![f32::NAN; self.theta.len()], norms: vec![9.0; 3] };
        let Sum { out, norms } = &mut sum;
        self.network.clipped_sum(&self.theta, self.rows(), clip_norm, &mut work, out, norms);
        sum
    }

    /// Per-example gradients.
    fn gradients(&self) -> Vec<Vec<f64>> {
        let theta: Vec<f64> = self.theta.iter().map(|&value| f64::from(value)).collect();
        let examples = self.examples.chunks(self.network.inputs());
        let gradient = |(example, &label): (&[f32], &u32)| {
            let example: Vec<f64> = example.iter().map(|&value| f64::from(value)).collect();
            let mut out = vec![0.0; theta.len()];
            self.network.gradient(&theta, &example, label as usize, &mut out);
            out
        };
        examples.zip(&self.labels).map(gradient).collect()
    }
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

fn clipped(gradients: &[Vec<f64>], clip_norm: f64) -> Vec<f64> {
    let mut sum = vec![0.0; gradients.first().map_or(0, Vec::len)];
    for gradient in gradients {
        let factor = (clip_norm / norm(gradient)).min(1.0);
        for (sum, value) in sum.iter_mut().zip(gradient) {
            *sum += factor * value;
        }
    }
    sum
}

/// Distance of a sum from the truth, relative to `size`.
fn distance(out: &[f32], truth: &[f64], size: f64) -> f64 {
    let differences = out.iter().zip(truth).map(|(&out, truth)| f64::from(out) - truth);
    norm(&differences.collect::<Vec<f64>>()) / size
}

const TOLERANCE: f64 = 2e-5;
const NORM_METHODS: [Option<NormMethod>; 3] =
    [None, Some(NormMethod::Instantiated), Some(NormMethod::Gram)];

#[test]
fn sums_equal_those_of_single_examples() {
    for (name, spec) in every_layer() {
        for rows in [0, 1, 7, 100] {
            let case = Case::new(&spec, rows, 11 + rows as u64);
            let gradients = case.gradients();
            let mut norms: Vec<f64> = gradients.iter().map(|gradient| norm(gradient)).collect();
            norms.sort_by(f64::total_cmp);
            let clip_norm = 0.8 * norms.get(rows / 2).copied().unwrap_or(1.0) as f32;
            let truth = clipped(&gradients, f64::from(clip_norm));
            let size = f64::from(clip_norm) * (rows as f64).sqrt();
            for norm_method in NORM_METHODS {
                let sum = case.sum(clip_norm, norm_method);
                assert_eq!(sum.norms.len(), rows);
                if rows == 0 {
                    assert!(sum.out.iter().all(|&value| value == 0.0), "{name}");
                    continue;
                }
                let error = distance(&sum.out, &truth, size);
                assert!(error < TOLERANCE, "{name}, {rows} rows, {norm_method:?}: {error}");
                for (gradient, &found) in gradients.iter().zip(&sum.norms) {
                    let truth = norm(gradient);
                    let error = (f64::from(found) / truth - 1.0).abs();
                    assert!(
                        error < TOLERANCE,
                        "{name}, {rows} rows, {norm_method:?}: {found} {truth}"
                    );
                }
            }
            // Negative controls: one row omitted, and a clipping norm 0.1 % too large.
            if rows > 0 {
                let short = clipped(&gradients[1..], f64::from(clip_norm));
                let short = if rows == 1 { vec![0.0; truth.len()] } else { short };
                let loose = clipped(&gradients, 1.001 * f64::from(clip_norm));
                let sum = case.sum(clip_norm, None);
                for broken in [short, loose] {
                    let error = distance(&sum.out, &broken, size);
                    assert!(error > 2.0 * TOLERANCE, "{name}, {rows} rows: {error}");
                }
            }
        }
    }
}

#[test]
fn batches_may_exceed_the_planned_size() {
    for (_, spec) in every_layer() {
        let case = Case::new(&spec, 300, 5);
        let whole = case.sum(0.5, None);
        let mut work = Workspace::new(&case.network, 3);
        let (mut out, mut norms) = (vec![0.0; case.theta.len()], Vec::new());
        case.network.clipped_sum(&case.theta, case.rows(), 0.5, &mut work, &mut out, &mut norms);
        let truth: Vec<f64> = whole.out.iter().map(|&value| f64::from(value)).collect();
        let error = distance(&out, &truth, 0.5 * 300_f64.sqrt());
        assert!(error < TOLERANCE, "{error}");
        assert_eq!(norms.len(), 300);
    }
}

#[test]
fn a_workspace_of_another_network_is_replaced() {
    let models = every_layer();
    let (one, other) = (Case::new(&models[0].1, 7, 1), Case::new(&models[3].1, 7, 2));
    let mut work = Workspace::new(&one.network, 7);
    let (mut out, mut norms) = (vec![0.0; other.theta.len()], Vec::new());
    other.network.clipped_sum(&other.theta, other.rows(), 0.5, &mut work, &mut out, &mut norms);
    let fresh = other.sum(0.5, None);
    assert_eq!((out, norms), (fresh.out, fresh.norms));
}

#[test]
fn non_finite_gradients_are_never_dropped() {
    let is_finite = |sum: &Sum| sum.out.iter().all(|value| value.is_finite());
    for (name, spec) in every_layer() {
        for norm_method in NORM_METHODS {
            let finite_case = Case::new(&spec, 20, 3);
            assert!(is_finite(&finite_case.sum(1.0, norm_method)), "{name}");
            for (place, value) in [(3, f32::NAN), (5, f32::INFINITY)] {
                let mut case = Case::new(&spec, 20, 3);
                let last = case.examples.len() - place;
                case.examples[last] = value;
                let sum = case.sum(1.0, norm_method);
                // tanh and pooling can absorb an infinity; then the gradient is finite.
                let finite = case.gradients().iter().flatten().all(|value| value.is_finite());
                assert_eq!(is_finite(&sum), finite, "{name} {norm_method:?} {value}");
            }
            let mut case = Case::new(&spec, 20, 3);
            case.labels[4] = case.network.classes() as u32;
            assert!(!is_finite(&case.sum(1.0, norm_method)), "{name}: invalid label");
            assert!(case.sum(1.0, norm_method).norms[4].is_nan(), "{name}");
        }
    }
    // A finite gradient whose square overflows.
    let spec = ModelSpec { input: Shape::flat(2), layers: vec![LayerSpec::Linear { outputs: 2 }] };
    let mut case = Case::new(&spec, 1, 3);
    case.theta.fill(0.0);
    case.examples.fill(1e30);
    let sum = case.sum(1.0, None);
    assert!(sum.norms[0].is_infinite() && !is_finite(&sum), "{:?}", sum.out);
}

#[test]
fn correct_rows_are_counted() {
    for (name, spec) in every_layer() {
        let mut case = Case::new(&spec, 50, 9);
        let mut work = Workspace::new(&case.network, 50);
        let theta: Vec<f64> = case.theta.iter().map(|&value| f64::from(value)).collect();
        let examples = case.examples.chunks(case.network.inputs());
        let truth = examples.zip(&case.labels).filter(|(example, label)| {
            let example: Vec<f64> = example.iter().map(|&value| f64::from(value)).collect();
            let losses =
                (0..case.network.classes()).map(|class| case.network.loss(&theta, &example, class));
            let losses: Vec<f64> = losses.collect();
            losses.iter().all(|&loss| loss >= losses[**label as usize])
        });
        let truth = truth.count();
        assert_eq!(case.network.correct(&case.theta, case.rows(), &mut work), truth, "{name}");
        assert!((1..50).contains(&truth), "{name}: {truth} is not informative");
        case.theta.fill(0.0);
        assert_eq!(case.network.correct(&case.theta, case.rows(), &mut work), 0, "{name}: ties");
        case.theta.fill(f32::NAN);
        assert_eq!(case.network.correct(&case.theta, case.rows(), &mut work), 0, "{name}: NaN");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 3000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn clipping_is_never_exceeded(
        seed in any::<u64>(),
        model in 0..14_usize,
        norm_method in 0..3_usize,
        magnitude in -3.0..3.0_f64,
        clip in -6.0..3.0_f64,
    ) {
        let models = every_layer();
        let mut case = Case::new(&models[model].1, 1, seed);
        let magnitude = dpscope_core::math::powf(10.0, magnitude) as f32;
        case.examples.iter_mut().for_each(|value| *value *= magnitude);
        let clip_norm = dpscope_core::math::powf(10.0, clip) as f32;
        let sum = case.sum(clip_norm, NORM_METHODS[norm_method]);
        let out: Vec<f64> = sum.out.iter().map(|&value| f64::from(value)).collect();
        prop_assert!(norm(&out) <= f64::from(clip_norm), "{} {clip_norm}", norm(&out));
        // Clipping is tight unless squares underflow.
        let ratio = norm(&out) / f64::from(clip_norm).min(f64::from(sum.norms[0]));
        prop_assert!(sum.norms[0] < 1e-12 || ratio > 1.0 - 1e-5, "{ratio} {:?}", sum.norms);
    }
}

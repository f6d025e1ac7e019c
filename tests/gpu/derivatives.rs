//! Derivatives on the adapter under test agree with f64, wrong ones are rejected before they count,
//! and optimised canaries do not depend on threads or on the loss of the device.

use dpscope_shaders::train::Kernel;
use dpscope_train::data::{LoadOptions, Source, load};
use dpscope_train::gpu::GpuDerivatives;
use dpscope_train::metagradient::{
    BatchRows, CanaryOptimization, CanaryStart, Checkpointing, DerivativeDevice, Derivatives,
    FeatureRanges, OptimizationSettings, OptimizationState, ReferenceDerivatives, StartLabels,
    rounding,
};
use dpscope_train::{LayerSpec, ModelSpec, Network, Shape};
use libtest_mimic::{Failed, Trial};

use crate::audits::adapter;
use crate::comparison::{Comparison, exact, within};
use crate::models::{Numbers, convolution};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("derivatives_equal_those_of_f64", derivatives_equal_those_of_f64),
        Trial::test("wrong_derivatives_are_rejected", wrong_derivatives_are_rejected),
        Trial::test(
            "optimised_canaries_do_not_depend_on_threads_or_a_lost_device",
            optimised_canaries,
        ),
    ]
}

const MEMORY: u64 = 1 << 26;

/// A network with most kinds of layers; few kernels, since a software driver compiles slowly.
fn image_model() -> ModelSpec {
    let layers = vec![
        convolution(3, 3, 1, 1),
        LayerSpec::GroupNorm { groups: 1, epsilon: 1e-3 },
        LayerSpec::Gelu,
        LayerSpec::AveragePool { size: 2 },
        LayerSpec::Linear { outputs: 2 },
    ];
    ModelSpec { input: Shape { channels: 1, height: 4, width: 4 }, layers }
}

fn small_mlp(inputs: usize) -> ModelSpec {
    let layers =
        vec![LayerSpec::Linear { outputs: 4 }, LayerSpec::Tanh, LayerSpec::Linear { outputs: 2 }];
    ModelSpec { input: Shape::flat(inputs), layers }
}

/// A batch with parameters and a direction.
struct Case {
    network: Network,
    theta: Vec<f32>,
    w: Vec<f32>,
    examples: Vec<f32>,
    labels: Vec<u32>,
}

impl Case {
    fn new(spec: &ModelSpec, rows: usize) -> Result<Self, Failed> {
        let network = Network::new(spec)?;
        let mut numbers = Numbers::new(11);
        let theta = network.initial(|| numbers.uniform());
        let mut draw =
            |count: usize| -> Vec<f32> { (0..count).map(|_| numbers.symmetric() as f32).collect() };
        let (w, examples) = (draw(theta.len()), draw(rows * network.inputs()));
        let labels = (0..rows).map(|row| (row % network.classes()) as u32).collect();
        Ok(Self { network, theta, w, examples, labels })
    }

    /// Gradient, product and cross terms of all rows but the last.
    fn all<N: Copy + Into<f64> + dpscope_train::Scalar>(
        &self,
        derivatives: &mut dyn Derivatives<Number = N>,
    ) -> [Vec<f64>; 3] {
        let numbers = |values: &[f32]| -> Vec<N> {
            values.iter().map(|&value| N::from_f64(value.into())).collect()
        };
        let (theta, w) = (numbers(&self.theta), numbers(&self.w));
        let (examples, canaries) = (numbers(&self.examples), self.labels.len() - 1);
        let batch = BatchRows { examples: &examples, sparse: &[], labels: &self.labels, canaries };
        let sizes = [theta.len(), theta.len(), canaries * self.network.inputs()];
        let mut out = sizes.map(|count| vec![N::from_f64(0.0); count]);
        let [gradient, product, cross] = &mut out;
        derivatives.gradient(&theta, batch, None, gradient);
        derivatives.product(&theta, &w, batch, None, product, cross);
        out.map(|values| values.into_iter().map(Into::into).collect())
    }
}

fn opened(
    network: &Network,
    max_rows: usize,
    edit: Option<fn(&Kernel) -> String>,
) -> Result<GpuDerivatives, Failed> {
    let adapter = adapter().ok_or("no adapter")?;
    let opened = GpuDerivatives::open_edited(network, adapter, (max_rows, MEMORY), edit);
    Ok(opened.map_err(|error| error.to_string())?)
}

fn norm(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum::<f64>().sqrt()
}

/// Distances of results, relative to their norms.
fn compared(found: &[Vec<f64>], expected: &[Vec<f64>], tolerance: f64) -> Comparison {
    let distance = |(found, expected): (&Vec<f64>, &Vec<f64>)| {
        let away = norm(found.iter().zip(expected).map(|(a, b)| a - b));
        away / norm(expected.iter().copied())
    };
    let distances: Vec<f64> = found.iter().zip(expected).map(distance).collect();
    let count = distances.len();
    within(&distances, &vec![0.0; count], &vec![tolerance; count], tolerance)
}

fn derivatives_equal_those_of_f64() -> Result<(), Failed> {
    // in one pass, and in two with canaries in both
    for (spec, max_rows) in [(small_mlp(9), 100), (image_model(), 3)] {
        let case = Case::new(&spec, 5)?;
        let device = opened(&case.network, max_rows, None)?;
        let tolerance = rounding(&case.network, 5);
        let found = case.all(&mut *device.derivatives());
        let expected = case.all(&mut ReferenceDerivatives::new(&case.network));
        compared(&found, &expected, tolerance).agrees("f64")?;
        let mut other = Case::new(&spec, 5)?;
        other.w.iter_mut().step_by(2).for_each(|value| *value *= 1.001);
        let found = other.all(&mut *device.derivatives());
        compared(&found[..1], &expected[..1], tolerance).agrees("the same gradient")?;
        compared(&found[1..2], &expected[1..2], tolerance).differs("another direction")?;
    }
    Ok(())
}

fn wrong_derivatives_are_rejected() -> Result<(), Failed> {
    let network = Network::new(&small_mlp(9))?;
    let edits: [fn(&Kernel) -> String; 4] = [
        // sums forget earlier passes
        |kernel| kernel.source().replace("params.is_first_pass == 1u", "params.is_first_pass < 2u"),
        // sums add to those of the batch before
        |kernel| kernel.source().replace("params.is_first_pass == 1u", "params.is_first_pass > 1u"),
        |kernel| {
            let from = "(a.y * b.primal + a.x * b.tangent)";
            kernel.source().replace(from, "(a.y * b.primal - a.x * b.tangent)")
        },
        |kernel| {
            let from = "lifted(x, y, 1.0 - y * y)";
            kernel.source().replace(from, "lifted(x, y, y * y - 1.0)")
        },
    ];
    for (index, edit) in edits.into_iter().enumerate() {
        match opened(&network, 100, Some(edit)) {
            Err(failure) if failure.message().is_some_and(|text| text.contains("self-test")) => {}
            Err(failure) => return Err(failure),
            Ok(_) => return Err(format!("mistake {index} is accepted").into()),
        }
    }
    Ok(())
}

/// Two metasteps on a device, or the CPU, by some threads; the device is lost after the first.
fn optimised(
    device: Option<&GpuDerivatives>,
    threads: usize,
    lost: Option<fn(&GpuDerivatives)>,
) -> Result<OptimizationState, Failed> {
    let rows: String = (0..60).map(|i| format!("{},{},0.5,{}\n", i % 2, i % 7, i % 5)).collect();
    let source = Source { name: "x.csv", bytes: rows.as_bytes() };
    let data = load(source, None, &LoadOptions::default())?;
    let network = Network::new(&small_mlp(3))?;
    let start = CanaryStart::draw(&data, 8, None, StartLabels::Own, 1)?;
    let settings = OptimizationSettings {
        steps: 4,
        batch_size: 12,
        validation_splits: 2,
        ..OptimizationSettings::new(2, 1)
    };
    let optimization = CanaryOptimization {
        network: &network,
        base: &start,
        records: start.base_records(),
        labels: &start.labels,
        ranges: &FeatureRanges::of(&data),
        settings: &settings,
        checkpointing: Checkpointing::StoreAll,
        device: device.map(|device| device as &dyn DerivativeDevice),
        keep_going: &|| true,
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    pool.install(|| {
        let mut state = optimization.start(start.canaries.clone())?;
        optimization.step(&mut state)?;
        if let (Some(device), Some(lose)) = (device, lost) {
            lose(device);
        }
        optimization.step(&mut state)?;
        Ok(state)
    })
}

fn optimised_canaries() -> Result<(), Failed> {
    let network = Network::new(&small_mlp(3))?;
    let device = opened(&network, 12, None)?;
    let whole = optimised(Some(&device), 1, None)?;
    let objectives = |state: &OptimizationState| -> Vec<f64> {
        state.objectives.iter().copied().flatten().collect()
    };
    let on_cpu = optimised(None, 1, None)?;
    compared(&[objectives(&whole)], &[objectives(&on_cpu)], 1e-4)
        .agrees("objectives of the CPU")?;
    let threads = optimised(Some(&device), 3, None)?;
    exact(&threads.canaries, &whole.canaries).agrees("three threads")?;
    exact(&objectives(&threads), &objectives(&whole)).agrees("three threads")?;
    let reopened = optimised(Some(&device), 1, Some(GpuDerivatives::lose_device))?;
    exact(&objectives(&reopened), &objectives(&whole)).agrees("a lost device")?;
    exact(&[device.failure().is_none(), device.opening() == 2], &[true; 2]).agrees("reopened")?;
    let gone = |device: &GpuDerivatives| {
        device.forbid_reopening();
        device.lose_device();
    };
    let fallen = optimised(Some(&device), 1, Some(gone))?;
    compared(&[objectives(&fallen)], &[objectives(&on_cpu)], 1e-4).agrees("the CPU takes over")?;
    exact(&[device.failure().is_some()], &[true]).agrees("the reason")
}

//! Checks of the training kernels: validity, translation, layout, arrangement of workgroups.

use dpscope_shaders::bgm::WORKGROUP;
use dpscope_shaders::train::{
    Activation, Along, Common, ConvolutionLayer, EvaluatedRecords, Finish, ImageShape,
    IncludedSelection, Initialization, Kernel, LayerMemory, LinearLayer, Loss, NormLayer, Numbers,
    Packing, PassParams, Pooling, PoolingLayer, RowSelection, Source, SquaredNorm, add_noise,
    along_sum, descend, factors,
};

use crate::wgsl::layout::{bindings, fields};
use crate::wgsl::translation::translated;
use crate::wgsl::{edited, validated};

const COMMON: Common = Common {
    rows: 100,
    parameters: 5_000,
    values: 90_000,
    factors: 80_000,
    numbers: Numbers::Value,
};

fn stage(source: Source, activation: Activation) -> LayerMemory {
    LayerMemory {
        source,
        inputs: 2 * 9 * 7,
        outputs: 5 * 9 * 7,
        output: 1_000,
        output_gradient: 40_000,
        input_gradient: 60_000,
        activation,
        input_activation: activation,
        first_parameter: 10,
        partials: 70_000,
        gradients: 75_000,
    }
}

fn stages() -> Vec<LayerMemory> {
    let records = |packing| Source::Records { packing, first: 6_000 };
    vec![
        stage(Source::Values(0), Activation::Identity),
        stage(records(Packing::Bits), Activation::Tanh),
        stage(records(Packing::Bytes), Activation::Relu),
        stage(records(Packing::Floats), Activation::Identity),
    ]
}

/// Kernels of layers and of the loss, on such numbers.
fn layer_kernels(numbers: Numbers) -> Vec<Kernel> {
    let common = &Common { numbers, ..COMMON };
    let input = ImageShape { channels: 2, height: 9, width: 7 };
    let mut kernels = Vec::new();
    for stage in stages() {
        let linear = LinearLayer { stage };
        kernels.extend([
            linear.forward(common),
            linear.input_gradient(common),
            linear.sums(common),
        ]);
        for channels in [5, 700] {
            let convolution = ConvolutionLayer {
                stage,
                input,
                output: ImageShape { channels, height: 5, width: 4 },
                kernel: 3,
                stride: 2,
                padding: 1,
            };
            kernels.extend([
                convolution.forward(common),
                convolution.input_gradient(common),
                convolution.gradients(common),
                convolution.sums(common),
                convolution.direct_sums(common),
            ]);
        }
        let blocks = [Pooling::Identity, Pooling::Average, Pooling::Maximum];
        let functions = [Pooling::Gelu, Pooling::Softplus, Pooling::Scale(-0.1)];
        for pooling in blocks.into_iter().chain(functions) {
            let pooling = PoolingLayer { stage, pooling, input, size: 2 };
            kernels.extend([pooling.forward(common), pooling.input_gradient(common)]);
        }
        let norm = NormLayer { stage, input, groups: 2, epsilon: 1e-5 };
        kernels.extend([
            norm.forward(common),
            norm.gradients(common, false),
            norm.gradients(common, true),
            norm.sums(common),
        ]);
        kernels.push(Loss { stage, labels: 5_000 }.gradient(common));
    }
    kernels
}

/// Kernels of all kinds.
pub(crate) fn kernels() -> Vec<Kernel> {
    let mut kernels = layer_kernels(Numbers::Value);
    for stage in stages() {
        let layers = [SquaredNorm::Linear(stage), SquaredNorm::Summed(stage, 3)];
        kernels.push(factors(&COMMON, &layers, 0.5));
    }
    for initialization in [Initialization::Fixed, Initialization::Random, Initialization::Dirac] {
        kernels.extend(initialization.kernels(&COMMON, 85_000));
    }
    for block in [None, Some(100), Some(1_000)] {
        let choice = RowSelection { batch_size: 100, records: 1_000, block, is_informed: true };
        kernels.push(choice.kernel(&COMMON, 0.5));
    }
    for is_fresh in [false, true] {
        let (clip_norm, noise, rate) = (0.5, 0.25, 1e-9);
        let finish = Finish { clip_norm, noise, rate, is_fresh, outputs: 9, tile_sums: 85_000 };
        kernels.extend(finish.kernels(&COMMON));
    }
    kernels.extend(one_run_kernels());
    kernels
}

/// Kernels of trainings with many canaries.
fn one_run_kernels() -> Vec<Kernel> {
    let records = EvaluatedRecords { first: 900, count: 130, labels: 5_000, outputs: 260 };
    let mut kernels = vec![
        add_noise(&COMMON, 0.5),
        descend(&COMMON, 1e-9, 0.0),
        descend(&COMMON, 1e-9, 0.9),
        records.rows(&COMMON),
    ];
    for block in [None, Some(100), Some(1_000)] {
        let selection = IncludedSelection { batch_size: 100, records: 1_000, block, base: 900 };
        kernels.push(selection.kernel(&COMMON));
    }
    for stage in stages() {
        let forward = |stage| LinearLayer { stage }.forward(&COMMON);
        kernels.push(along_sum(&stage, 20_000, forward));
        kernels.push(records.losses(&COMMON, &stage));
        let along = Along { outputs: 315, output_gradient: 40_000, derivative: 20_000 };
        let layers = [SquaredNorm::Linear(stage), SquaredNorm::Summed(stage, 3)];
        kernels.push(records.row_products(&COMMON, &layers, &[along, along], 4));
    }
    kernels
}

#[test]
fn every_training_kernel_is_valid_and_translates() {
    for kernel in kernels().into_iter().chain(layer_kernels(Numbers::Dual)) {
        let sizes = translated(&kernel.source());
        let sizes = sizes.unwrap_or_else(|error| panic!("{}: {error}", kernel.name()));
        assert!(sizes.iter().all(|&size| size > 1_000), "{}: {sizes:?}", kernel.name());
    }
    let source = kernels()[0].source();
    for (from, to) in [
        ("fn forward_left(", "fn forwards("),
        ("const DEPTH: u32 = ", "const DEPTH: f32 = 1.5 * "),
        ("@compute ", ""),
    ] {
        assert!(translated(&edited(&source, from, to)).is_err(), "{from} -> {to}");
    }
}

/// Checks the assumptions of the host.
fn check(source: &str, number: &str) -> Result<(), String> {
    let (module, _) = validated(source)?;
    let expected: Vec<&str> = PassParams::default().fields().iter().map(|field| field.0).collect();
    let found = fields(&module, "params")?;
    if found != expected {
        return Err(format!("{found:?}, bound as {expected:?}"));
    }
    let expected = [
        "0/0 params uniform fields",
        &format!("0/1 values read_write {number}"),
        &format!("0/2 theta read_write {number}"),
        &format!("0/3 sums read_write {number}"),
        "0/4 vector read_write Float",
        "0/5 data read Uint",
        "0/6 rows read_write Uint",
        "0/7 outputs read_write Float",
    ];
    let found = bindings(&module);
    if found != expected {
        return Err(format!("bindings {found:?}"));
    }
    let memory = |(_, variable): (_, &naga::GlobalVariable)| {
        let is_shared = variable.space == naga::AddressSpace::WorkGroup;
        if is_shared { module.types[variable.ty].inner.size(module.to_ctx()) } else { 0 }
    };
    let bytes: u32 = module.global_variables.iter().map(memory).sum();
    if bytes > 16_384 {
        return Err(format!("{bytes} bytes of workgroup memory"));
    }
    match &module.entry_points[..] {
        [entry] if entry.name == Kernel::ENTRY && entry.workgroup_size == [WORKGROUP, 1, 1] => {
            Ok(())
        }
        entries => Err(format!("{} entry points, or another name or size", entries.len())),
    }
}

#[test]
fn layouts_of_training_kernels_match_the_host() {
    let values = kernels().into_iter().map(|kernel| (kernel, "Float"));
    let duals = layer_kernels(Numbers::Dual).into_iter().map(|kernel| (kernel, "Float x 2"));
    for (kernel, number) in values.chain(duals) {
        check(&kernel.source(), number)
            .unwrap_or_else(|error| panic!("{}: {error}", kernel.name()));
        let [columns, rows] = kernel.groups();
        assert!((1..=65_535).contains(&columns) && (1..=65_535).contains(&rows));
        assert!(kernel.operations() > 0);
    }
    let source = kernels()[0].source();
    for (from, to) in [
        ("step: u32,\n", "step: vec2<u32>,\n"),
        ("seed_low: u32,\nseed_high: u32,", "seed_high: u32,\nseed_low: u32,"),
        ("@binding(6)", "@binding(8)"),
        ("fn run(", "fn count("),
        ("array<Real, DEPTH * ", "array<Real, 40u * DEPTH * "),
    ] {
        assert!(check(&edited(&source, from, to), "Float").is_err(), "{from} -> {to}");
    }
}

#[test]
fn many_workgroups_are_arranged_in_rows() {
    let stage = LayerMemory { inputs: 1 << 20, ..stages()[0] };
    let input = ImageShape { channels: 1, height: 1 << 10, width: 1 << 10 };
    let pooling = PoolingLayer { stage, pooling: Pooling::Average, input, size: 2 };
    let [columns, rows] = pooling.input_gradient(&COMMON).groups();
    let groups = (100_u64 << 20).div_ceil(WORKGROUP.into());
    let all = u64::from(columns) * u64::from(rows);
    assert!(columns <= 65_535 && rows <= 65_535 && all >= groups && all < groups + 65_535);
}

//! The kernels of a training against the CPU: rows exactly, sums, parameters and outputs within a
//! stated tolerance, from the same parameters.

use dpscope_core::adjacency::World;
use dpscope_core::mechanism::{BatchSampler, BatchedGaussian, ThreatModel};
use dpscope_core::random::{Purpose, stream_words};
use dpscope_formats::{Array, write_npz};
use dpscope_shaders::random::VectorNormals;
use dpscope_shaders::train::{Batches, EpochBatches};
use dpscope_train::data::{Examples, LoadOptions, Source, SyntheticData, load};
use dpscope_train::gpu::plan::{GpuPlan, PassPosition};
use dpscope_train::{
    Canary, CanaryDirection, ModelSpec, Network, Rows, Training, TrainingSettings, Workspace,
};
use libtest_mimic::{Failed, Trial};

use crate::comparison::{Comparison, exact, within};
use crate::models::{Numbers, every_layer};
use crate::wave::{Binding, Wave};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("rows_match_the_batches", rows_match_the_batches),
        Trial::test("broken_rows_are_rejected", broken_rows),
        Trial::test("row_sums_match_the_cpu", row_sums_match_the_cpu),
        Trial::test("model_sums_match_the_cpu", sums_of_whole_models),
        Trial::test("broken_sums_are_rejected", broken_sums),
        Trial::test("a_lost_sum_is_nan", a_lost_sum_is_nan),
        Trial::test("initial_canaries_and_parameters_match_the_cpu", beginnings),
        Trial::test("step_ends_match_the_cpu", step_ends_match_the_cpu),
        Trial::test("broken_step_ends_are_rejected", broken_ends),
    ]
}

const SEED: u64 = 11;

/// Runs whose numbers carry into the high word.
const FIRST: u64 = (1 << 32) - 1;
const RUNS: u32 = 2;

/// A training, and what its settings are.
#[derive(Clone)]
struct Case {
    spec: ModelSpec,
    sampler: BatchSampler,
    threat_model: ThreatModel,
    batch_size: u32,
    steps: u32,
    direction: CanaryDirection,
    is_fresh: bool,
    noise_multiplier: f64,
    learning_rate: f64,
}

impl Case {
    fn new(spec: &ModelSpec) -> Self {
        Case {
            spec: spec.clone(),
            sampler: BatchSampler::Shuffle,
            threat_model: ThreatModel::TargetCanary,
            batch_size: 7,
            steps: 3,
            direction: CanaryDirection::Random,
            is_fresh: false,
            noise_multiplier: 1.0,
            learning_rate: 0.5,
        }
    }

    fn examples(&self) -> Result<Examples, Failed> {
        let records = (self.batch_size * self.steps) as usize;
        let shape = self.spec.input;
        let synthetic_sets =
            [SyntheticData::P100Like, SyntheticData::FmnistLike, SyntheticData::CifarLike];
        for (synthetic, spec) in
            synthetic_sets.into_iter().zip([ModelSpec::mlp(), ModelSpec::lenet(), ModelSpec::cnn()])
        {
            if spec == self.spec {
                return Ok(synthetic.generate(records, 0)?);
            }
        }
        let mut numbers = Numbers::new(5);
        let axes = match (shape.height, shape.width) {
            (1, 1) => vec![records, shape.channels],
            (height, width) => vec![records, shape.channels, height, width],
        };
        let classes = Network::new(&self.spec)?.classes();
        let x = (0..records * shape.len()).map(|_| numbers.symmetric()).collect();
        let y = (0..records).map(|record| (record % classes) as f64).collect();
        let bytes =
            write_npz(&[("x", &Array::new(axes, x)?), ("y", &Array::new(vec![records], y)?)])?;
        Ok(load(Source { name: "x.npz", bytes: &bytes }, None, &LoadOptions::default())?)
    }

    fn training(&self) -> Result<Training, Failed> {
        let mechanism = BatchedGaussian {
            noise_multiplier: self.noise_multiplier,
            steps_per_epoch: self.steps,
            epochs: 2,
            sampler: self.sampler,
            threat_model: self.threat_model,
            batch_size: Some(self.batch_size),
            dataset_size: None,
        };
        let canary = Canary { direction: self.direction, is_fresh: self.is_fresh };
        let learning_rate = self.learning_rate;
        let settings =
            TrainingSettings { clip_norm: CLIP_NORM, learning_rate, canary, debias_records: 0 };
        Ok(Training::new(&self.spec, self.examples()?, mechanism, settings, SEED)?)
    }

    fn rate(&self) -> f64 {
        self.learning_rate / f64::from(self.batch_size)
    }
}

const CLIP_NORM: f64 = 0.75;

fn place(epoch: u32, step: u32, pass: u32) -> PassPosition {
    PassPosition { first_run: FIRST, runs: RUNS, epoch, step, pass }
}

fn stream(model: usize) -> u64 {
    2 * (FIRST + model as u64 % u64::from(RUNS)) + model as u64 / u64::from(RUNS)
}

fn world(model: usize) -> World {
    World::BOTH[model / RUNS as usize]
}

/// The records of a batch whose own gradients are summed, and the multiple of C·ĝ.
fn taken(case: &Case, model: usize, epoch: u32, step: u32) -> (Vec<u32>, f64) {
    let mut batches = EpochBatches::default();
    let drawn = Batches::new(case.sampler, case.batch_size, case.steps);
    drawn.draw(SEED, stream(model), epoch, &mut batches);
    let members = batches.members_at(step as usize);
    let mut records: Vec<u32> = members.iter().copied().filter(|&record| record != 0).collect();
    let is_informed = case.threat_model == ThreatModel::PartiallyInformed;
    if records.len() < members.len() {
        return (records, if world(model) == World::Target { 1.0 } else { 0.0 });
    }
    if is_informed {
        records.pop();
    }
    (records, if is_informed { -1.0 } else { 0.0 })
}

/// Chosen rows beside those of the batches, of all steps and passes of two epochs.
fn compared_rows(case: &Case, rows: usize, edit: [&str; 2]) -> Result<Comparison, Failed> {
    let plan = GpuPlan::new(&case.training()?, rows)?;
    let [from, to] = edit;
    let wave = Wave::new(&plan, RUNS)?;
    let wave = if from.is_empty() { wave } else { wave.broken("select_rows", from, to) };
    let (mut found, mut expected) = (Vec::new(), Vec::new());
    for (epoch, step) in [0, 1].into_iter().flat_map(|e| (0..case.steps).map(move |s| (e, s))) {
        for pass in 0..plan.passes(None) {
            wave.run(plan.select_rows(), &plan.pass_params(place(epoch, step, pass)))?;
            found.extend(wave.words(Binding::Rows)?.concat());
            for model in 0..2 * RUNS as usize {
                let (records, multiple) = taken(case, model, epoch, step);
                expected.extend(plan.host_rows(&records, multiple, pass));
            }
        }
    }
    // the sign of a zero is unspecified
    let unsigned = |words: Vec<u32>| words.into_iter().map(|w| if w == 1 << 31 { 0 } else { w });
    let found: Vec<u32> = unsigned(found).collect();
    Ok(exact(&found, &unsigned(expected).collect::<Vec<u32>>()))
}

fn samplers() -> [BatchSampler; 5] {
    [
        BatchSampler::Shuffle,
        BatchSampler::PersistentShuffle,
        BatchSampler::Deterministic,
        BatchSampler::PartialShuffle { buffer_examples: 10 },
        BatchSampler::PartialShuffle { buffer_examples: 3 },
    ]
}

fn rows_match_the_batches() -> Result<(), Failed> {
    let (_, linear) = &every_layer()[0];
    for sampler in samplers() {
        for threat_model in [ThreatModel::TargetCanary, ThreatModel::PartiallyInformed] {
            let case = Case { sampler, threat_model, ..Case::new(linear) };
            for rows in [100, 3] {
                let what = format!("{sampler:?} {threat_model:?} {rows}");
                compared_rows(&case, rows, ["", ""])?.agrees(&what)?;
            }
        }
    }
    let many = Case { batch_size: 130, steps: 2, ..Case::new(linear) };
    compared_rows(&many, 1000, ["", ""])?.agrees("130 rows")?;
    let one = Case { batch_size: 1, steps: 3, ..Case::new(linear) };
    compared_rows(&one, 1000, ["", ""])?.agrees("no row")
}

fn broken_rows() -> Result<(), Failed> {
    let (_, linear) = &every_layer()[0];
    for (sampler, from, to) in [
        (BatchSampler::Shuffle, "index >= slot", "index > slot"),
        (BatchSampler::Shuffle, "halves.x - round_of", "halves.x + round_of"),
        (BatchSampler::Shuffle, "(number.x & 1u) == 1u", "(number.x & 1u) == 2u"),
        (BatchSampler::Shuffle, "(run.y << 1u) |", "0u *"),
        (BatchSampler::PartialShuffle { buffer_examples: 10 }, "order_of(block,", "order_of(0u,"),
        (BatchSampler::Deterministic, "model < params.runs", "model >= params.runs"),
    ] {
        let case =
            Case { sampler, threat_model: ThreatModel::PartiallyInformed, ..Case::new(linear) };
        compared_rows(&case, 5, [from, to])?.differs(from)?;
    }
    Ok(())
}

/// Sums of a step, each from the model's own parameters, in parts of what clipping lets through.
struct Sums {
    found: Vec<Vec<f32>>,
    expected: Vec<Vec<f32>>,
    size: f64,
}

impl Sums {
    /// The second step, after one that has drawn the models apart.
    fn of(case: &Case, rows: usize, edit: [&str; 3]) -> Result<Sums, Failed> {
        let training = case.training()?;
        let plan = GpuPlan::new(&training, rows)?;
        let wave = Wave::new(&plan, RUNS)?;
        let [name, from, to] = edit;
        let wave = if name.is_empty() { wave } else { wave.broken(name, from, to) };
        wave.run(plan.initialize(), &plan.pass_params(place(0, 0, 0)))?;
        let pass = |step, pass| {
            let turn = plan.pass_params(place(0, step, pass));
            wave.run(plan.select_rows(), &turn)?;
            wave.run(plan.pass(), &turn)
        };
        (0..plan.passes(None)).try_for_each(|number| pass(0, number))?;
        wave.run(plan.finish(), &plan.pass_params(place(0, 0, 0)))?;
        (0..plan.passes(None)).try_for_each(|number| pass(1, number))?;
        let theta = wave.floats(Binding::Theta)?;
        let network = Network::new(&case.spec)?;
        let mut work = Workspace::new(&network, case.batch_size as usize);
        let mut sum = |(model, theta): (usize, &Vec<f32>)| {
            let (records, _) = taken(case, model, 0, 1);
            let (mut examples, mut labels) = (Vec::new(), Vec::new());
            training.examples().fill(&records, &mut examples, &mut labels);
            let rows = Rows { examples: &examples, labels: &labels };
            let (mut out, mut norms) = (vec![0.0; theta.len()], Vec::new());
            network.clipped_sum(theta, rows, CLIP_NORM as f32, &mut work, &mut out, &mut norms);
            out
        };
        let expected = theta.iter().enumerate().map(&mut sum).collect();
        let size = CLIP_NORM * f64::from(case.batch_size).sqrt();
        Ok(Sums { found: wave.floats(Binding::Sums)?, expected, size })
    }

    /// The largest ‖found − expected‖ of a model.
    fn compared(&self) -> Comparison {
        let distance = |(found, expected): (&Vec<f32>, &Vec<f32>)| {
            let differences =
                found.iter().zip(expected).map(|(a, b)| f64::from(*a) - f64::from(*b));
            differences.map(|x| x * x).sum::<f64>().sqrt() / self.size
        };
        let distances: Vec<f64> = self.found.iter().zip(&self.expected).map(distance).collect();
        within(&distances, &vec![0.0; distances.len()], &vec![SUMS; distances.len()], SUMS)
    }
}

/// ‖error‖ of a sum, in parts of C·√B.
const SUMS: f64 = 5e-6;

fn row_sums_match_the_cpu() -> Result<(), Failed> {
    for (index, (name, spec)) in every_layer().into_iter().enumerate() {
        // rows at a time matter to no layer by itself
        let rows = [100, 3].into_iter().take(if index % 3 == 1 { 2 } else { 1 });
        for rows in rows {
            let sums = Sums::of(&Case::new(&spec), rows, ["", "", ""])?;
            sums.compared().agrees(&format!("{name}, {rows} rows at a time"))?;
        }
    }
    let (_, mlp) = &every_layer()[1];
    let one = Case { batch_size: 1, ..Case::new(mlp) };
    Sums::of(&one, 4, ["", "", ""])?.compared().agrees("one row or none")?;
    let many = Case { batch_size: 150, ..Case::new(mlp) };
    Sums::of(&many, 64, ["", "", ""])?.compared().agrees("150 rows, 64 at a time")
}

fn sums_of_whole_models() -> Result<(), Failed> {
    for (spec, batch_size) in
        [(ModelSpec::mlp(), 9), (ModelSpec::lenet(), 3), (ModelSpec::cnn(), 2)]
    {
        let case = Case { batch_size, steps: 2, learning_rate: 0.02, ..Case::new(&spec) };
        Sums::of(&case, 100, ["", "", ""])?.compared().agrees("a whole model")?;
    }
    Ok(())
}

fn broken_sums() -> Result<(), Failed> {
    let models = every_layer();
    let [linear, mlp, cnn, odd, smooth, normed] =
        [0, 1, 4, 8, 10, 12].map(|model| &models[model].1);
    for (spec, name, from, to) in [
        (
            mlp,
            "linear sums",
            "return times(factor(row), output_gradient(row, out));",
            "return output_gradient(row, out);",
        ),
        (mlp, "linear forward", "sum + theta", "sum + 0.0 * theta"),
        (
            mlp,
            "linear sums",
            "if (at == INPUTS) { return real(1.0); }",
            "if (at == INPUTS) { return Real(); }",
        ),
        (linear, "factors", "square += (x.x + 1.0)", "square += x.x"),
        (mlp, "factors", "const CLIP_NORM: f32 = 0.75f", "const CLIP_NORM: f32 = 0.7501f"),
        (mlp, "loss", "gradient -= real(1.0);", ""),
        (
            mlp,
            "linear input_gradient",
            "gradient = activation_gradient(",
            "gradient = x + 0.0 * activation_gradient(",
        ),
        (cnn, "convolution forward", "y * WIDTH + x, y, x);", "y * WIDTH + x + 1u, y, x);"),
        (cnn, "convolution input_gradient", "+ term % SQUARE;", "+ (SQUARE - 1u - term % SQUARE);"),
        (cnn, "convolution gradients", "square += primal(sum)", "square += 1.001 * primal(sum)"),
        (cnn, "saved sums", "sum += times(factor(row)", "sum += times(factor(0u)"),
        (cnn, "pooling input_gradient", "WIDTH_OUT + x;", "WIDTH_OUT + 0u;"),
        (odd, "pooling forward", "return sum * FACTOR;", "return sum * 1.0001 * FACTOR;"),
        (smooth, "pooling forward", "0.5 + 0.5 * (z * p / d)", "0.5 + 0.49 * (z * p / d)"),
        (smooth, "pooling forward", "2.0 * s * series", "1.9 * s * series"),
        (smooth, "pooling forward", "return number * FACTOR;", "return number * 1.01 * FACTOR;"),
        (smooth, "pooling input_gradient", "* NORMAL_AT_0;", "* 1.1 * NORMAL_AT_0;"),
        (smooth, "pooling input_gradient", "select(1.0, u, x < 0.0)", "select(1.0, u, x < 0.5)"),
        (smooth, "pooling input_gradient", "return real(FACTOR);", "return real(1.01 * FACTOR);"),
        (normed, "norm forward", "+ EPSILON", ""),
        (normed, "norm gradients", "weighted - constant", "weighted"),
        (normed, "norm gradients", "sum.first * SHARE", "sum.first * 0.99 * SHARE"),
        (normed, "norm gradients", "square += a * a", "square += 0.9 * a * a"),
    ] {
        let sums = Sums::of(&Case::new(spec), 100, [name, from, to])?;
        sums.compared().differs(&format!("{name}: {from}"))?;
    }
    let rows = ["linear sums", "params.is_first_pass == 1u", "params.is_first_pass <= 1u"];
    Sums::of(&Case::new(mlp), 3, rows)?.compared().differs("earlier passes forgotten")
}

fn a_lost_sum_is_nan() -> Result<(), Failed> {
    for (name, spec) in every_layer().into_iter().step_by(2) {
        let case = Case::new(&spec);
        let plan = GpuPlan::new(&case.training()?, 100)?;
        let wave = Wave::new(&plan, RUNS)?;
        let turn = plan.pass_params(place(0, 0, 0));
        wave.run(plan.initialize(), &turn)?;
        let mut theta = wave.words(Binding::Theta)?;
        let last = theta[0].len() - 1;
        theta[0][last] = f32::NAN.to_bits();
        theta[1][last] = f32::INFINITY.to_bits();
        wave.write(Binding::Theta, &theta.concat());
        wave.run(plan.select_rows(), &turn)?;
        wave.run(plan.pass(), &turn)?;
        let sums = wave.floats(Binding::Sums)?;
        let lost: Vec<bool> = sums.iter().map(|sum| sum.iter().any(|x| x.is_nan())).collect();
        exact(&lost, &[true, true, false, false]).agrees(name)?;
    }
    Ok(())
}

fn expected_canary(case: &Case, model: usize, parameters: usize) -> Vec<f64> {
    let mut drawn = vec![0.0_f32; parameters];
    match case.direction {
        CanaryDirection::Random => {
            let stream = stream(model);
            VectorNormals::new(SEED, Purpose::TrainCanary, stream).add(0, 1.0, &mut drawn);
        }
        CanaryDirection::Dirac => {
            let mut word = [0];
            stream_words(SEED, Purpose::TrainCanary, stream(model), 0, &mut word);
            drawn[((u64::from(word[0]) * parameters as u64) >> 32) as usize] = 1.0;
        }
    }
    let drawn: Vec<f64> = drawn.into_iter().map(f64::from).collect();
    let length = drawn.iter().map(|x| x * x).sum::<f64>().sqrt();
    drawn.into_iter().map(|x| x / length).collect()
}

/// Canaries beside those of the CPU, in parts of the size of an entry.
fn compared_canaries(case: &Case, edit: [&str; 3]) -> Result<Comparison, Failed> {
    let plan = GpuPlan::new(&case.training()?, 100)?;
    let wave = Wave::new(&plan, RUNS)?;
    let [name, from, to] = edit;
    let wave = if name.is_empty() { wave } else { wave.broken(name, from, to) };
    wave.run(plan.initialize(), &plan.pass_params(place(0, 0, 0)))?;
    let theta = wave.words(Binding::Theta)?;
    let parameters = plan.words_per_model().theta;
    if theta.iter().any(|theta| theta[..] != plan.data()[..parameters]) {
        return Err("other initial parameters".into());
    }
    let size = (parameters as f64).sqrt();
    let found = wave.floats(Binding::Canary)?.concat();
    let found: Vec<f64> = found.into_iter().map(|x| f64::from(x) * size).collect();
    let models = (0..2 * RUNS as usize).map(|model| expected_canary(case, model, parameters));
    let expected: Vec<f64> = models.flatten().map(|x| x * size).collect();
    let tolerances: Vec<f64> = expected.iter().copied().map(normal_tolerance).collect();
    Ok(within(&found, &expected, &tolerances, SMALL_NORMAL))
}

/// Error of a normal of a GPU.
const NORMAL: f64 = 1e-5;

/// Error of a normal near 0, as drawn by a GPU.
const SMALL_NORMAL: f64 = 4.3e-4;

/// Devices round words to floats either way, which moves r² by 1.8e-7 near r = 0, hence r by 9e-8 ÷
/// r, and by √1.8e-7 at most; r is not below the normal.
fn normal_tolerance(normal: f64) -> f64 {
    (9e-8 / normal.abs()).clamp(NORMAL, SMALL_NORMAL)
}

fn beginnings() -> Result<(), Failed> {
    for (_, spec) in [&every_layer()[0], &every_layer()[4], &("mlp", ModelSpec::mlp())] {
        for direction in [CanaryDirection::Random, CanaryDirection::Dirac] {
            let case = Case { direction, is_fresh: true, ..Case::new(spec) };
            if GpuPlan::new(&case.training()?, 1)?.shared_vector().is_some() {
                continue; // a parameter that no record moves
            }
            compared_canaries(&case, ["", "", ""])?.agrees(&format!("{direction:?}"))?;
        }
    }
    let random = Case { is_fresh: true, ..Case::new(&every_layer()[4].1) };
    let dirac = Case { direction: CanaryDirection::Dirac, ..random.clone() };
    for (case, name, from, to) in [
        (
            &random,
            "initialize",
            "tile * WORKGROUP + local, 0u",
            "tile * WORKGROUP + local + 1u, 0u",
        ),
        (&random, "length", "max(parts[0], ", "max(1.0001 * parts[0], "),
        (&dirac, "initialize", "at == drawn", "at == drawn + 1u"),
    ] {
        compared_canaries(case, [name, from, to])?.differs(from)?;
    }
    Ok(())
}

/// The end of a step beside the CPU's: parameters in parts of what noise moves them by, and
/// outputs.
fn compared_end(case: &Case, edit: [&str; 3]) -> Result<[Comparison; 2], Failed> {
    let training = case.training()?;
    let plan = GpuPlan::new(&training, 100)?;
    let wave = Wave::new(&plan, RUNS)?;
    let [name, from, to] = edit;
    let wave = if name.is_empty() { wave } else { wave.broken(name, from, to) };
    // the last step of the second epoch
    let step = case.steps - 1;
    let turn = plan.pass_params(place(1, step, 0));
    wave.run(plan.initialize(), &turn)?;
    let before = wave.floats(Binding::Theta)?;
    wave.run(plan.select_rows(), &turn)?;
    wave.run(plan.pass(), &turn)?;
    wave.run(plan.finish(), &turn)?;
    let (sums, canaries) = (wave.floats(Binding::Sums)?, wave.floats(Binding::Canary)?);
    let (after, outputs) = (wave.floats(Binding::Theta)?, wave.floats(Binding::Outputs)?);
    let noise = case.noise_multiplier * CLIP_NORM;
    let number = 2 * case.steps - 1;
    let (mut moves, mut expected_moves, mut tolerances) = (Vec::new(), Vec::new(), Vec::new());
    let (mut found, mut expected) = (Vec::new(), Vec::new());
    for model in 0..sums.len() {
        let mut normals = vec![0.0; sums[model].len()];
        let mut stream = VectorNormals::new(SEED, Purpose::TrainNoise, stream(model));
        stream.add(number.into(), 1.0, &mut normals);
        let (_, multiple) = taken(case, model, 1, step);
        let mut along = 0.0;
        for at in 0..normals.len() {
            let direction = f64::from(canaries[model][at]);
            let sum = f64::from(sums[model][at])
                + multiple * CLIP_NORM * direction
                + noise * f64::from(normals[at]);
            along += sum * direction;
            let change = f64::from(before[model][at]) - f64::from(after[model][at]);
            moves.push(change / case.rate() / noise);
            expected_moves.push(sum / noise);
            tolerances.push(normal_tolerance(normals[at].into()));
        }
        found.push(f64::from(outputs[model][number as usize]) / case.noise_multiplier);
        expected.push(along / CLIP_NORM / case.noise_multiplier);
    }
    Ok([
        within(&moves, &expected_moves, &tolerances, SMALL_NORMAL),
        within(&found, &expected, &vec![OUTPUT; found.len()], OUTPUT),
    ])
}

/// Error of an output in units of σ.
const OUTPUT: f64 = 5e-6;

fn step_ends_match_the_cpu() -> Result<(), Failed> {
    for (spec, direction, is_fresh) in [
        (ModelSpec::mlp(), CanaryDirection::Random, true),
        (ModelSpec::mlp(), CanaryDirection::Dirac, true),
        (every_layer()[4].1.clone(), CanaryDirection::Random, false),
        (every_layer()[4].1.clone(), CanaryDirection::Dirac, true),
    ] {
        for threat_model in [ThreatModel::TargetCanary, ThreatModel::PartiallyInformed] {
            let case = Case { direction, is_fresh, threat_model, ..Case::new(&spec) };
            let [parameters, outputs] = compared_end(&case, ["", "", ""])?;
            parameters.agrees(&format!("{direction:?}: parameters"))?;
            outputs.agrees(&format!("{direction:?}: outputs"))?;
        }
    }
    Ok(())
}

fn broken_ends() -> Result<(), Failed> {
    let spec = &every_layer()[4].1;
    let case = Case { threat_model: ThreatModel::PartiallyInformed, ..Case::new(spec) };
    for (name, from, to) in [
        ("finish", "+ NOISE * normal", "+ 0.9 * NOISE * normal"),
        (
            "finish",
            "tile * WORKGROUP + local);\nlet words",
            "tile * WORKGROUP + local + 1u);\nlet words",
        ),
        ("finish", "+ multiple * direction", "+ 0.99 * multiple * direction"),
        ("finish", "vec2<u32>(params.block_low, params.block_high)", "vec2<u32>(0u, 0u)"),
    ] {
        let [parameters, outputs] = compared_end(&case, [name, from, to])?;
        parameters.differs(&format!("{from}: parameters"))?;
        outputs.differs(&format!("{from}: outputs"))?;
    }
    let [parameters, _] = compared_end(&case, ["finish", "RATE * sum", "1.001 * RATE * sum"])?;
    parameters.differs("another rate")?;
    let [_, outputs] = compared_end(&case, ["output", "/ CLIP_NORM", "/ (1.001 * CLIP_NORM)"])?;
    outputs.differs("another clip norm")
}

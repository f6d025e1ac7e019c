//! Runs the kernels of a training on a strict simulator. Data races, out-of-bounds accesses, reads
//! of uninitialised words, non-uniform barriers and operations that WGSL leaves undefined are
//! errors.
//!
//! Software drivers execute a workgroup in a fixed order and hide such faults; hardware does not.

mod derivatives;
mod memory;
mod one_run;
mod operations;
mod simulator;
mod values;

use std::collections::BTreeMap;

use dpscope_core::mechanism::{BatchSampler, BatchedGaussian, ThreatModel};
use dpscope_formats::{Array, write_npz};
use dpscope_shaders::train::{Kernel, PassParams};
use dpscope_train::data::{Examples, LoadOptions, Source, load};
use dpscope_train::gpu::plan::{GpuPlan, PassPosition};
use dpscope_train::{
    Canary, CanaryDirection, ModelSpec, Network, Rows, Training, TrainingSettings, Workspace,
};
use naga::valid::{Capabilities, ValidationFlags, Validator};

use crate::models::{Numbers, every_layer};
use memory::SharedMemory;
use simulator::Simulator;

const BATCH_SIZE: u32 = 3;
const STEPS: u32 = 2;
const CLIP_NORM: f64 = 0.75;

/// Models of a wave, one of each world.
const MODELS: usize = 2;

/// Binding numbers.
const THETA: usize = 2;
const SUMS: usize = 3;
const ROWS: usize = 6;

const BARRIER: &str = "workgroupBarrier();";

fn examples(spec: &ModelSpec) -> Examples {
    let records = (BATCH_SIZE * STEPS) as usize;
    let shape = spec.input;
    let mut numbers = Numbers::new(5);
    let axes = match (shape.height, shape.width) {
        (1, 1) => vec![records, shape.channels],
        (height, width) => vec![records, shape.channels, height, width],
    };
    let classes = Network::new(spec).unwrap().classes();
    let x = (0..records * shape.len()).map(|_| numbers.symmetric()).collect();
    let y = (0..records).map(|record| (record % classes) as f64).collect();
    let [x, y] = [Array::new(axes, x), Array::new(vec![records], y)].map(Result::unwrap);
    let bytes = write_npz(&[("x", &x), ("y", &y)]).unwrap();
    load(Source { name: "x.npz", bytes: &bytes }, None, &LoadOptions::default()).unwrap()
}

fn training(
    spec: &ModelSpec,
    sampler: BatchSampler,
    threat_model: ThreatModel,
    direction: CanaryDirection,
) -> Training {
    let mechanism = BatchedGaussian {
        noise_multiplier: 1.0,
        steps_per_epoch: STEPS,
        epochs: 1,
        sampler,
        threat_model,
        batch_size: Some(BATCH_SIZE),
        dataset_size: None,
    };
    let canary = Canary { direction, is_fresh: true };
    let (clip_norm, learning_rate) = (CLIP_NORM, 0.5);
    let settings = TrainingSettings { clip_norm, learning_rate, canary, debias_records: 0 };
    Training::new(spec, examples(spec), mechanism, settings, 3).unwrap()
}

fn default_training(spec: &ModelSpec) -> Training {
    let threat_model = ThreatModel::TargetCanary;
    training(spec, BatchSampler::Shuffle, threat_model, CanaryDirection::Random)
}

/// Uninitialised memory of a wave.
fn memory(plan: &GpuPlan) -> Vec<SharedMemory> {
    let sizes = plan.words_per_model();
    let uninitialized = |name, words: usize| SharedMemory::uninitialized(name, MODELS * words);
    let canary = match plan.shared_vector() {
        Some(canary) => {
            let words: Vec<u32> = canary.iter().map(|entry| entry.to_bits()).collect();
            SharedMemory::filled("canary", &words)
        }
        None => uninitialized("canary", sizes.vector),
    };
    vec![
        SharedMemory::default(),
        uninitialized("values", sizes.values),
        uninitialized("theta", sizes.theta),
        uninitialized("sums", sizes.sums),
        canary,
        SharedMemory::filled("data", plan.data()),
        uninitialized("rows", sizes.rows),
        uninitialized("outputs", sizes.outputs),
    ]
}

fn simulate(
    kernel: &Kernel,
    source: &str,
    turn: &PassParams,
    memory: &mut [SharedMemory],
) -> Result<(), String> {
    simulate_models(kernel, source, turn, memory, MODELS)
}

fn simulate_models(
    kernel: &Kernel,
    source: &str,
    turn: &PassParams,
    memory: &mut [SharedMemory],
    models: usize,
) -> Result<(), String> {
    let module = naga::front::wgsl::parse_str(source).map_err(|e| e.emit_to_string(source))?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(&module);
    let info = info.map_err(|error| error.emit_to_string(source))?;
    memory[0] = SharedMemory::filled("params", &turn.words());
    let [columns, rows] = kernel.groups();
    let found = Simulator::new(&module, &info, memory).dispatch([columns, rows, models as u32]);
    found.map_err(|problem| format!("{}: {problem}", kernel.name()))
}

/// What a training calls before every kernel.
type Each<'a> = &'a mut dyn FnMut(&Kernel, &PassParams, &[SharedMemory]);

/// Executes both steps of a wave; calls `each` before every kernel.
fn train(plan: &GpuPlan, memory: &mut [SharedMemory], each: Each<'_>) -> Result<(), String> {
    let mut run = |kernels: &[Kernel], turn: &PassParams| {
        kernels.iter().try_for_each(|kernel| {
            each(kernel, turn, memory);
            simulate(kernel, &kernel.source(), turn, memory)
        })
    };
    let turn =
        |step, pass| plan.pass_params(PassPosition { first_run: 7, runs: 1, epoch: 0, step, pass });
    run(plan.initialize(), &turn(0, 0))?;
    for step in 0..STEPS {
        for pass in 0..plan.passes(None) {
            run(plan.select_rows(), &turn(step, pass))?;
            run(plan.pass(), &turn(step, pass))?;
        }
        run(plan.finish(), &turn(step, plan.passes(None) - 1))?;
    }
    Ok(())
}

#[test]
fn no_kernel_depends_on_execution_order() {
    for (index, (name, spec)) in every_layer().into_iter().enumerate() {
        let rows = if index % 2 == 0 { 2 } else { 100 };
        let plan = GpuPlan::new(&default_training(&spec), rows).unwrap();
        let found = train(&plan, &mut memory(&plan), &mut |_, _, _| {});
        found.unwrap_or_else(|problem| panic!("{name}, {rows} rows at a time: {problem}"));
    }
    let (_, linear) = &every_layer()[0];
    for sampler in [
        BatchSampler::PersistentShuffle,
        BatchSampler::Deterministic,
        BatchSampler::PartialShuffle { buffer_examples: 4 },
    ] {
        let informed = ThreatModel::PartiallyInformed;
        let training = training(linear, sampler, informed, CanaryDirection::Dirac);
        let plan = GpuPlan::new(&training, 100).unwrap();
        train(&plan, &mut memory(&plan), &mut |_, _, _| {}).unwrap();
    }
}

#[test]
fn simulated_sums_equal_those_of_the_cpu() {
    for (name, spec) in every_layer().into_iter().step_by(2) {
        let training = default_training(&spec);
        let plan = GpuPlan::new(&training, 100).unwrap();
        let (mut memory, mut seen) = (memory(&plan), Vec::new());
        let mut record = |kernel: &Kernel, _: &PassParams, memory: &[SharedMemory]| {
            if kernel.name() == "finish" {
                seen.push([THETA, SUMS, ROWS].map(|at| memory[at].words().to_vec()));
            }
        };
        train(&plan, &mut memory, &mut record).unwrap();
        let network = Network::new(&spec).unwrap();
        let mut work = Workspace::new(&network, BATCH_SIZE as usize);
        let sizes = plan.words_per_model();
        for ([theta, sums, rows], model) in
            seen.iter().flat_map(|seen| (0..MODELS).map(move |model| (seen, model)))
        {
            let of_model = |words: &[u32], size: usize| words[model * size..][..size].to_vec();
            let floats = |words: Vec<u32>| words.into_iter().map(f32::from_bits).collect();
            let theta: Vec<f32> = floats(of_model(theta, sizes.theta));
            let found: Vec<f32> = floats(of_model(sums, sizes.sums));
            let rows = of_model(rows, sizes.rows);
            let records: Vec<u32> =
                rows[..sizes.rows - 1].iter().copied().filter(|&row| row != u32::MAX).collect();
            let (mut examples, mut labels) = (Vec::new(), Vec::new());
            training.examples().fill(&records, &mut examples, &mut labels);
            let rows = Rows { examples: &examples, labels: &labels };
            let (mut expected, mut norms) = (vec![0.0; theta.len()], Vec::new());
            let clip_norm = CLIP_NORM as f32;
            network.clipped_sum(&theta, rows, clip_norm, &mut work, &mut expected, &mut norms);
            let away: f32 = found.iter().zip(&expected).map(|(a, b)| (a - b) * (a - b)).sum();
            assert!(away.sqrt() < 1e-5, "{name}: {}", away.sqrt());
        }
    }
}

/// The variants of a source without one of its barriers, each with the adjacent lines.
fn without_each_barrier(source: &str) -> Vec<(String, String)> {
    let cut = |(at, _): (usize, &str)| {
        let (before, after) = (&source[..at], &source[at + BARRIER.len()..]);
        let line = before.trim_end().lines().next_back().unwrap_or("");
        let lines = after.trim_start().lines().take(2);
        // strip tile sizes
        let lines: Vec<&str> = lines.flat_map(|line| line.split('<').next()).collect();
        (format!("{line} … {}", lines.join(" ")), format!("{before}{after}"))
    };
    source.match_indices(BARRIER).map(cut).collect()
}

#[test]
fn every_missing_barrier_is_detected() {
    // keyed by adjacent lines: not every kernel executes every function and loop of its source
    let mut caught: BTreeMap<String, bool> = BTreeMap::new();
    for (_, spec) in every_layer() {
        let plan = GpuPlan::new(&default_training(&spec), 100).unwrap();
        let mut remove_barriers = |kernel: &Kernel, turn: &PassParams, memory: &[SharedMemory]| {
            for (place, source) in without_each_barrier(&kernel.source()) {
                let caught = caught.entry(place).or_default();
                if !*caught {
                    let found = simulate(kernel, &source, turn, &mut memory.to_vec());
                    *caught = found.is_err_and(|problem| problem.contains("race"));
                }
            }
        };
        train(&plan, &mut memory(&plan), &mut remove_barriers).unwrap();
    }
    let missed: Vec<_> = caught.iter().filter(|(_, caught)| !**caught).collect();
    assert!(missed.is_empty() && caught.len() >= 12, "{missed:?} of {}", caught.len());
}

/// Whether a training with every kernel as it is succeeds, and the kernel `name`, with `to` in place of
/// `from`, fails with `message` beside it.
fn catches(
    name: &str,
    (from, to): (&str, &str),
    message: &str,
    train: impl FnOnce(Each<'_>) -> Result<(), String>,
) -> bool {
    let mut caught = false;
    let found = train(&mut |kernel, turn, memory| {
        let source = kernel.source().replace(from, to);
        if kernel.name() == name && source != kernel.source() {
            let found = simulate(kernel, &source, turn, &mut memory.to_vec());
            caught |= found.is_err_and(|problem| problem.contains(message));
        }
    });
    found.is_ok() && caught
}

#[test]
fn broken_kernels_are_rejected() {
    let (_, mlp) = &every_layer()[1];
    let plan = GpuPlan::new(&default_training(mlp), 100).unwrap();
    for (name, from, to, message) in [
        ("loss", "select(0u, OUTPUTS, row < ROWS)", "OUTPUTS", "values["),
        ("finish", "if (at >= PARAMETERS) { return; }", "", "["),
        ("initialize", "if (at >= PARAMETERS) { return; }", "", "["),
        (
            "initialize",
            "parts[local] = square;",
            "if (local > 0u) { parts[local] = square; }",
            "before",
        ),
        ("initialize", "parts[local] = square;", "if (local > 9u) { return; }", "by 10 lanes"),
        ("linear sums", "sums[place] = x;", "sums[0] = x;", "race"),
        ("select_rows", "32u - half_bits", "28u + half_bits", "ShiftRight"),
        ("factors", "max(square, 1e-30)", "min(square, 0.0)", "√0"),
    ] {
        let is_caught =
            catches(name, (from, to), message, |each| train(&plan, &mut memory(&plan), each));
        assert!(is_caught, "{name}: {from} -> {to}");
    }
}

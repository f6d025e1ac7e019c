//! The kernels of trainings with many canaries on the simulator.

use dpscope_core::mechanism::{BatchSampler, BatchedGaussian, ThreatModel};
use dpscope_shaders::train::{Kernel, PassParams};
use dpscope_train::data::Examples;
use dpscope_train::gpu::plan::{GpuPlan, PassPosition};
use dpscope_train::one_run::{CanarySlots, OneRunSettings, OneRunTraining};
use dpscope_train::{ModelSpec, Network};

use super::memory::SharedMemory;
use super::{Each, catches, memory, simulate, without_each_barrier};
use crate::models::{Numbers, every_layer};

const STEPS: u32 = 3;
const CANARIES: u32 = 5;

fn records(name: &str, spec: &ModelSpec, count: u32) -> Examples {
    let mut numbers = Numbers::new(u64::from(count));
    let classes = Network::new(spec).unwrap().classes();
    let values = (0..count as usize * spec.input.len()).map(|_| numbers.symmetric() as f32);
    let labels = (0..count).map(|record| record % classes as u32).collect();
    Examples::from_values(name, spec.input, classes, labels, values.collect()).unwrap()
}

/// A plan with `rows` rows per pass, from parameters of its own.
fn plan(spec: &ModelSpec, sampler: BatchSampler, rows: usize) -> GpuPlan {
    let mechanism = BatchedGaussian {
        noise_multiplier: 1.0,
        steps_per_epoch: STEPS,
        epochs: 1,
        sampler,
        threat_model: ThreatModel::TargetCanary,
        batch_size: Some(3),
        dataset_size: None,
    };
    let settings = OneRunSettings {
        clip_norm: 0.75,
        learning_rate: 0.5,
        momentum: 0.5,
        slots: CanarySlots::of(sampler),
        is_white_box: true,
        debias_records: 0,
        pre_training: None,
    };
    let (base, canaries) = (records("base", spec, 9), records("canaries", spec, CANARIES));
    let training = OneRunTraining::new(spec, base, canaries, mechanism, settings, 3).unwrap();
    let mut numbers = Numbers::new(8);
    let count = Network::new(spec).unwrap().parameters();
    let start: Vec<f32> = (0..count).map(|_| 0.3 * numbers.symmetric() as f32).collect();
    GpuPlan::of_one_run(&training, &start, rows).unwrap()
}

/// Executes a wave of two units; calls `each` before every kernel.
fn train(plan: &GpuPlan, memory: &mut [SharedMemory], each: Each<'_>) -> Result<(), String> {
    let stages = plan.stages();
    let mut run = |kernels: &[Kernel], step, pass| {
        let position = PassPosition { first_run: 7, runs: 2, epoch: 0, step, pass };
        let turn = plan.pass_params(position);
        kernels.iter().try_for_each(|kernel| {
            each(kernel, &turn, memory);
            simulate(kernel, &kernel.source(), &turn, memory)
        })
    };
    run(&stages.begin, 0, 0)?;
    for step in 0..STEPS {
        for pass in 0..plan.passes(None) {
            run(&stages.choose, step, pass)?;
            run(&stages.pass, step, pass)?;
        }
        run(&stages.release, step, 0)?;
        for pass in 0..plan.passes(Some(plan.observed() as usize)) {
            run(&stages.observe, step, pass)?;
        }
        run(&stages.finish, step, 0)?;
    }
    for pass in 0..plan.passes(Some(plan.evaluated() as usize)) {
        run(&stages.evaluate, 0, pass)?;
    }
    Ok(())
}

#[test]
fn no_one_run_kernel_depends_on_execution_order() {
    for (index, (name, spec)) in every_layer().into_iter().enumerate() {
        let sampler = match index % 3 {
            0 => BatchSampler::Shuffle,
            1 => BatchSampler::Deterministic,
            _ => BatchSampler::PartialShuffle { buffer_examples: 4 },
        };
        let plan = plan(&spec, sampler, if index % 2 == 0 { 2 } else { 100 });
        let found = train(&plan, &mut memory(&plan), &mut |_, _, _| {});
        found.unwrap_or_else(|problem| panic!("{name}: {problem}"));
    }
}

#[test]
fn every_missing_barrier_of_scores_is_detected() {
    let (_, mlp) = &every_layer()[1];
    let plan = plan(mlp, BatchSampler::Shuffle, 100);
    let mut missed = Vec::new();
    let mut count = 0;
    let mut remove_barriers = |kernel: &Kernel, turn: &PassParams, memory: &[SharedMemory]| {
        // the second step has a velocity
        let is_once = turn.output == 1 || kernel.name() == "losses";
        if !is_once || !["losses", "row_products"].contains(&kernel.name()) {
            return;
        }
        for (place, source) in without_each_barrier(&kernel.source()) {
            count += 1;
            let found = simulate(kernel, &source, turn, &mut memory.to_vec());
            if !found.is_err_and(|problem| problem.contains("race")) {
                missed.push(format!("{}: {place}", kernel.name()));
            }
        }
    };
    train(&plan, &mut memory(&plan), &mut remove_barriers).unwrap();
    assert!(missed.is_empty() && count >= 6, "{missed:?} of {count}");
}

#[test]
fn broken_one_run_kernels_are_rejected() {
    let (_, mlp) = &every_layer()[1];
    let plan = plan(mlp, BatchSampler::Shuffle, 100);
    for (name, from, to, message) in [
        ("losses", "row < ROWS && index < COUNT", "row < ROWS", "["),
        ("descend", "params.output > 0u", "true", "before"),
        ("descend", "if (at >= PARAMETERS) { return; }", "", "["),
        ("noise", "if (at < PARAMETERS)", "if (true)", "["),
        ("row_products", "local == 0u && index < COUNT", "local == 0u", "["),
    ] {
        let is_caught =
            catches(name, (from, to), message, |each| train(&plan, &mut memory(&plan), each));
        assert!(is_caught, "{name}: {from} -> {to}");
    }
}

//! The kernels of a training on a device.

use std::sync::Arc;

use dpscope_engine::backend::gpu::{Failure, OpenDevice};
use dpscope_shaders::train::Kernel;
use rayon::prelude::*;

use super::plan::GpuPlan;
use super::self_test;
use super::size::{Need, WaveLimits};
use crate::TrainError;
use crate::training::Training;

/// Bytes of a turn in the uniform buffer: the offset that every device can bind.
pub(super) const SLOT_BYTES: u64 = 256;

/// Bindings of a kernel: a uniform, and storage.
const BUFFERS: u32 = 8;

/// Turns of one submission.
pub(super) const SLOTS: usize = 256;

/// Models that fit where there is a choice of how many rows are worked on together.
const FEWEST_RUNS: u64 = 4;

/// What tests make of a kernel's source.
pub(super) type Change = fn(&Kernel) -> String;

/// A kernel that can be dispatched.
#[derive(Debug)]
pub(super) struct Pipeline {
    pub(super) pipeline: wgpu::ComputePipeline,
    /// Of a model.
    pub(super) groups: [u32; 2],
    /// Of a model.
    pub(super) operations: u64,
}

/// A training on a device, before there is any model.
#[derive(Debug)]
pub(super) struct Pipelines {
    pub(super) open: Arc<OpenDevice>,
    pub(super) plan: GpuPlan,
    pub(super) layout: wgpu::BindGroupLayout,
    pub(super) begin: Vec<Pipeline>,
    pub(super) choose: Vec<Pipeline>,
    pub(super) pass: Vec<Pipeline>,
    pub(super) finish: Vec<Pipeline>,
    pub(super) need: Need,
    /// Runs of each world that fit.
    pub(super) most_runs: u64,
}

impl Pipelines {
    /// Compiles the training's kernels, as `change` makes them where it is given.
    pub(super) fn new(
        open: &Arc<OpenDevice>,
        training: &Training,
        limits: &WaveLimits,
        pool: &rayon::ThreadPool,
        change: Option<Change>,
    ) -> Result<Self, Failure> {
        let own = open.device().limits();
        fits(&own)?;
        let buffer_bytes = own.max_storage_buffer_binding_size.min(own.max_buffer_size);
        let buffer_bytes = limits.planned_bytes.unwrap_or(buffer_bytes);
        let (plan, need) = planned(training, limits.memory_bytes, buffer_bytes)?;
        let most_runs = need.runs(limits.memory_bytes, buffer_bytes).min(limits.runs);
        let layout = layout(open.device());
        let compile = |kernels: &[Kernel]| -> Result<Vec<Pipeline>, Failure> {
            let compile = |kernel: &Kernel| compiled(open, &layout, kernel, change);
            pool.install(|| kernels.par_iter().map(compile).collect())
        };
        Ok(Pipelines {
            open: open.clone(),
            begin: compile(plan.begin())?,
            choose: compile(plan.choose())?,
            pass: compile(plan.pass())?,
            finish: compile(plan.finish())?,
            plan,
            layout,
            need,
            most_runs,
        })
    }

    /// Operations of a model in the heaviest dispatch.
    pub(super) fn heaviest(&self) -> u64 {
        let lists = [&self.begin, &self.choose, &self.pass, &self.finish];
        let all = lists.into_iter().flatten().map(|kernel| kernel.operations);
        all.fold(1, u64::max)
    }
}

/// Whether a device binds and runs what every kernel of a training needs.
fn fits(limits: &wgpu::Limits) -> Result<(), Failure> {
    let group = limits.max_compute_invocations_per_workgroup;
    for (what, has, needs) in [
        ("storage buffers of a kernel", limits.max_storage_buffers_per_shader_stage, BUFFERS - 1),
        ("invocations of a workgroup", group.min(limits.max_compute_workgroup_size_x), 64),
        ("bytes of workgroup memory", limits.max_compute_workgroup_storage_size, 16_384),
        ("workgroups of a dispatch", limits.max_compute_workgroups_per_dimension, 65_535),
        ("dynamic uniform buffers", limits.max_dynamic_uniform_buffers_per_pipeline_layout, 1),
    ] {
        if has < needs {
            let reason = format!("the device has {has} {what}, and training needs {needs}");
            return Err(Failure::Unfit(reason));
        }
    }
    Ok(())
}

/// The plan with the most rows at a time of which a few models fit.
fn planned(
    training: &Training,
    memory_bytes: u64,
    buffer_bytes: u64,
) -> Result<(GpuPlan, Need), Failure> {
    let refused = |error: TrainError| Failure::Unfit(error.to_string());
    let mut rows = training.most_rows().max(1);
    loop {
        let plan = GpuPlan::new(training, rows);
        let is_last = rows == 1;
        rows = rows.div_ceil(2);
        match plan {
            Err(error) if is_last => return Err(refused(error)),
            Err(_) => {}
            Ok(plan) => {
                let need = need(training, &plan);
                let runs = need.runs(memory_bytes, buffer_bytes);
                if runs >= FEWEST_RUNS || is_last && runs > 0 {
                    return Ok((plan, need));
                }
                if is_last {
                    return Err(too_large(&need, memory_bytes, buffer_bytes));
                }
            }
        }
    }
}

fn too_large(need: &Need, memory_bytes: u64, buffer_bytes: u64) -> Failure {
    let mib = |bytes: u64| bytes.div_ceil(1 << 20);
    let largest = 2 * need.models.iter().copied().fold(need.once, u64::max);
    Failure::Unfit(format!(
        "a model of each world takes {} MiB of the device's memory, {} MiB in one buffer, and {} MiB \
         may be used, {} MiB in one buffer",
        mib(need.bytes(1)),
        mib(largest),
        mib(memory_bytes),
        mib(buffer_bytes),
    ))
}

/// What waves of a plan need, on their way to the device and back as well.
fn need(training: &Training, plan: &GpuPlan) -> Need {
    let sizes = plan.words_per_model();
    let words = [sizes.values, sizes.theta, sizes.sums, sizes.canary, sizes.rows, sizes.outputs];
    let fixed = plan.fixed_canary().map_or(0, <[f32]>::len);
    let read_models = self_test::MODELS.max(2 * training.evaluated_runs()) as usize;
    // rows that the host writes: an epoch is kept, and three passes are under way
    let is_drawn_here = plan.choose().is_empty();
    let drawn =
        if is_drawn_here { training.batches.records() as usize + 3 * sizes.rows } else { 0 };
    Need {
        models: words.iter().map(|&words| 4 * words as u64).collect(),
        passing: 4 * (sizes.outputs + drawn) as u64,
        once: 4 * (2 * plan.data().len() + fixed + read_models * sizes.theta) as u64
            + SLOT_BYTES * SLOTS as u64,
    }
}

/// One layout for all kernels.
fn layout(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    let entry = |binding: u32| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty: match binding {
                0 => wgpu::BufferBindingType::Uniform,
                binding => wgpu::BufferBindingType::Storage { read_only: binding == 5 },
            },
            has_dynamic_offset: binding == 0,
            min_binding_size: None,
        },
        count: None,
    };
    let entries: Vec<wgpu::BindGroupLayoutEntry> = (0..BUFFERS).map(entry).collect();
    let descriptor = wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries };
    device.create_bind_group_layout(&descriptor)
}

fn compiled(
    open: &OpenDevice,
    layout: &wgpu::BindGroupLayout,
    kernel: &Kernel,
    change: Option<Change>,
) -> Result<Pipeline, Failure> {
    let module = |device: &wgpu::Device| Some(module(device, kernel, change));
    let named = |reason: &str| format!("kernel {}: {reason}", kernel.name());
    match pollster::block_on(open.pipeline(layout, module, Kernel::ENTRY)) {
        Ok(Some(pipeline)) => {
            let (groups, operations) = (kernel.groups(), kernel.operations());
            Ok(Pipeline { pipeline, groups, operations })
        }
        Ok(None) => Err(Failure::Unfit(named("no module"))),
        Err(Failure::Unfit(reason)) => Err(Failure::Unfit(named(&reason))),
        Err(failure) => Err(failure),
    }
}

fn module(device: &wgpu::Device, kernel: &Kernel, change: Option<Change>) -> wgpu::ShaderModule {
    let text = change.map_or_else(|| kernel.source(), |change| change(kernel));
    let source = wgpu::ShaderSource::Wgsl(text.into());
    let descriptor = wgpu::ShaderModuleDescriptor { label: Some(kernel.name()), source };
    if change.is_some() {
        return device.create_shader_module(descriptor);
    }
    // SAFETY: the source is put together by `GpuPlan` from constant texts of this workspace and from
    // the sizes by which `Buffers` makes the buffers: places of rows, values and parameters lie within
    // those of their model, records within the data. Loops end: over tiles, rows and windows, and over
    // the tries of an `Order`, a permutation that comes back to its domain.
    unsafe {
        device.create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked())
    }
}

#[cfg(test)]
mod tests {
    use dpscope_core::mechanism::{BatchSampler, BatchedGaussian, ThreatModel};

    use super::*;
    use crate::data::SyntheticData;
    use crate::{Canary, CanaryDirection, ModelSpec, TrainingSettings};

    #[test]
    fn devices_that_cannot_bind_a_kernel_are_refused() {
        assert_eq!(fits(&wgpu::Limits::default()), Ok(()));
        for less in [
            wgpu::Limits { max_storage_buffers_per_shader_stage: 6, ..Default::default() },
            wgpu::Limits { max_compute_invocations_per_workgroup: 63, ..Default::default() },
            wgpu::Limits { max_compute_workgroup_storage_size: 8_192, ..Default::default() },
            wgpu::Limits { max_compute_workgroups_per_dimension: 1_024, ..Default::default() },
            wgpu::Limits::downlevel_webgl2_defaults(),
        ] {
            let Err(Failure::Unfit(reason)) = fits(&less) else { panic!("it fits: {less:?}") };
            assert!(reason.contains("training needs"), "{reason}");
        }
    }

    /// What a device of WebGPU's own limits trains.
    #[test]
    fn models_fit_the_least_that_devices_give() {
        let limits = wgpu::Limits::default();
        let buffer_bytes = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
        for (spec, synthetic, all_rows) in [
            (ModelSpec::mlp(), SyntheticData::P100Like, true),
            (ModelSpec::lenet(), SyntheticData::FmnistLike, true),
            (ModelSpec::cnn(), SyntheticData::CifarLike, false),
        ] {
            let mechanism = BatchedGaussian {
                noise_multiplier: 1.0,
                steps_per_epoch: 2,
                epochs: 1,
                sampler: BatchSampler::Shuffle,
                threat_model: ThreatModel::TargetCanary,
                batch_size: Some(100),
            };
            let canary = Canary { direction: CanaryDirection::Random, is_fresh: true };
            let (clip_norm, learning_rate) = (1.0, 0.1);
            let settings = TrainingSettings { clip_norm, learning_rate, canary, debias_records: 0 };
            let examples = synthetic.generate(200, 0).unwrap();
            let training = Training::new(&spec, examples, mechanism, settings, 1).unwrap();
            let (plan, need) = planned(&training, 1 << 30, buffer_bytes).unwrap();
            assert_eq!(plan.rows() == 100, all_rows, "{} rows", plan.rows());
            let runs = need.runs(1 << 30, buffer_bytes);
            let largest = need.models.iter().copied().fold(0, u64::max);
            assert!(runs >= FEWEST_RUNS && 2 * runs * largest <= buffer_bytes, "{runs} runs");
            assert!(planned(&training, 1 << 30, 1 << 12).is_err());
        }
    }
}

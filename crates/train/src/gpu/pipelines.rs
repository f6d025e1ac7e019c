//! The compiled kernels of a training.

use std::sync::Arc;

use dpscope_engine::GpuError;
use dpscope_engine::gpu::OpenDevice;
use dpscope_shaders::train::Kernel;

use super::plan::{GpuPlan, Stages};
use super::size::{MemoryNeed, WaveLimits};
use super::subject::Subject;
use crate::TrainError;
use crate::threads::Threads;

/// Bytes per slot of the uniform buffer: the offset alignment that every device supports.
pub(super) const SLOT_BYTES: u64 = 256;

/// Bindings of a kernel: one uniform buffer, the rest storage buffers.
const BUFFERS: u32 = 8;

/// Slots of the uniform buffer, which limits the passes of a submission.
pub(super) const SLOTS: usize = 256;

/// Models of the self-test, of both worlds together.
pub(super) const SELF_TEST_MODELS: u64 = 4;

/// Units that must fit in memory; if necessary, fewer rows are processed together.
const MIN_UNITS: u64 = 4;

/// Modifies the source of a kernel. For tests.
pub type SourceEdit = fn(&Kernel) -> String;

/// A compiled kernel.
#[derive(Debug)]
pub(super) struct Pipeline {
    pub(super) pipeline: wgpu::ComputePipeline,
    /// Workgroups per model.
    pub(super) groups: [u32; 2],
    /// Operations per model.
    pub(super) operations: u64,
}

/// All kernels of a training, compiled for a device.
#[derive(Debug)]
pub(super) struct Pipelines {
    pub(super) open: Arc<OpenDevice>,
    pub(super) plan: GpuPlan,
    pub(super) layout: wgpu::BindGroupLayout,
    pub(super) kernels: Stages<Pipeline>,
    pub(super) need: MemoryNeed,
    /// Maximum number of units.
    pub(super) max_units: u64,
}

impl Pipelines {
    /// Compiles the kernels of a training, after applying `edit` to their sources.
    pub(super) async fn new(
        open: &Arc<OpenDevice>,
        subject: &Subject<'_>,
        threads: &Threads,
        limits: &WaveLimits,
        edit: Option<SourceEdit>,
    ) -> Result<Self, GpuError> {
        let device_limits = open.device().limits();
        check_limits(&device_limits)?;
        let buffer_bytes =
            device_limits.max_storage_buffer_binding_size.min(device_limits.max_buffer_size);
        let buffer_bytes = limits.planned_bytes.unwrap_or(buffer_bytes);
        let (plan, need) = plan_within(subject, limits.memory_bytes, buffer_bytes)?;
        let max_units = need.units(limits.memory_bytes, buffer_bytes).min(limits.runs);
        let layout = layout(open.device());
        let compile =
            async |kernels: &[Kernel]| compile_all(open, &layout, kernels, edit, threads).await;
        let kernels = plan.stages().try_map(compile).await?;
        Ok(Pipelines { open: open.clone(), kernels, plan, layout, need, max_units })
    }

    /// Operations per model of the most expensive kernel.
    pub(super) fn max_operations(&self) -> u64 {
        self.kernels.all().map(|kernel| kernel.operations).fold(1, u64::max)
    }
}

/// Checks that a device supports the bindings and workgroups of all kernels.
pub(super) fn check_limits(limits: &wgpu::Limits) -> Result<(), GpuError> {
    let group = limits.max_compute_invocations_per_workgroup;
    for (what, has, needs) in [
        ("storage buffers per kernel", limits.max_storage_buffers_per_shader_stage, BUFFERS - 1),
        ("invocations per workgroup", group.min(limits.max_compute_workgroup_size_x), 64),
        ("bytes of workgroup memory", limits.max_compute_workgroup_storage_size, 16_384),
        ("workgroups per dispatch", limits.max_compute_workgroups_per_dimension, 65_535),
        ("dynamic uniform buffers", limits.max_dynamic_uniform_buffers_per_pipeline_layout, 1),
    ] {
        if has < needs {
            let reason = format!("the device supports {has} {what}, but training needs {needs}");
            return Err(GpuError::Unfit(reason));
        }
    }
    Ok(())
}

/// The plan with the largest number of rows per pass at which a few models fit in memory.
fn plan_within(
    subject: &Subject<'_>,
    memory_bytes: u64,
    buffer_bytes: u64,
) -> Result<(GpuPlan, MemoryNeed), GpuError> {
    let unfit = |error: TrainError| GpuError::Unfit(error.to_string());
    let mut rows = subject.max_rows.max(1);
    loop {
        let plan = (subject.plan)(rows);
        let is_last = rows == 1;
        rows = rows.div_ceil(2);
        match plan {
            Err(error) if is_last => return Err(unfit(error)),
            Err(_) => {}
            Ok(plan) => {
                let need = memory_need(subject, &plan);
                let units = need.units(memory_bytes, buffer_bytes);
                if units >= MIN_UNITS || is_last && units > 0 {
                    return Ok((plan, need));
                }
                if is_last {
                    return Err(too_large(&plan, &need, memory_bytes, buffer_bytes));
                }
            }
        }
    }
}

fn too_large(plan: &GpuPlan, need: &MemoryNeed, memory_bytes: u64, buffer_bytes: u64) -> GpuError {
    let mib = |bytes: u64| bytes.div_ceil(1 << 20);
    let largest = need.worlds * need.models.iter().copied().fold(need.shared, u64::max);
    GpuError::Unfit(format!(
        "{} needs {} MiB of device memory ({} MiB in one buffer), but only {} MiB ({} MiB in one \
         buffer) may be used",
        plan.unit(),
        mib(need.bytes(1)),
        mib(largest),
        mib(memory_bytes),
        mib(buffer_bytes),
    ))
}

/// Memory requirements of the waves of a plan, including transfers.
fn memory_need(subject: &Subject<'_>, plan: &GpuPlan) -> MemoryNeed {
    let sizes = plan.words_per_model();
    let words = [sizes.values, sizes.theta, sizes.sums, sizes.vector, sizes.rows, sizes.outputs];
    let fixed = plan.shared_vector().map_or(0, <[f32]>::len);
    let read_models = subject.read_models as usize;
    // rows drawn by the host: one epoch in memory, three passes in flight
    let is_drawn_by_host = plan.select_rows().is_empty();
    let drawn = if is_drawn_by_host { plan.records() as usize + 3 * sizes.rows } else { 0 };
    MemoryNeed {
        models: words.iter().map(|&words| 4 * words as u64).collect(),
        transfer: 4 * (sizes.outputs + drawn) as u64,
        shared: 4 * (2 * plan.data().len() + fixed + read_models * sizes.theta) as u64
            + SLOT_BYTES * SLOTS as u64,
        worlds: plan.worlds(),
    }
}

/// The bind group layout of all kernels.
pub(super) fn layout(device: &wgpu::Device) -> wgpu::BindGroupLayout {
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

/// Compiles kernels, on all threads where there are several.
async fn compile_all(
    open: &OpenDevice,
    layout: &wgpu::BindGroupLayout,
    kernels: &[Kernel],
    edit: Option<SourceEdit>,
    threads: &Threads,
) -> Result<Vec<Pipeline>, GpuError> {
    #[cfg(not(target_arch = "wasm32"))]
    {
        use rayon::prelude::*;
        let compile =
            |kernel: &Kernel| pollster::block_on(compile_kernel(open, layout, kernel, edit));
        threads.install(|| kernels.par_iter().map(compile).collect())
    }
    #[cfg(target_arch = "wasm32")]
    {
        let _ = threads;
        let mut compiled = Vec::with_capacity(kernels.len());
        for kernel in kernels {
            compiled.push(compile_kernel(open, layout, kernel, edit).await?);
        }
        Ok(compiled)
    }
}

pub(super) async fn compile_kernel(
    open: &OpenDevice,
    layout: &wgpu::BindGroupLayout,
    kernel: &Kernel,
    edit: Option<SourceEdit>,
) -> Result<Pipeline, GpuError> {
    let module = |device: &wgpu::Device| Some(shader_module(device, kernel, edit));
    let with_name = |reason: &str| format!("kernel {}: {reason}", kernel.name());
    match open.pipeline(layout, module, Kernel::ENTRY).await {
        Ok(Some(pipeline)) => {
            let (groups, operations) = (kernel.groups(), kernel.operations());
            Ok(Pipeline { pipeline, groups, operations })
        }
        Ok(None) => Err(GpuError::Unfit(with_name("no module"))),
        Err(GpuError::Unfit(reason)) => Err(GpuError::Unfit(with_name(&reason))),
        Err(failure) => Err(failure),
    }
}

fn shader_module(
    device: &wgpu::Device,
    kernel: &Kernel,
    edit: Option<SourceEdit>,
) -> wgpu::ShaderModule {
    let text = edit.map_or_else(|| kernel.source(), |edit| edit(kernel));
    let source = wgpu::ShaderSource::Wgsl(text.into());
    let descriptor = wgpu::ShaderModuleDescriptor { label: Some(kernel.name()), source };
    if edit.is_some() {
        return device.create_shader_module(descriptor);
    }
    // SAFETY: `GpuPlan` assembles the source from constant texts of this workspace and from the
    // sizes with which `Buffers` allocates the buffers: indices of rows, values and parameters are
    // within their model, records within the data. All loops terminate: over tiles, rows, windows,
    // and over the cycle of an
    // `Order`, a permutation that returns to its domain.
    unsafe {
        device.create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked())
    }
}

#[cfg(test)]
mod tests {
    use dpscope_core::mechanism::{BatchSampler, BatchedGaussian, ThreatModel};

    use super::*;
    use crate::data::SyntheticData;
    use crate::gpu::OnDevice;
    use crate::{Canary, CanaryDirection, ModelSpec, Training, TrainingSettings};

    #[test]
    fn devices_with_too_low_limits_are_rejected() {
        assert_eq!(check_limits(&wgpu::Limits::default()), Ok(()));
        for less in [
            wgpu::Limits { max_storage_buffers_per_shader_stage: 6, ..Default::default() },
            wgpu::Limits { max_compute_invocations_per_workgroup: 63, ..Default::default() },
            wgpu::Limits { max_compute_workgroup_storage_size: 8_192, ..Default::default() },
            wgpu::Limits { max_compute_workgroups_per_dimension: 1_024, ..Default::default() },
            wgpu::Limits::downlevel_webgl2_defaults(),
        ] {
            let Err(GpuError::Unfit(reason)) = check_limits(&less) else {
                panic!("accepted: {less:?}")
            };
            assert!(reason.contains("training needs"), "{reason}");
        }
    }

    #[test]
    fn models_fit_the_default_limits_of_webgpu() {
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
                dataset_size: None,
            };
            let canary = Canary { direction: CanaryDirection::Random, is_fresh: true };
            let (clip_norm, learning_rate) = (1.0, 0.1);
            let settings = TrainingSettings { clip_norm, learning_rate, canary, debias_records: 0 };
            let examples = synthetic.generate(200, 0).unwrap();
            let training = Training::new(&spec, examples, mechanism, settings, 1).unwrap();
            let subject = training.subject();
            let (plan, need) = plan_within(&subject, 1 << 30, buffer_bytes).unwrap();
            assert_eq!(plan.rows() == 100, all_rows, "{} rows", plan.rows());
            let units = need.units(1 << 30, buffer_bytes);
            let largest = need.models.iter().copied().fold(0, u64::max);
            assert!(units >= MIN_UNITS && 2 * units * largest <= buffer_bytes, "{units} units");
            assert!(plan_within(&subject, 1 << 30, 1 << 12).is_err());
        }
    }
}

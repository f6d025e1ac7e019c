//! A bare way to run the kernels of a training on a wave of models.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use dpscope_shaders::train::{Kernel, PassParams};
use dpscope_train::gpu::plan::GpuPlan;
use wgpu::util::DeviceExt;
use wgpu::{BindingType, BufferBindingType, BufferUsages};

use crate::device::{Gpu, gpu};
use crate::kernels::edited;

static COMPILED: LazyLock<Mutex<Compiled>> = LazyLock::new(Mutex::default);

/// The layout of all kernels, and pipelines by their sources.
#[derive(Default)]
struct Compiled {
    layout: Option<wgpu::BindGroupLayout>,
    pipelines: HashMap<String, wgpu::ComputePipeline>,
}

/// Bindings of a training's kernels.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Binding {
    Theta = 2,
    Sums = 3,
    Canary = 4,
    Rows = 6,
    Outputs = 7,
}

/// Models that are trained together, and how their kernels are changed.
pub(crate) struct Wave<'a> {
    gpu: &'static Gpu,
    pub(crate) plan: &'a GpuPlan,
    runs: u32,
    buffers: Vec<wgpu::Buffer>,
    layout: wgpu::BindGroupLayout,
    edit: Option<(&'a str, &'a str, &'a str)>,
}

fn entry(binding: u32) -> wgpu::BindGroupLayoutEntry {
    let ty = match binding {
        0 => BufferBindingType::Uniform,
        _ => BufferBindingType::Storage { read_only: binding == 5 },
    };
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
    }
}

impl<'a> Wave<'a> {
    /// `runs` runs of each world, with memory full of NaN.
    pub(crate) fn new(plan: &'a GpuPlan, runs: u32) -> Result<Self, String> {
        let gpu = gpu()?;
        let sizes = plan.words_per_model();
        let models = 2 * runs as usize;
        let lost = |words: usize| vec![f32::NAN.to_bits(); words.max(1)];
        let canary = match plan.shared_vector() {
            Some(canary) => canary.iter().map(|value| value.to_bits()).collect(),
            None => lost(models * sizes.vector),
        };
        let contents = [
            lost(1),
            lost(models * sizes.values),
            lost(models * sizes.theta),
            lost(models * sizes.sums),
            canary,
            plan.data().to_vec(),
            lost(models * sizes.rows),
            lost(models * sizes.outputs),
        ];
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        let buffers = contents.iter().map(|words| buffer(gpu, words, usage)).collect();
        let entries: Vec<_> = (0..8).map(entry).collect();
        let descriptor = wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries };
        let mut compiled = COMPILED.lock().map_err(|error| error.to_string())?;
        let layout = || gpu.device.create_bind_group_layout(&descriptor);
        let layout = compiled.layout.get_or_insert_with(layout).clone();
        Ok(Wave { gpu, plan, runs, buffers, layout, edit: None })
    }

    /// This wave with one place changed in the kernels called `name`.
    pub(crate) fn broken(self, name: &'a str, from: &'a str, to: &'a str) -> Self {
        Wave { edit: Some((name, from, to)), ..self }
    }

    fn pipeline(&self, kernel: &Kernel) -> Result<wgpu::ComputePipeline, String> {
        let source = match self.edit {
            Some((name, from, to)) if name == kernel.name() => edited(&kernel.source(), from, to)?,
            _ => kernel.source(),
        };
        let mut compiled = COMPILED.lock().map_err(|error| error.to_string())?;
        if let Some(pipeline) = compiled.pipelines.get(&source) {
            return Ok(pipeline.clone());
        }
        let pipeline = self.gpu.compiled_as(&source, Kernel::ENTRY, &self.layout);
        let pipeline = pipeline.map_err(|error| format!("{}: {error}", kernel.name()))?;
        compiled.pipelines.insert(source, pipeline.clone());
        Ok(pipeline)
    }

    /// Dispatches the kernels in order, in one pass.
    pub(crate) fn run(&self, kernels: &[Kernel], turn: &PassParams) -> Result<(), String> {
        let device = &self.gpu.device;
        let mut words = turn.words();
        words.resize(words.len().next_multiple_of(4), 0);
        let uniform = buffer(self.gpu, &words, BufferUsages::UNIFORM);
        let bound = std::iter::once(&uniform).chain(&self.buffers[1..]);
        let bound = bound.map(wgpu::Buffer::as_entire_binding);
        let entries = (0..).zip(bound);
        let entries: Vec<_> =
            entries.map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource }).collect();
        let descriptor =
            wgpu::BindGroupDescriptor { label: None, layout: &self.layout, entries: &entries };
        let group = device.create_bind_group(&descriptor);
        let scope = device.push_error_scope(wgpu::ErrorFilter::Validation);
        let mut encoder = device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_bind_group(0, &group, &[]);
        for kernel in kernels {
            pass.set_pipeline(&self.pipeline(kernel)?);
            let [columns, rows] = kernel.groups();
            pass.dispatch_workgroups(columns, rows, 2 * self.runs);
        }
        drop(pass);
        self.gpu.queue.submit([encoder.finish()]);
        match pollster::block_on(scope.pop()) {
            None => Ok(()),
            Some(error) => Err(error.to_string()),
        }
    }

    /// A buffer, model by model.
    pub(crate) fn words(&self, binding: Binding) -> Result<Vec<Vec<u32>>, String> {
        let (device, buffer) = (&self.gpu.device, &self.buffers[binding as usize]);
        let readable = device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: buffer.size(),
            usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(buffer, 0, &readable, 0, buffer.size());
        self.gpu.queue.submit([encoder.finish()]);
        readable.map_async(wgpu::MapMode::Read, .., |_| {});
        device.poll(wgpu::PollType::wait_indefinitely()).map_err(|e| e.to_string())?;
        let mapped = readable.get_mapped_range(..).map_err(|error| error.to_string())?;
        let words = mapped.chunks_exact(4).map(|word| [word[0], word[1], word[2], word[3]]);
        let words: Vec<u32> = words.map(u32::from_le_bytes).collect();
        let sizes = self.plan.words_per_model();
        let own = match binding {
            Binding::Theta => sizes.theta,
            Binding::Sums => sizes.sums,
            Binding::Canary if sizes.vector == 0 => return Ok(vec![words; 2 * self.runs as usize]),
            Binding::Canary => sizes.vector,
            Binding::Rows => sizes.rows,
            Binding::Outputs => sizes.outputs,
        };
        Ok(words.chunks_exact(own).map(<[u32]>::to_vec).collect())
    }

    /// A buffer of floats, model by model.
    pub(crate) fn floats(&self, binding: Binding) -> Result<Vec<Vec<f32>>, String> {
        let floats = |words: &Vec<u32>| words.iter().map(|&word| f32::from_bits(word)).collect();
        Ok(self.words(binding)?.iter().map(floats).collect())
    }

    /// Replaces a buffer.
    pub(crate) fn write(&self, binding: Binding, words: &[u32]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.gpu.queue.write_buffer(&self.buffers[binding as usize], 0, &bytes);
    }
}

fn buffer(gpu: &Gpu, words: &[u32], usage: BufferUsages) -> wgpu::Buffer {
    let contents: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let descriptor = wgpu::util::BufferInitDescriptor { label: None, contents: &contents, usage };
    gpu.device.create_buffer_init(&descriptor)
}

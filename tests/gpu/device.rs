//! A bare way to run kernels: edited sources and entry points that the engine does not have.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use dpscope_shaders::bgm::{Piece, Program, STATE_VALUES, Variant, WORKGROUP};
use wgpu::util::DeviceExt;
use wgpu::{BindingType, BufferBindingType, BufferUsages};

/// Part of an adapter's name: the tests run on the first that has it.
const CHOICE: &str = "DPSCOPE_TEST_DEVICE";

static GPU: LazyLock<Result<Gpu, String>> = LazyLock::new(|| pollster::block_on(Gpu::open()));

/// The adapter under test.
pub(crate) struct Gpu {
    pub(crate) name: String,
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    layout: wgpu::BindGroupLayout,
    kernels: Mutex<HashMap<Variant, wgpu::ComputePipeline>>,
}

/// What one run binds, and how often it dispatches.
#[derive(Clone)]
pub(crate) struct Work {
    pub(crate) params: Vec<u32>,
    pub(crate) scoring: Vec<u32>,
    pub(crate) weights: Vec<u32>,
    pub(crate) thresholds: Vec<u32>,
    pub(crate) state_words: u64,
    pub(crate) result_words: usize,
    pub(crate) dispatches: Vec<Dispatch>,
}

/// The uniform of a dispatch, and its workgroups.
#[derive(Clone)]
pub(crate) struct Dispatch {
    pub(crate) uniform: Vec<(&'static str, u32)>,
    pub(crate) groups: [u32; 3],
}

/// Workgroups that cover `invocations`, at least one.
pub(crate) fn groups(invocations: u32, worlds: u32) -> [u32; 3] {
    let all = invocations.div_ceil(WORKGROUP).max(1);
    let rows = all.div_ceil(65_535);
    [all.div_ceil(rows), rows, worlds]
}

impl Work {
    /// The pieces of a program, both worlds of each.
    pub(crate) fn of(program: &Program, pieces: &[Piece<'_>]) -> Self {
        let [params, scoring] =
            program.uniforms().map(|fields| fields.iter().map(|f| f.1).collect());
        let results = |piece: &Piece<'_>| match piece.bins {
            Some(bins) => 4 * bins.len(),
            None => 4 * piece.observations as usize,
        };
        let dispatch = |piece: &Piece<'_>| Dispatch {
            uniform: program.dispatch(piece),
            groups: groups(piece.observations, 2),
        };
        let most = pieces.iter().map(|piece| piece.observations).max().unwrap_or(0);
        let split = pieces.iter().any(|piece| piece.blocks != (0..program.blocks()));
        let state_words = if split { u64::from(2 * STATE_VALUES) * u64::from(most) } else { 0 };
        Work {
            params,
            scoring,
            weights: program.weights().iter().map(|weight| weight.to_bits()).collect(),
            thresholds: program.thresholds().to_vec(),
            state_words,
            result_words: pieces.iter().map(results).max().unwrap_or(0),
            dispatches: pieces.iter().map(dispatch).collect(),
        }
    }

    /// Sets a field of every dispatch to what `change` makes of it.
    pub(crate) fn changed(mut self, field: &str, change: impl Fn(u32) -> u32) -> Self {
        for (name, value) in self.dispatches.iter_mut().flat_map(|d| d.uniform.iter_mut()) {
            if *name == field {
                *value = change(*value);
            }
        }
        self
    }
}

/// The adapter under test.
pub(crate) fn gpu() -> Result<&'static Gpu, String> {
    GPU.as_ref().map_err(String::clone)
}

fn bytes(words: &[u32], least: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.resize(bytes.len().next_multiple_of(least).max(least), 0);
    bytes
}

fn binding(index: u32) -> wgpu::BindGroupLayoutEntry {
    let ty = match index {
        0..=2 => BufferBindingType::Uniform,
        3 | 4 => BufferBindingType::Storage { read_only: true },
        _ => BufferBindingType::Storage { read_only: false },
    };
    wgpu::BindGroupLayoutEntry {
        binding: index,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
    }
}

impl Gpu {
    async fn open() -> Result<Self, String> {
        let descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        let instance = wgpu::Instance::new(descriptor);
        let mut adapters = instance.enumerate_adapters(wgpu::Backends::PRIMARY).await;
        adapters.sort_by_key(|adapter| adapter.get_info().device_type == wgpu::DeviceType::Cpu);
        let wanted = std::env::var(CHOICE).unwrap_or_default().to_lowercase();
        let named = |adapter: &wgpu::Adapter| adapter.get_info().name.to_lowercase();
        let names: Vec<String> = adapters.iter().map(named).collect();
        let adapter = adapters.into_iter().find(|adapter| named(adapter).contains(&wanted));
        let adapter = match adapter {
            Some(adapter) => adapter,
            None if names.is_empty() => return Err("no GPU adapter, nor a software one".into()),
            None => return Err(format!("{CHOICE}={wanted}: no such adapter among {names:?}")),
        };
        let descriptor = wgpu::DeviceDescriptor::default();
        let opened = adapter.request_device(&descriptor).await;
        let (device, queue) = opened.map_err(|error| error.to_string())?;
        let entries: Vec<_> = (0..7).map(binding).collect();
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: None,
            entries: &entries,
        });
        let name = adapter.get_info().name;
        Ok(Gpu { name, device, queue, layout, kernels: Mutex::default() })
    }

    /// The kernel of a variant as it ships, compiled once.
    pub(crate) fn kernel(&self, variant: Variant) -> Result<wgpu::ComputePipeline, String> {
        let mut kernels = self.kernels.lock().map_err(|error| error.to_string())?;
        if let Some(kernel) = kernels.get(&variant) {
            return Ok(kernel.clone());
        }
        let kernel = self.compiled(&variant.source(), "count")?;
        kernels.insert(variant, kernel.clone());
        Ok(kernel)
    }

    /// Any source that has the bindings of the score kernels.
    pub(crate) fn compiled(
        &self,
        source: &str,
        entry: &str,
    ) -> Result<wgpu::ComputePipeline, String> {
        self.compiled_as(source, entry, &self.layout)
    }

    /// Any source that has the bindings of a layout.
    pub(crate) fn compiled_as(
        &self,
        source: &str,
        entry: &str,
        layout: &wgpu::BindGroupLayout,
    ) -> Result<wgpu::ComputePipeline, String> {
        let scope = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(source.into()),
        });
        let layout = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(layout)],
            immediate_size: 0,
        });
        let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: Some(&layout),
            module: &module,
            entry_point: Some(entry),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        match pollster::block_on(scope.pop()) {
            None => Ok(pipeline),
            Some(error) => Err(error.to_string()),
        }
    }

    /// Dispatches the work in order, and reads binding 6.
    pub(crate) fn run(
        &self,
        kernel: &wgpu::ComputePipeline,
        work: &Work,
    ) -> Result<Vec<u32>, String> {
        let scope = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let fixed = [
            self.filled(&work.params, 16, BufferUsages::UNIFORM),
            self.filled(&work.scoring, 16, BufferUsages::UNIFORM),
            self.filled(&work.weights, 4, BufferUsages::STORAGE),
            self.filled(&work.thresholds, 4, BufferUsages::STORAGE),
        ];
        let state = self.empty(work.state_words, BufferUsages::STORAGE);
        let bytes = work.result_words.max(1) as u64 * 4;
        let words = bytes / 4;
        let results = self.empty(words, BufferUsages::STORAGE | BufferUsages::COPY_SRC);
        let readable = self.empty(words, BufferUsages::MAP_READ | BufferUsages::COPY_DST);
        for dispatch in &work.dispatches {
            let uniform: Vec<u32> = dispatch.uniform.iter().map(|field| field.1).collect();
            let uniform = self.filled(&uniform, 16, BufferUsages::UNIFORM);
            let [params, scoring, weights, thresholds] = &fixed;
            let bound = [params, scoring, &uniform, weights, thresholds, &state, &results];
            self.submit(kernel, &bound, dispatch.groups);
        }
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(&results, 0, &readable, 0, bytes);
        self.queue.submit([encoder.finish()]);
        readable.map_async(wgpu::MapMode::Read, .., |_| {});
        self.device.poll(wgpu::PollType::wait_indefinitely()).map_err(|e| e.to_string())?;
        if let Some(error) = pollster::block_on(scope.pop()) {
            return Err(error.to_string());
        }
        let mapped = readable.get_mapped_range(..).map_err(|error| error.to_string())?;
        let words = mapped.chunks_exact(4).map(|word| [word[0], word[1], word[2], word[3]]);
        Ok(words.map(u32::from_le_bytes).take(work.result_words).collect())
    }

    fn submit(&self, kernel: &wgpu::ComputePipeline, bound: &[&wgpu::Buffer], groups: [u32; 3]) {
        let resources = bound.iter().map(|buffer| buffer.as_entire_binding());
        let entry = |(binding, resource)| wgpu::BindGroupEntry { binding, resource };
        let entries: Vec<_> = (0..).zip(resources).map(entry).collect();
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &self.layout,
            entries: &entries,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(kernel);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(groups[0], groups[1], groups[2]);
        drop(pass);
        self.queue.submit([encoder.finish()]);
    }

    fn filled(&self, words: &[u32], least: usize, usage: BufferUsages) -> wgpu::Buffer {
        let contents = &bytes(words, least);
        let descriptor = wgpu::util::BufferInitDescriptor { label: None, contents, usage };
        self.device.create_buffer_init(&descriptor)
    }

    fn empty(&self, words: u64, usage: BufferUsages) -> wgpu::Buffer {
        let size = words.max(1) * 4;
        let descriptor =
            wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        self.device.create_buffer(&descriptor)
    }
}

//! A device for counting: bind group layout and compiled kernels.

use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use dpscope_engine::GpuError;
use dpscope_engine::gpu::{Adapter, OpenDevice};

use super::pieces::PieceLimits;
use super::source::Source;
use super::spirv;

/// How a program is passed to the driver.
#[derive(Debug, Clone, Copy)]
pub(super) enum Build {
    /// Exact mode on Vulkan: SPIR-V that forbids fusing and reordering. By the instructions that a
    /// compiler makes of it 1.45 times as long as fast mode; the other 1.8 times.
    Ordered,
    /// WGSL; in exact mode with barriers.
    Portable,
}

impl Build {
    /// The faster first.
    pub(super) const ALL: [Build; 2] = [Build::Ordered, Build::Portable];
}

type Compiled = Result<wgpu::ComputePipeline, String>;

/// A device and its compiled kernels.
#[derive(Debug)]
pub(super) struct Gpu {
    open: Arc<OpenDevice>,
    layout: wgpu::BindGroupLayout,
    limits: PieceLimits,
    /// Results of self-tests.
    tested: Mutex<Vec<(Source, Compiled)>>,
}

impl Deref for Gpu {
    type Target = Arc<OpenDevice>;

    fn deref(&self) -> &Arc<OpenDevice> {
        &self.open
    }
}

impl Gpu {
    /// Opens a device whose dispatches respect `most` and its own limits.
    pub(super) async fn open(adapter: &Adapter, most: &PieceLimits) -> Result<Self, String> {
        let features = spirv::features(adapter);
        let open = OpenDevice::open(adapter, features, wgpu::Limits::default()).await?;
        let own = open.device().limits();
        let limits = PieceLimits {
            workgroups: most.workgroups.min(own.max_compute_workgroups_per_dimension),
            binding_bytes: most.binding_bytes.min(own.max_storage_buffer_binding_size),
            ..*most
        };
        let layout = bind_group_layout(open.device());
        Ok(Gpu { open: Arc::new(open), layout, limits, tested: Mutex::default() })
    }

    pub(super) fn layout(&self) -> &wgpu::BindGroupLayout {
        &self.layout
    }

    pub(super) fn limits(&self) -> &PieceLimits {
        &self.limits
    }

    pub(super) fn tested(&self, source: Source) -> Option<Compiled> {
        let tested = self.tested.lock().unwrap_or_else(PoisonError::into_inner);
        tested.iter().find(|(known, _)| *known == source).map(|(_, compiled)| compiled.clone())
    }

    pub(super) fn set_tested(&self, source: Source, compiled: Compiled) {
        let mut tested = self.tested.lock().unwrap_or_else(PoisonError::into_inner);
        tested.retain(|(known, _)| *known != source);
        tested.push((source, compiled));
    }

    /// The pipeline of a kernel; `None` if this device or mode has no such build.
    pub(super) async fn compiled(
        &self,
        source: Source,
        build: Build,
    ) -> Result<Option<wgpu::ComputePipeline>, GpuError> {
        let module = |device: &wgpu::Device| match build {
            Build::Ordered => spirv::module(device, source),
            Build::Portable => Some(portable(device, &source.wgsl())),
        };
        match (self.open.pipeline(&self.layout, module, source.entry()).await, build) {
            (Err(GpuError::Unfit(_)), Build::Ordered) => Ok(None),
            (compiled, _) => compiled,
        }
    }
}

fn portable(device: &wgpu::Device, source: &str) -> wgpu::ShaderModule {
    let source = wgpu::ShaderSource::Wgsl(source.into());
    let descriptor = wgpu::ShaderModuleDescriptor { label: None, source };
    #[cfg(target_arch = "wasm32")]
    return device.create_shader_module(descriptor);
    // SAFETY: the only sources are those of `Source::wgsl`, constant texts of this workspace.
    // Their indices lie within the buffers that `DeviceProgram` creates: slots, entries and components
    // are below the distribution's, observations, draws and sums below the dispatch's, coordinates below
    // those of its blocks, bins below `bins`; and their loops end, after at most
    // `Program::iterations_per_block` iterations per block, one for draws, four for sums.
    #[cfg(not(target_arch = "wasm32"))]
    unsafe {
        let unchecked = wgpu::ShaderRuntimeChecks::unchecked();
        device.create_shader_module_trusted(descriptor, unchecked)
    }
}

fn bind_group_layout(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    let entry = |binding: u32| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty: match binding {
                0..=2 => wgpu::BufferBindingType::Uniform,
                binding => wgpu::BufferBindingType::Storage { read_only: binding < 5 },
            },
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    };
    let entries: Vec<wgpu::BindGroupLayoutEntry> = (0..7).map(entry).collect();
    let descriptor = wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries };
    device.create_bind_group_layout(&descriptor)
}

//! An open device: what it was told, what went wrong with it, what it compiled.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_channel::oneshot::{Receiver, channel};

use super::adapter::Adapter;
use super::pieces::PieceLimits;
use super::source::Source;
use super::spirv;

/// Why a GPU gave no counts.
#[derive(Debug)]
pub(super) enum Failure {
    /// The device or its driver failed; another try may do.
    Device(String),
    /// The device cannot do this work, however often it tries.
    Unfit(String),
    /// The caller wants no more.
    Stopped,
}

/// Longest wait for a dispatch, which aims at a thousandth of it.
const PATIENCE: Duration = Duration::from_secs(30);

/// How the message of a panic begins that this backend catches: wgpu's, where a device is lost.
pub const CAUGHT_PANIC: &str = "Error in Device::poll";

/// How a program reaches the driver.
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

/// A device, and what is compiled for it.
#[derive(Debug)]
pub(super) struct Gpu {
    device: wgpu::Device,
    queue: wgpu::Queue,
    layout: wgpu::BindGroupLayout,
    limits: PieceLimits,
    fault: Arc<Mutex<Option<String>>>,
    /// What passed its self-test, or why not.
    tested: Mutex<Vec<(Source, Compiled)>>,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Gpu {
    /// Opens a device whose dispatches stay within `most` as well as within its own limits.
    pub(super) async fn open(adapter: &Adapter, most: &PieceLimits) -> Result<Self, String> {
        let inner = &adapter.inner;
        let required_limits = wgpu::Limits::default().or_worse_values_from(&inner.limits());
        let required_features = spirv::features(inner);
        let descriptor =
            wgpu::DeviceDescriptor { required_features, required_limits, ..Default::default() };
        let opened = inner.request_device(&descriptor).await;
        let (device, queue) = opened.map_err(|error| error.to_string())?;
        let fault = Arc::new(Mutex::new(None));
        let (lost, wrong) = (fault.clone(), fault.clone());
        device.set_device_lost_callback(move |_, message| {
            // The cause of whatever else is wrong.
            *lock(&lost) = Some(one_line(&format!("the device was lost: {message}")));
        });
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            lock(&wrong).get_or_insert(one_line(&error.to_string()));
        }));
        let own = device.limits();
        if own.max_compute_workgroups_per_dimension == 0 {
            return Err("it has no compute shaders".to_owned());
        }
        let limits = PieceLimits {
            workgroups: most.workgroups.min(own.max_compute_workgroups_per_dimension),
            binding_bytes: most.binding_bytes.min(own.max_storage_buffer_binding_size),
            ..*most
        };
        let layout = bind_group_layout(&device);
        Ok(Gpu { device, queue, layout, limits, fault, tested: Mutex::default() })
    }

    pub(super) fn device(&self) -> &wgpu::Device {
        &self.device
    }

    pub(super) fn queue(&self) -> &wgpu::Queue {
        &self.queue
    }

    pub(super) fn layout(&self) -> &wgpu::BindGroupLayout {
        &self.layout
    }

    pub(super) fn limits(&self) -> &PieceLimits {
        &self.limits
    }

    pub(super) fn lose(&self) {
        self.device.destroy();
    }

    /// What the device reported, if anything.
    pub(super) fn check(&self) -> Result<(), Failure> {
        lock(&self.fault).clone().map_or(Ok(()), |reason| Err(Failure::Device(reason)))
    }

    pub(super) fn tested(&self, source: Source) -> Option<Compiled> {
        let tested = lock(&self.tested);
        tested.iter().find(|(known, _)| *known == source).map(|(_, compiled)| compiled.clone())
    }

    pub(super) fn set_tested(&self, source: Source, compiled: Compiled) {
        let mut tested = lock(&self.tested);
        tested.retain(|(known, _)| *known != source);
        tested.push((source, compiled));
    }

    /// The pipeline of a kernel; none where this device or mode has no such build.
    pub(super) async fn compiled(
        &self,
        source: Source,
        build: Build,
    ) -> Result<Option<wgpu::ComputePipeline>, Failure> {
        let scope = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let Some(module) = self.module(source, build) else { return Ok(None) };
        let layout = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            bind_group_layouts: &[Some(&self.layout)],
            ..Default::default()
        });
        let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: Some(&layout),
            module: &module,
            entry_point: Some(source.entry()),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        let error = scope.pop().await;
        self.check()?;
        match (error, build) {
            (None, _) => Ok(Some(pipeline)),
            (Some(_), Build::Ordered) => Ok(None),
            (Some(error), Build::Portable) => Err(Failure::Unfit(error.to_string())),
        }
    }

    fn module(&self, source: Source, build: Build) -> Option<wgpu::ShaderModule> {
        match build {
            Build::Ordered => spirv::module(&self.device, source),
            Build::Portable => Some(self.portable(&source.wgsl())),
        }
    }

    fn portable(&self, source: &str) -> wgpu::ShaderModule {
        let source = wgpu::ShaderSource::Wgsl(source.into());
        let descriptor = wgpu::ShaderModuleDescriptor { label: None, source };
        #[cfg(target_arch = "wasm32")]
        return self.device.create_shader_module(descriptor);
        // SAFETY: the only sources are those of `Source::wgsl`, constant texts of this workspace.
        // Their indices lie within the buffers that `Loaded` makes: slots, entries and components
        // are below the law's, observations and draws below the dispatch's, bins below `bins`; and
        // their loops end, after at most `Program::turns_per_block` turns a block, one for draws.
        #[cfg(not(target_arch = "wasm32"))]
        unsafe {
            let unchecked = wgpu::ShaderRuntimeChecks::unchecked();
            self.device.create_shader_module_trusted(descriptor, unchecked)
        }
    }

    /// Lets callbacks run whose work is done.
    pub(super) fn poll(&self) -> Result<(), Failure> {
        self.polled(wgpu::PollType::Poll)
    }

    fn polled(&self, poll: wgpu::PollType) -> Result<(), Failure> {
        // A device that is lost meanwhile makes wgpu panic here.
        match catch_unwind(AssertUnwindSafe(|| self.device.poll(poll))) {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(Failure::Device(error.to_string())),
            Err(_) => Err(Failure::Device("the device was lost".to_owned())),
        }
    }

    /// What arrives when a submission is done.
    pub(super) async fn arrival<T>(
        &self,
        submission: &wgpu::SubmissionIndex,
        receiver: &mut Receiver<T>,
    ) -> Result<T, Failure> {
        let silent = || Failure::Device("the device does not answer".to_owned());
        if cfg!(target_arch = "wasm32") {
            return receiver.await.map_err(|_| silent());
        }
        let submission_index = Some(submission.clone());
        self.polled(wgpu::PollType::Wait { submission_index, timeout: Some(PATIENCE) })?;
        receiver.try_recv().ok().flatten().ok_or_else(silent)
    }

    /// Told when all that was submitted so far is done.
    pub(super) fn completion(&self) -> Receiver<()> {
        let (sender, receiver) = channel();
        // Nobody may listen any more.
        self.queue.on_submitted_work_done(move || {
            let _ = sender.send(());
        });
        receiver
    }
}

/// A driver's message as one short line.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().filter(|c| !c.is_control()).take(300).collect()
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

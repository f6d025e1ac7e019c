//! An open device: how it is opened, waited for and read, and what is known where it fails.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dpscope_core::format::is_plain;
use futures_channel::oneshot::{Receiver, channel};

use super::adapter::Adapter;

/// Why a GPU gave no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The device or its driver failed; another try may do.
    Device(String),
    /// The device cannot do this work, however often it tries.
    Unfit(String),
    /// The caller wants no more.
    Stopped,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Failure::Device(reason) | Failure::Unfit(reason) => reason,
            Failure::Stopped => "stopped",
        })
    }
}

/// Longest wait for a dispatch, which aims at a thousandth of it.
const PATIENCE: Duration = Duration::from_secs(30);

/// How the message of a panic begins that this backend catches: wgpu's, where a device is lost.
pub const CAUGHT_PANIC: &str = "Error in Device::poll";

/// A device that is open, and what it reported.
#[derive(Debug)]
pub struct OpenDevice {
    device: wgpu::Device,
    queue: wgpu::Queue,
    fault: Arc<Mutex<Option<String>>>,
}

/// Words on their way to the host.
#[derive(Debug)]
pub struct Reading {
    open: Arc<OpenDevice>,
    stage: wgpu::Buffer,
    submission: wgpu::SubmissionIndex,
    mapped: Receiver<Result<(), wgpu::BufferAsyncError>>,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl OpenDevice {
    /// Opens a device with these features and limits, as far as the adapter has them.
    ///
    /// # Errors
    /// The driver gives no device, or one without compute shaders; in words.
    pub async fn open(
        adapter: &Adapter,
        features: wgpu::Features,
        limits: wgpu::Limits,
    ) -> Result<Self, String> {
        let inner = &adapter.inner;
        let descriptor = wgpu::DeviceDescriptor {
            // A page loads the names of all features where one might be asked for.
            required_features: if cfg!(target_arch = "wasm32") {
                wgpu::Features::empty()
            } else {
                features & inner.features()
            },
            required_limits: limits.or_worse_values_from(&inner.limits()),
            ..Default::default()
        };
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
        if device.limits().max_compute_workgroups_per_dimension == 0 {
            return Err("it has no compute shaders".to_owned());
        }
        Ok(OpenDevice { device, queue, fault })
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &wgpu::Device {
        &self.device
    }

    /// Its queue.
    #[must_use]
    pub fn queue(&self) -> &wgpu::Queue {
        &self.queue
    }

    /// Destroys the device, as a driver's reset would. For tests.
    #[doc(hidden)]
    pub fn lose(&self) {
        self.device.destroy();
    }

    /// What the device reported, if anything.
    ///
    /// # Errors
    /// That.
    pub fn check(&self) -> Result<(), Failure> {
        lock(&self.fault).clone().map_or(Ok(()), |reason| Err(Failure::Device(reason)))
    }

    /// The pipeline of a module's entry point; none where there is no module.
    ///
    /// # Errors
    /// The device fails; it refuses the module, or makes no pipeline of it.
    pub async fn pipeline(
        &self,
        layout: &wgpu::BindGroupLayout,
        module: impl FnOnce(&wgpu::Device) -> Option<wgpu::ShaderModule>,
        entry: &str,
    ) -> Result<Option<wgpu::ComputePipeline>, Failure> {
        let scope = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let Some(module) = module(&self.device) else { return Ok(None) };
        let layout = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            bind_group_layouts: &[Some(layout)],
            ..Default::default()
        });
        let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: Some(&layout),
            module: &module,
            entry_point: Some(entry),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        let error = scope.pop().await;
        self.check()?;
        error.map_or(Ok(Some(pipeline)), |error| Err(Failure::Unfit(one_line(&error.to_string()))))
    }

    /// A zeroed buffer of so many bytes, at least one word.
    #[must_use]
    pub fn buffer(&self, usage: wgpu::BufferUsages, size: u64) -> wgpu::Buffer {
        let size = size.max(4);
        let descriptor =
            wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        self.device.create_buffer(&descriptor)
    }

    /// A buffer of these words.
    #[must_use]
    pub fn filled(&self, usage: wgpu::BufferUsages, words: &[u32]) -> wgpu::Buffer {
        let buffer = self.buffer(usage | wgpu::BufferUsages::COPY_DST, 4 * words.len() as u64);
        self.write(&buffer, 0, words);
        buffer
    }

    /// Writes words from a byte on, after all that was submitted before.
    pub fn write(&self, buffer: &wgpu::Buffer, first_byte: u64, words: &[u32]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.queue.write_buffer(buffer, first_byte, &bytes);
    }

    /// Sends words of a buffer to the host, after all that was submitted before.
    #[must_use]
    pub fn read(self: &Arc<Self>, buffer: &wgpu::Buffer, bytes: std::ops::Range<u64>) -> Reading {
        use wgpu::BufferUsages as Usage;
        let length = bytes.end - bytes.start;
        let stage = self.buffer(Usage::MAP_READ | Usage::COPY_DST, length);
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(buffer, bytes.start, &stage, 0, length);
        let submission = self.queue.submit([encoder.finish()]);
        let (sender, mapped) = channel();
        // Nobody may listen any more.
        stage.map_async(wgpu::MapMode::Read, .., move |result| drop(sender.send(result)));
        Reading { open: self.clone(), stage, submission, mapped }
    }

    /// Lets callbacks run whose work is done.
    ///
    /// # Errors
    /// The device is lost.
    pub fn poll(&self) -> Result<(), Failure> {
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

impl Reading {
    /// The words, once they are there.
    ///
    /// # Errors
    /// The device fails.
    pub async fn words(mut self) -> Result<Vec<u32>, Failure> {
        let arrived = self.open.arrival(&self.submission, &mut self.mapped).await;
        // What the device says of itself tells more than that it is silent.
        self.open.check()?;
        let unread = |error: &dyn fmt::Display| Failure::Device(error.to_string());
        arrived?.map_err(|error| unread(&error))?;
        let view = self.stage.get_mapped_range(..).map_err(|error| unread(&error))?;
        let word = |bytes: &[u8]| bytes.try_into().map_or(0, u32::from_le_bytes);
        Ok(view.chunks_exact(4).map(word).collect())
    }
}

/// A driver's message as one short line.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().filter(|&c| is_plain(c)).take(300).collect()
}

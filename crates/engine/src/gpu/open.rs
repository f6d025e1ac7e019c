//! An open device: opening, waiting, reading and errors.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dpscope_core::foreign_text::is_plain;
use futures_channel::oneshot::{Receiver, channel};

use super::adapter::Adapter;
use crate::GpuError;

/// Timeout of a dispatch, a thousand times its target duration.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Start of the message of the panic that this backend catches: wgpu panics when a device is lost.
pub const CAUGHT_PANIC: &str = "Error in Device::poll";

/// An open device and its errors.
#[derive(Debug)]
pub struct OpenDevice {
    device: wgpu::Device,
    queue: wgpu::Queue,
    fault: Arc<Mutex<Option<String>>>,
}

/// A pending transfer of words to the host.
#[derive(Debug)]
pub struct Reading {
    open: Arc<OpenDevice>,
    stage: wgpu::Buffer,
    submission: wgpu::SubmissionIndex,
    mapped: Receiver<Result<(), wgpu::BufferAsyncError>>,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl OpenDevice {
    /// Opens a device with these features and limits, where the adapter supports them.
    ///
    /// # Errors
    /// The driver provides no device, or one without compute shaders.
    pub async fn open(
        adapter: &Adapter,
        features: wgpu::Features,
        limits: wgpu::Limits,
    ) -> Result<Self, String> {
        let inner = &adapter.inner;
        let descriptor = wgpu::DeviceDescriptor {
            // Requesting features would add the names of all features to the bundle.
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
            // The cause of all other errors.
            *lock(&lost) = Some(one_line(&format!("the device was lost: {message}")));
        });
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            lock(&wrong).get_or_insert(one_line(&error.to_string()));
        }));
        if device.limits().max_compute_workgroups_per_dimension == 0 {
            return Err("it does not support compute shaders".to_owned());
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

    /// Destroys the device like a driver reset. For tests.
    #[doc(hidden)]
    pub fn lose(&self) {
        self.device.destroy();
    }

    /// Checks whether the device reported an error.
    ///
    /// # Errors
    /// The reported error.
    pub fn check(&self) -> Result<(), GpuError> {
        lock(&self.fault).clone().map_or(Ok(()), |reason| Err(GpuError::Device(reason)))
    }

    /// The pipeline of a module's entry point; `None` without a module.
    ///
    /// # Errors
    /// The device fails, or rejects the module or the pipeline.
    pub async fn pipeline(
        &self,
        layout: &wgpu::BindGroupLayout,
        module: impl FnOnce(&wgpu::Device) -> Option<wgpu::ShaderModule>,
        entry: &str,
    ) -> Result<Option<wgpu::ComputePipeline>, GpuError> {
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
        error.map_or(Ok(Some(pipeline)), |error| Err(GpuError::Unfit(one_line(&error.to_string()))))
    }

    /// A zeroed buffer of `size` bytes, at least one word.
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

    /// Writes words at `first_byte`, after all earlier submissions.
    pub fn write(&self, buffer: &wgpu::Buffer, first_byte: u64, words: &[u32]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.queue.write_buffer(buffer, first_byte, &bytes);
    }

    /// Copies words of a buffer to the host, after all earlier submissions.
    #[must_use]
    pub fn read(self: &Arc<Self>, buffer: &wgpu::Buffer, bytes: std::ops::Range<u64>) -> Reading {
        use wgpu::BufferUsages as Usage;
        let length = bytes.end - bytes.start;
        let stage = self.buffer(Usage::MAP_READ | Usage::COPY_DST, length);
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(buffer, bytes.start, &stage, 0, length);
        let submission = self.queue.submit([encoder.finish()]);
        let (sender, mapped) = channel();
        // The receiver may be gone.
        stage.map_async(wgpu::MapMode::Read, .., move |result| drop(sender.send(result)));
        Reading { open: self.clone(), stage, submission, mapped }
    }

    /// Runs the callbacks of completed work.
    ///
    /// # Errors
    /// The device is lost.
    pub fn poll(&self) -> Result<(), GpuError> {
        self.polled(wgpu::PollType::Poll)
    }

    fn polled(&self, poll: wgpu::PollType) -> Result<(), GpuError> {
        // wgpu panics here if the device is lost meanwhile.
        match catch_unwind(AssertUnwindSafe(|| self.device.poll(poll))) {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(GpuError::Device(error.to_string())),
            Err(_) => Err(GpuError::Device("the device was lost".to_owned())),
        }
    }

    /// The message of a completed submission.
    ///
    /// # Errors
    /// The device fails.
    pub async fn arrival<T>(
        &self,
        submission: &wgpu::SubmissionIndex,
        receiver: &mut Receiver<T>,
    ) -> Result<T, GpuError> {
        let silent = || GpuError::Device("the device does not respond".to_owned());
        if cfg!(target_arch = "wasm32") {
            return receiver.await.map_err(|_| silent());
        }
        let submission_index = Some(submission.clone());
        self.polled(wgpu::PollType::Wait { submission_index, timeout: Some(TIMEOUT) })?;
        receiver.try_recv().ok().flatten().ok_or_else(silent)
    }

    /// Signals the completion of all submissions so far.
    pub fn completion(&self) -> Receiver<()> {
        let (sender, receiver) = channel();
        // The receiver may be gone.
        self.queue.on_submitted_work_done(move || {
            let _ = sender.send(());
        });
        receiver
    }
}

impl Reading {
    /// The words, once they have arrived.
    ///
    /// # Errors
    /// The device fails.
    pub async fn words(mut self) -> Result<Vec<u32>, GpuError> {
        let arrived = self.open.arrival(&self.submission, &mut self.mapped).await;
        // The error that the device reported is more specific than a timeout.
        self.open.check()?;
        let unread = |error: &dyn fmt::Display| GpuError::Device(error.to_string());
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

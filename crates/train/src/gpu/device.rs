//! A device that trains waves of models: opened, self-tested, reopened.

use std::sync::{Mutex, MutexGuard, PoisonError};

use dpscope_engine::gpu::{Adapter, OpenDevice, Reopening};
use dpscope_engine::{Device, FloatMode, GpuError};

use super::pipelines::SourceEdit;
use super::size::WaveLimits;
use super::wave::Waves;

/// A device and the compiled kernels of a training.
#[derive(Debug)]
pub(crate) struct WaveDevice {
    pub(super) limits: WaveLimits,
    pub(super) edit: Option<SourceEdit>,
    pub(super) open: Reopening<OpenDevice>,
    /// `None` before the self-test, and while waves are trained.
    pub(super) waves: Mutex<Option<Waves>>,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl WaveDevice {
    /// Number of units that fit in a wave.
    pub(crate) fn smallest_wave(&self) -> u64 {
        lock(&self.waves).as_ref().map_or(1, Waves::units)
    }

    /// Name and float mode.
    pub(crate) fn device(&self) -> Device {
        let device = self.open.adapter().facts().device();
        let name = format!("{}, training)", device.strip_suffix(')').unwrap_or(&device));
        Device { name, mode: FloatMode::Fast }
    }

    /// How often the device was opened.
    pub(super) fn opening(&self) -> u64 {
        self.open.opening()
    }

    /// Opens the device again; the self-test follows with the next wave.
    pub(super) async fn reopen(&self, opening: u64) -> Result<bool, String> {
        *lock(&self.waves) = None;
        let device = async |adapter: Adapter| {
            open_device(&adapter, &self.limits).await.map_err(|failure| failure.to_string())
        };
        self.open.reopen(opening, device).await
    }

    /// Destroys the device, like a driver reset.
    pub(super) fn lose(&self) {
        self.open.device().lose();
    }

    /// Prevents a lost device from being reopened.
    pub(super) fn forbid_reopening(&self) {
        self.open.forbid();
    }
}

pub(super) async fn open_device(
    adapter: &Adapter,
    limits: &WaveLimits,
) -> Result<OpenDevice, GpuError> {
    let requested = wgpu::Limits {
        max_buffer_size: limits.granted_bytes,
        max_storage_buffer_binding_size: limits.granted_bytes,
        ..wgpu::Limits::default()
    };
    let opened = OpenDevice::open(adapter, wgpu::Features::empty(), requested).await;
    opened.map_err(GpuError::Device)
}

//! A device that trains waves of models: opened, self-tested, reopened.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dpscope_engine::gpu::{Adapter, OpenDevice, Reopening};
use dpscope_engine::{Control, Device, EngineError, FloatMode, GpuError, UnitRange};

use super::pipelines::{Pipelines, SourceEdit};
use super::self_test::Watch;
use super::size::WaveLimits;
use super::subject::Subject;
use super::wave::Waves;

/// A training that a device is tested with.
pub(super) trait Tested: Subject {
    /// Compares the device with the CPU.
    async fn self_test(&self, waves: &mut Waves, control: &dyn Control) -> Result<(), GpuError>;
}

/// A device and the compiled kernels of a training.
#[derive(Debug)]
pub(super) struct WaveDevice {
    limits: WaveLimits,
    edit: Option<SourceEdit>,
    open: Reopening<OpenDevice>,
    /// `None` before the self-test, and while waves are trained.
    waves: Mutex<Option<Waves>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl WaveDevice {
    /// Opens an adapter and runs the self-test; `edit` changes kernels, for tests.
    pub(super) async fn open(
        subject: &impl Tested,
        adapter: &Adapter,
        limits: WaveLimits,
        edit: Option<SourceEdit>,
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Result<Self, EngineError> {
        let watch = Watch::new(keep_going);
        let open = open_device(adapter, &limits).await?;
        let open = Reopening::new(adapter, open);
        let waves = self_tested_waves(&open.device(), subject, &limits, edit, &watch).await?;
        Ok(WaveDevice { limits, edit, open, waves: Mutex::new(Some(waves)) })
    }

    /// Trains as many of the first units of a range as fit in a wave.
    pub(super) async fn train<T>(
        &self,
        subject: &impl Tested,
        range: UnitRange,
        control: &dyn Control,
        train: impl AsyncFn(&mut Waves, UnitRange) -> Result<T, GpuError>,
    ) -> Result<(UnitRange, T), GpuError> {
        let idle = lock(&self.waves).take();
        let mut waves = match idle {
            Some(waves) => waves,
            None => {
                let open = self.open.device();
                self_tested_waves(&open, subject, &self.limits, self.edit, control).await?
            }
        };
        let trained = first_that_fit(&mut waves, range, control, train).await;
        *lock(&self.waves) = Some(waves);
        trained
    }

    /// Number of units that fit in a wave.
    pub(super) fn smallest_wave(&self) -> u64 {
        lock(&self.waves).as_ref().map_or(1, Waves::units)
    }

    /// Name and float mode.
    pub(super) fn device(&self) -> Device {
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

/// Trains as many of the first units of a range as fit in a wave.
async fn first_that_fit<T>(
    waves: &mut Waves,
    range: UnitRange,
    control: &dyn Control,
    train: impl AsyncFn(&mut Waves, UnitRange) -> Result<T, GpuError>,
) -> Result<(UnitRange, T), GpuError> {
    loop {
        let end = range.end.min(range.first.saturating_add(waves.units()));
        let range = UnitRange { end, ..range };
        let reason = match train(waves, range).await {
            Err(GpuError::Unfit(reason)) => reason,
            result => return Ok((range, result?)),
        };
        waves.halve(range.len(), reason, control)?;
    }
}

/// Compiles the kernels of a training and runs the self-test.
async fn self_tested_waves(
    open: &Arc<OpenDevice>,
    subject: &impl Tested,
    limits: &WaveLimits,
    edit: Option<SourceEdit>,
    control: &dyn Control,
) -> Result<Waves, GpuError> {
    if let Some(what) = subject.unsupported() {
        return Err(GpuError::Unfit(format!("{what} is supported on the CPU only")));
    }
    let pipelines = Pipelines::new(open, subject, limits, edit).await?;
    let mut waves = Waves::new(pipelines, limits.work);
    subject.self_test(&mut waves, control).await?;
    Ok(waves)
}

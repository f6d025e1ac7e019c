//! Models of a plan on a device.

use std::fmt;
use std::sync::{Arc, Mutex};

use dpscope_engine::gpu::{Adapter, AdapterFacts, OpenDevice, Reopening};
use dpscope_engine::{Control, EngineError, GpuError, Queue, QueueError, UnitRange, Wave};

use super::device::{WaveDevice, lock, open_device};
use super::pipelines::{Pipelines, SourceEdit};
use super::size::WaveLimits;
use super::subject::Subject;
use super::watch::Watch;
use super::wave::Waves;
use crate::models::{EvidenceOf, Models, Protocol, StageOf, Trainer};

/// A training whose models a device trains in waves.
pub trait OnDevice: Protocol {
    /// What waves are planned from.
    fn subject(&self) -> Subject<'_>;

    /// Compares the device with the CPU.
    ///
    /// # Errors
    /// They differ; the device fails; cancelled.
    fn self_test(
        trainer: &Trainer<Self>,
        waves: &mut Waves,
        control: &dyn Control,
    ) -> impl Future<Output = Result<(), GpuError>>;

    /// Number of units that are trained together where so many models fit in a wave.
    fn units_per_wave(&self, models: u64) -> u64 {
        models
    }

    /// The results of the models of some units, in the order of their streams.
    ///
    /// # Errors
    /// The device fails; cancelled.
    fn train_wave(
        trainer: &Trainer<Self>,
        waves: &mut Waves,
        range: UnitRange,
        control: &dyn Control,
    ) -> impl Future<Output = Result<Vec<Self::Model>, GpuError>>;
}

/// Default limit on the device memory of a wave, in bytes.
#[must_use]
pub fn default_memory_bytes(facts: &AdapterFacts) -> u64 {
    if facts.hardware { 1 << 30 } else { 1 << 28 }
}

/// Failure to open a device for training.
#[derive(Debug)]
pub struct OpenError<T> {
    /// What was to be trained on it.
    pub cpu: T,
    /// Reason.
    pub error: EngineError,
}

impl<P: OnDevice> Trainer<P> {
    /// Moves the trainer to a GPU within given limits, with kernels modified by `edit`. For tests.
    ///
    /// # Errors
    /// As [`Models::on_device`].
    #[doc(hidden)]
    pub async fn on_device_within(
        mut self,
        adapter: &Adapter,
        limits: WaveLimits,
        edit: Option<SourceEdit>,
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Result<Self, Box<OpenError<Self>>> {
        match WaveDevice::open(&self, adapter, limits, edit, keep_going).await {
            Ok(device) => {
                self.device = Some(device);
                Ok(self)
            }
            Err(error) => Err(Box::new(OpenError { cpu: self, error })),
        }
    }

    /// The results of the models of some units, or of the first of them, by the device if there is one.
    pub(crate) async fn models(
        &self,
        range: UnitRange,
        control: &dyn Control,
    ) -> Result<(UnitRange, Vec<P::Model>), QueueError> {
        match &self.device {
            Some(device) => Ok(device.train(self, range, control).await?),
            None => Ok((range, self.models_on_cpu(range, control)?)),
        }
    }

    /// Destroys the device, like a driver reset. For tests.
    #[doc(hidden)]
    pub fn lose_device(&self) {
        self.device.iter().for_each(WaveDevice::lose);
    }

    /// Prevents a lost device from being reopened. For tests.
    #[doc(hidden)]
    pub fn forbid_reopening(&self) {
        self.device.iter().for_each(WaveDevice::forbid_reopening);
    }
}

impl<P: OnDevice> Models<P> {
    /// Moves the models to a GPU, after a self-test; the CPU takes over if the device fails.
    ///
    /// A seed determines the same batches and random words as on the CPU. Sums are accumulated in a
    /// different order, so that trajectories differ from the CPU's but have the same distribution.
    ///
    /// | argument | meaning | unit |
    /// |---|---|---|
    /// | `adapter` | the GPU | – |
    /// | `memory_bytes` | limit on the device memory of a wave | bytes |
    /// | `keep_going` | called frequently; false cancels | – |
    ///
    /// # Errors
    /// `debias_records` above 0, which only the CPU supports; a model too large for the device or its
    /// memory; no device; a failed self-test; cancelled. The models are returned.
    ///
    /// # Numerics
    /// A batch is processed whole if four units fit in memory that way, otherwise in parts, whose sums
    /// differ in their last bits: with very little memory, the results depend on its amount.
    pub async fn on_device(
        self,
        adapter: &Adapter,
        memory_bytes: u64,
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Result<Self, Box<OpenError<Self>>> {
        let limits = WaveLimits::of_memory(memory_bytes);
        self.on_device_within(adapter, limits, None, keep_going).await
    }

    /// Moves the models to a GPU within given limits, with kernels modified by `edit`. For tests.
    ///
    /// # Errors
    /// As [`on_device`](Self::on_device).
    #[doc(hidden)]
    pub async fn on_device_within(
        self,
        adapter: &Adapter,
        limits: WaveLimits,
        edit: Option<SourceEdit>,
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Result<Self, Box<OpenError<Self>>> {
        let Models { planned, trainer } = self;
        match trainer.on_device_within(adapter, limits, edit, keep_going).await {
            Ok(trainer) => Ok(Models { planned, trainer }),
            Err(refused) => {
                let OpenError { cpu: trainer, error } = *refused;
                Err(Box::new(OpenError { cpu: Models { planned, trainer }, error }))
            }
        }
    }
}

/// The waves of a plan.
pub struct ModelsQueue<'a, P: OnDevice> {
    trainer: &'a Trainer<P>,
    device: &'a WaveDevice,
    stage: &'a StageOf<P>,
    control: &'a dyn Control,
}

impl<P: OnDevice> fmt::Debug for ModelsQueue<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelsQueue").finish_non_exhaustive()
    }
}

impl<'a, P: OnDevice> ModelsQueue<'a, P> {
    /// None if the CPU trains.
    pub(crate) fn new(
        trainer: &'a Trainer<P>,
        stage: &'a StageOf<P>,
        control: &'a dyn Control,
    ) -> Option<Self> {
        let device = trainer.device.as_ref()?;
        Some(ModelsQueue { trainer, device, stage, control })
    }
}

impl<P: OnDevice> Queue for ModelsQueue<'_, P> {
    type Evidence = EvidenceOf<P>;
    type Ticket = Wave<EvidenceOf<P>>;

    fn depth(&self) -> usize {
        1
    }

    fn smallest_wave(&self) -> u64 {
        self.trainer.training().units_per_wave(self.device.smallest_wave())
    }

    fn opening(&self) -> u64 {
        self.device.opening()
    }

    async fn submit(&mut self, range: UnitRange) -> Result<Self::Ticket, QueueError> {
        let started = self.control.now_ms();
        let (range, models) = self.device.train(self.trainer, range, self.control).await?;
        let evidence = P::evidence(self.trainer, self.stage, range, models)?;
        Ok(Wave { range, evidence, spent_ms: self.control.now_ms() - started })
    }

    async fn collect(&mut self, wave: Self::Ticket) -> Result<Self::Ticket, QueueError> {
        Ok(wave)
    }

    async fn reopen(&mut self, opening: u64) -> Result<bool, String> {
        self.device.reopen(opening).await
    }
}

impl WaveDevice {
    /// Opens an adapter and runs the self-test; `edit` changes kernels, for tests.
    pub(super) async fn open<P: OnDevice>(
        trainer: &Trainer<P>,
        adapter: &Adapter,
        limits: WaveLimits,
        edit: Option<SourceEdit>,
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Result<Self, EngineError> {
        trainer.training().prepare(keep_going).ok_or(EngineError::Stopped)?;
        let watch = Watch::new(keep_going);
        let open = Reopening::new(adapter, open_device(adapter, &limits).await?);
        let waves = self_tested_waves(&open.device(), trainer, &limits, edit, &watch).await?;
        Ok(WaveDevice { limits, edit, open, waves: Mutex::new(Some(waves)) })
    }

    /// Trains as many of the first units of a range as fit in a wave.
    pub(super) async fn train<P: OnDevice>(
        &self,
        trainer: &Trainer<P>,
        range: UnitRange,
        control: &dyn Control,
    ) -> Result<(UnitRange, Vec<P::Model>), GpuError> {
        let idle = lock(&self.waves).take();
        let mut waves = match idle {
            Some(waves) => waves,
            None => {
                let open = self.open.device();
                self_tested_waves(&open, trainer, &self.limits, self.edit, control).await?
            }
        };
        let trained = first_that_fit(&mut waves, trainer, range, control).await;
        *lock(&self.waves) = Some(waves);
        trained
    }
}

/// Trains as many of the first units of a range as fit in a wave.
async fn first_that_fit<P: OnDevice>(
    waves: &mut Waves,
    trainer: &Trainer<P>,
    range: UnitRange,
    control: &dyn Control,
) -> Result<(UnitRange, Vec<P::Model>), GpuError> {
    loop {
        let most = trainer.training().units_per_wave(waves.units());
        let range = UnitRange { end: range.end.min(range.first.saturating_add(most)), ..range };
        let reason = match P::train_wave(trainer, waves, range, control).await {
            Err(GpuError::Unfit(reason)) => reason,
            result => return Ok((range, result?)),
        };
        waves.halve(range.len(), reason, control)?;
    }
}

/// Compiles the kernels of a training and runs the self-test.
async fn self_tested_waves<P: OnDevice>(
    open: &Arc<OpenDevice>,
    trainer: &Trainer<P>,
    limits: &WaveLimits,
    edit: Option<SourceEdit>,
    control: &dyn Control,
) -> Result<Waves, GpuError> {
    let subject = trainer.training().subject();
    if let Some(what) = subject.unsupported {
        return Err(GpuError::Unfit(format!("{what} is supported on the CPU only")));
    }
    let pipelines = Pipelines::new(open, &subject, trainer.threads(), limits, edit).await?;
    let mut waves = Waves::new(pipelines, limits.work);
    P::self_test(trainer, &mut waves, control).await?;
    Ok(waves)
}

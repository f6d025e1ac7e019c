//! Federated trainings as a workload of the engine.

#[cfg(feature = "gpu")]
use dpscope_engine::gpu::Adapter;
use dpscope_engine::{ArtefactError, Control, Device, EngineError, UnitRange, Workload};
use dpscope_simulation::TrainingDigest;

use super::evidence::FederatedEvidence;
use super::plan::FederatedPlan;
use super::run::FederatedTask;
use super::trainer::FederatedTrainer;
use super::training::FederatedTraining;
use crate::TrainError;
#[cfg(feature = "gpu")]
use crate::gpu::{FederatedQueue, GpuFederated, OpenError, SourceEdit, WaveLimits};

/// A plan whose units are federated trainings: one per CPU thread, or several at a time whose clients
/// train together on a GPU.
///
/// # Guarantee
/// Shards merge to the undivided run, and the number of threads changes nothing
/// (`crates/train/tests/federated/main.rs::shards_and_threads_change_nothing`). On a GPU the cosines do
/// not depend on waves (`tests/gpu/federated.rs::cosines_do_not_depend_on_waves`) and equal the CPU's
/// within rounding (`tests/gpu/federated.rs::cosines_equal_those_of_the_cpu`); faulty kernels are
/// rejected (`tests/gpu/federated.rs::broken_local_training_is_rejected`), and no model is lost with the
/// device (`tests/gpu/federated.rs::a_lost_device_costs_no_federated_model`).
#[derive(Debug)]
pub struct FederatedModels {
    plan: FederatedPlan,
    trainer: FederatedTrainer,
    #[cfg(feature = "gpu")]
    gpu: Option<GpuFederated>,
}

impl FederatedModels {
    /// A plan with its training, on `threads` threads; 0 means one per core.
    ///
    /// # Errors
    /// A field of the plan outside its domain; a plan of another training; too much noise for adaptive
    /// clipping; the operating system provides no threads.
    pub fn new(
        plan: FederatedPlan,
        training: FederatedTraining,
        threads: usize,
    ) -> Result<Self, TrainError> {
        plan.check_fields()?;
        let is_same = plan.training == TrainingDigest::of(training.description())
            && plan.seed == training.seed;
        if !is_same {
            let what = "it was written for a different model, data set or options; pass the ones \
                        that the run was started with";
            return Err(EngineError::from(ArtefactError::WorkloadMismatch { what }).into());
        }
        if plan.attack.needs_updates() && !training.settings.sees_updates {
            return Err(TrainError::NoUpdates { attack: plan.attack.name() });
        }
        let expected = plan.design.mean();
        let settings = &training.settings;
        let (clients, _) = settings.cohorts(expected);
        if settings.clipping.sum_noise(settings.noise_multiplier, clients).is_none() {
            let (name, value) = ("noise_multiplier", settings.noise_multiplier);
            let domain = "below a tenth of the expected clients per round with adaptive clipping";
            return Err(TrainError::Domain { name, value, domain });
        }
        let task = |unit| {
            let (canaries, slots) = plan.canaries(unit);
            FederatedTask { unit, canaries, slots, expected, unseen: plan.unseen }
        };
        let tasks = (0..plan.models()).map(task).collect();
        let trainer = FederatedTrainer::new(training, tasks, threads)?;
        Ok(FederatedModels {
            plan,
            trainer,
            #[cfg(feature = "gpu")]
            gpu: None,
        })
    }

    /// The same with the clients on a GPU, after a self-test; the CPU takes over if the device fails.
    ///
    /// | argument | meaning | unit |
    /// |---|---|---|
    /// | `adapter` | the GPU | – |
    /// | `memory_bytes` | limit on the device memory of a wave | bytes |
    /// | `keep_going` | called frequently; false cancels | – |
    ///
    /// # Errors
    /// A model too large for the device or its memory; no device; a failed self-test; cancelled. The
    /// models are returned.
    #[cfg(feature = "gpu")]
    pub async fn on_device(
        self,
        adapter: &Adapter,
        memory_bytes: u64,
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Result<Self, Box<OpenError<Self>>> {
        let limits = WaveLimits::of_memory(memory_bytes);
        self.on_device_within(adapter, limits, None, keep_going).await
    }

    /// The same within given limits, with kernels modified by `edit`. For tests.
    ///
    /// # Errors
    /// As [`on_device`](Self::on_device).
    #[cfg(feature = "gpu")]
    #[doc(hidden)]
    pub async fn on_device_within(
        self,
        adapter: &Adapter,
        limits: WaveLimits,
        edit: Option<SourceEdit>,
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Result<Self, Box<OpenError<Self>>> {
        match GpuFederated::open(&self.trainer, adapter, limits, edit, keep_going).await {
            Ok(gpu) => Ok(FederatedModels { gpu: Some(gpu), ..self }),
            Err(error) => Err(Box::new(OpenError { cpu: self, error })),
        }
    }

    /// Destroys the device, like a driver reset; it is reopened if `may_reopen`. For tests.
    #[cfg(feature = "gpu")]
    #[doc(hidden)]
    pub fn lose_device(&self, may_reopen: bool) {
        self.gpu.iter().for_each(|gpu| gpu.lose_device(may_reopen));
    }

    pub(super) fn trainer(&self) -> &FederatedTrainer {
        &self.trainer
    }

    /// The training.
    #[must_use]
    pub fn training(&self) -> &FederatedTraining {
        self.trainer.training()
    }
}

impl Workload for FederatedModels {
    type Plan = FederatedPlan;
    #[cfg(feature = "gpu")]
    type Queue<'a> = FederatedQueue<'a>;
    #[cfg(not(feature = "gpu"))]
    type Queue<'a> = dpscope_engine::NoQueue<FederatedEvidence>;

    fn plan(&self) -> &FederatedPlan {
        &self.plan
    }

    fn first_stage(&self, _: &(dyn Fn() -> bool + Sync)) -> Result<(), EngineError> {
        Ok(())
    }

    fn empty(&self, (): &()) -> FederatedEvidence {
        let description = self.training().description().to_owned();
        FederatedEvidence { description, models: Vec::new() }
    }

    fn check(&self, (): &(), evidence: &FederatedEvidence) -> Result<(), ArtefactError> {
        if evidence.description == self.training().description() {
            return Ok(());
        }
        Err(ArtefactError::Inconsistent { what: "its training does not match its plan" })
    }

    fn cpu(&self) -> Device {
        self.trainer.device()
    }

    #[cfg(feature = "gpu")]
    fn device(&self) -> Device {
        self.gpu.as_ref().map_or_else(|| self.cpu(), GpuFederated::device)
    }

    fn smallest_wave(&self) -> u64 {
        self.trainer.smallest_wave()
    }

    fn compute(
        &self,
        (): &(),
        range: UnitRange,
        control: &dyn Control,
    ) -> Result<FederatedEvidence, EngineError> {
        let models = self.trainer.train(range, control)?;
        Ok(FederatedEvidence { description: self.training().description().to_owned(), models })
    }

    #[cfg(feature = "gpu")]
    fn queue<'a>(&'a self, (): &'a (), control: &'a dyn Control) -> Option<FederatedQueue<'a>> {
        self.gpu.as_ref().map(|gpu| FederatedQueue::new(gpu, &self.trainer, control))
    }
}

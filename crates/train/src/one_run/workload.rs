//! Trainings with canaries as a workload of the engine.

#[cfg(feature = "gpu")]
use dpscope_engine::gpu::Adapter;
use dpscope_engine::{ArtefactError, Control, Device, EngineError, UnitRange, Workload};
use dpscope_simulation::TrainingDigest;

use super::evidence::OneRunEvidence;
use super::plan::OneRunPlan;
use super::trainer::OneRunTrainer;
use super::training::OneRunTraining;
use crate::TrainError;
#[cfg(feature = "gpu")]
use crate::gpu::{GpuOneRun, OneRunQueue, OpenError, SourceEdit, WaveLimits};

/// A plan whose units are trainings with canaries: one per CPU thread, or many together on a GPU.
///
/// # Guarantee
/// Shards merge to the undivided run, and the number of threads changes nothing
/// (`crates/train/tests/one_run/main.rs::shards_and_threads_change_nothing`). On a GPU the scores of a
/// model do not depend on waves (`tests/gpu/one_run.rs::scores_do_not_depend_on_waves`) and equal the
/// CPU's within rounding (`tests/gpu/one_run.rs::scores_equal_those_of_the_cpu`); faulty kernels are
/// rejected (`tests/gpu/one_run.rs::broken_one_run_kernels_are_rejected`), and no model is lost with
/// the device (`tests/gpu/one_run.rs::a_lost_device_costs_no_model`).
#[derive(Debug)]
pub struct OneRunModels {
    plan: OneRunPlan,
    trainer: OneRunTrainer,
    #[cfg(feature = "gpu")]
    gpu: Option<GpuOneRun>,
}

impl OneRunModels {
    /// A plan with its training, on `threads` threads; 0 means one per core.
    ///
    /// # Errors
    /// A field of the plan outside its domain; a plan of another training; the operating system
    /// provides no threads.
    pub fn new(
        plan: OneRunPlan,
        training: OneRunTraining,
        threads: usize,
    ) -> Result<Self, TrainError> {
        plan.check_fields()?;
        let is_same = plan.training == TrainingDigest::of(training.description())
            && plan.mechanism == training.mechanism
            && plan.seed == training.seed
            && plan.canaries as usize == training.canaries.len();
        if !is_same {
            let what = "it was written for a different model, data set, set of canaries or options; \
                        pass the ones that the run was started with";
            return Err(EngineError::from(ArtefactError::WorkloadMismatch { what }).into());
        }
        if plan.score == super::OneRunScore::WhiteBox && !training.settings.is_white_box {
            return Err(TrainError::NoWhiteBox);
        }
        let trainer = OneRunTrainer::new(training, threads)?;
        Ok(OneRunModels {
            plan,
            trainer,
            #[cfg(feature = "gpu")]
            gpu: None,
        })
    }

    /// The same on a GPU, after a self-test; the CPU takes over if the device fails.
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
        match GpuOneRun::open(&self.trainer, adapter, limits, edit, keep_going).await {
            Ok(gpu) => Ok(OneRunModels { gpu: Some(gpu), ..self }),
            Err(error) => Err(Box::new(OpenError { cpu: self, error })),
        }
    }

    /// Destroys the device, like a driver reset; it is reopened if `may_reopen`. For tests.
    #[cfg(feature = "gpu")]
    #[doc(hidden)]
    pub fn lose_device(&self, may_reopen: bool) {
        self.gpu.iter().for_each(|gpu| gpu.lose_device(may_reopen));
    }

    pub(super) fn trainer(&self) -> &OneRunTrainer {
        &self.trainer
    }

    /// The training.
    #[must_use]
    pub fn training(&self) -> &OneRunTraining {
        self.trainer.training()
    }
}

impl Workload for OneRunModels {
    type Plan = OneRunPlan;
    #[cfg(feature = "gpu")]
    type Queue<'a> = OneRunQueue<'a>;
    #[cfg(not(feature = "gpu"))]
    type Queue<'a> = dpscope_engine::NoQueue<OneRunEvidence>;

    fn plan(&self) -> &OneRunPlan {
        &self.plan
    }

    fn first_stage(&self, keep_going: &(dyn Fn() -> bool + Sync)) -> Result<(), EngineError> {
        self.training().start(keep_going).map(|_| ()).ok_or(EngineError::Stopped)
    }

    fn empty(&self, (): &()) -> OneRunEvidence {
        let description = self.training().description().to_owned();
        OneRunEvidence { description, models: Vec::new() }
    }

    fn check(&self, (): &(), evidence: &OneRunEvidence) -> Result<(), ArtefactError> {
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
        self.gpu.as_ref().map_or_else(|| self.cpu(), GpuOneRun::device)
    }

    fn smallest_wave(&self) -> u64 {
        self.trainer.smallest_wave()
    }

    fn compute(
        &self,
        (): &(),
        range: UnitRange,
        control: &dyn Control,
    ) -> Result<OneRunEvidence, EngineError> {
        let models = self.trainer.train(range, control)?;
        Ok(OneRunEvidence { description: self.training().description().to_owned(), models })
    }

    #[cfg(feature = "gpu")]
    fn queue<'a>(&'a self, (): &'a (), control: &'a dyn Control) -> Option<OneRunQueue<'a>> {
        self.gpu.as_ref().map(|gpu| OneRunQueue::new(gpu, &self.trainer, control))
    }
}

//! Trained models as a workload of the engine.

use dpscope_engine::{ArtefactError, Control, Device, EngineError, Plan as _, UnitRange, Workload};
use dpscope_simulation::backend::CpuBackend;
use dpscope_simulation::{Layout, Plan, TrainingDigest, TrainingState, TwoWorlds, ValidPlan};

use crate::Training;
#[cfg(feature = "gpu")]
use crate::gpu::{GpuDpSgd, TrainingQueue};
use crate::trainer::{DpSgd, WaveScores};

/// Where models are trained.
#[derive(Debug)]
pub enum Trainer {
    /// On the CPU.
    Cpu(Box<DpSgd>),
    /// On a GPU; the CPU takes over if it fails.
    #[cfg(feature = "gpu")]
    Gpu(Box<GpuDpSgd>),
}

impl Trainer {
    pub(crate) fn cpu(&self) -> &DpSgd {
        match self {
            Trainer::Cpu(cpu) => cpu,
            #[cfg(feature = "gpu")]
            Trainer::Gpu(gpu) => gpu.cpu(),
        }
    }

    /// The training.
    #[must_use]
    pub fn training(&self) -> &Training {
        self.cpu().training()
    }

    /// Everything that determines the training except the plan, as JSON.
    #[must_use]
    pub fn description(&self) -> &str {
        self.training().description()
    }

    /// Name and float mode, for reports.
    #[must_use]
    pub fn device(&self) -> Device {
        match self {
            Trainer::Cpu(cpu) => cpu.device(),
            #[cfg(feature = "gpu")]
            Trainer::Gpu(gpu) => gpu.device(),
        }
    }

    /// Minimum number of runs of each world that occupies the device.
    #[must_use]
    pub fn smallest_wave(&self) -> u64 {
        match self {
            Trainer::Cpu(cpu) => cpu.smallest_wave(),
            #[cfg(feature = "gpu")]
            Trainer::Gpu(gpu) => gpu.smallest_wave(),
        }
    }

    /// Trains and scores the runs `range` of both worlds, or the first of them.
    ///
    /// # Errors
    /// The device fails; cancelled by `control`; an error of the sink.
    pub async fn train(
        &self,
        range: UnitRange,
        control: &dyn Control,
    ) -> Result<WaveScores, EngineError> {
        match self {
            Trainer::Cpu(cpu) => cpu.train(range, control),
            #[cfg(feature = "gpu")]
            Trainer::Gpu(gpu) => Ok(gpu.train(range, control).await?),
        }
    }
}

/// A plan whose observations are runs of a training. Its bins and thresholds are those of the
/// mechanism, simulated.
///
/// # Guarantee
/// A failed run is counted as an error of the attacker at every threshold
/// (`crates/train/src/trainer.rs::failed_runs_are_errors_at_every_threshold`); shards of trained runs merge to the undivided
/// run, and stopped ones resume (`crates/train/tests/shards.rs::shards_merge_to_the_whole`,
/// `crates/train/tests/shards.rs::stopped_runs_resume`).
#[derive(Debug)]
pub struct TrainedModels {
    plan: ValidPlan,
    trainer: Trainer,
    pilots: CpuBackend,
}

impl TrainedModels {
    /// A plan with its trainer, and the CPU that runs pilots.
    ///
    /// # Errors
    /// A plan of another training, or of a simulated mechanism.
    pub fn new(plan: ValidPlan, trainer: Trainer, pilots: CpuBackend) -> Result<Self, EngineError> {
        let what = match plan.plan().training {
            Some(digest) if digest == TrainingDigest::of(trainer.description()) => {
                return Ok(TrainedModels { plan, trainer, pilots });
            }
            Some(_) => {
                "it was written for a different model, data set or options; pass the ones that the \
                 run was started with"
            }
            None => "it counts a simulated mechanism, not trained models; name another file",
        };
        Err(ArtefactError::WorkloadMismatch { what }.into())
    }

    /// The trainer.
    #[must_use]
    pub fn trainer(&self) -> &Trainer {
        &self.trainer
    }
}

impl Workload for TrainedModels {
    type Plan = Plan;
    #[cfg(feature = "gpu")]
    type Queue<'a> = TrainingQueue<'a>;
    #[cfg(not(feature = "gpu"))]
    type Queue<'a> = dpscope_engine::NoQueue<TwoWorlds>;

    fn plan(&self) -> &Plan {
        self.plan.plan()
    }

    fn first_stage(&self, keep_going: &(dyn Fn() -> bool + Sync)) -> Result<Layout, EngineError> {
        Layout::of(&self.plan, &self.pilots, keep_going)
    }

    fn empty(&self, layout: &Layout) -> TwoWorlds {
        let training = Some(TrainingState::new(self.trainer.description()));
        TwoWorlds { training, ..self.plan().empty(layout) }
    }

    fn check(&self, _: &Layout, evidence: &TwoWorlds) -> Result<(), ArtefactError> {
        let description = evidence.training.as_ref().map(|training| &training.description[..]);
        if description == Some(self.trainer.description()) {
            return Ok(());
        }
        Err(ArtefactError::Inconsistent { what: "its training does not match its plan" })
    }

    fn cpu(&self) -> Device {
        self.trainer.cpu().device()
    }

    fn device(&self) -> Device {
        self.trainer.device()
    }

    fn smallest_wave(&self) -> u64 {
        self.trainer.cpu().smallest_wave()
    }

    fn compute(
        &self,
        layout: &Layout,
        range: UnitRange,
        control: &dyn Control,
    ) -> Result<TwoWorlds, EngineError> {
        Ok(self.trainer.cpu().train(range, control)?.evidence(&layout.bins))
    }

    #[cfg(feature = "gpu")]
    fn queue<'a>(
        &'a self,
        layout: &'a Layout,
        control: &'a dyn Control,
    ) -> Option<TrainingQueue<'a>> {
        let Trainer::Gpu(gpu) = &self.trainer else { return None };
        Some(TrainingQueue::new(gpu, &layout.bins, control))
    }
}

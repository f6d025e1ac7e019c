//! Trainings as a workload of the engine, whatever their protocol.

use std::borrow::Borrow;
use std::fmt::Debug;

use dpscope_engine::{Control, Device, EngineError, Plan, UnitRange};
use rayon::prelude::*;

use crate::TrainError;
#[cfg(feature = "gpu")]
use crate::gpu::WaveDevice;
use crate::threads::Threads;

/// The stage of a protocol's plans.
pub(crate) type StageOf<P> = <<P as Protocol>::Plan as Plan>::Stage;

/// The evidence of a protocol's plans.
pub(crate) type EvidenceOf<P> = <<P as Protocol>::Plan as Plan>::Evidence;

/// A training whose models are audited: the definition of one training, and what its models show.
pub trait Protocol: Debug + Send + Sync + Sized {
    /// The plans of its audits.
    type Plan: Plan;
    /// A plan with what its first stage needs.
    type Planned: Debug + Borrow<Self::Plan>;
    /// What training needs beside the definition.
    type Context: Debug + Send + Sync;
    /// The result of one training.
    type Model: Send;
    /// The memory of a thread.
    type Scratch<'a>
    where
        Self: 'a;

    /// Models of a unit: 2 if it is a run of each world.
    const MODELS_PER_UNIT: u64 = 1;

    /// Everything that determines the runs except the plan, as JSON.
    fn description(&self) -> &str;

    /// Computes what all runs start from; `None` if `keep_going` returned false.
    fn prepare(&self, _keep_going: &dyn Fn() -> bool) -> Option<()> {
        Some(())
    }

    /// The memory of a thread.
    fn scratch(&self) -> Self::Scratch<'_>;

    /// Trains the model of a random stream; `None` if `keep_going` returned false.
    fn train<'a>(
        &'a self,
        context: &Self::Context,
        stream: u64,
        scratch: &mut Self::Scratch<'a>,
        keep_going: &dyn Fn() -> bool,
    ) -> Option<Self::Model>;

    /// The first stage of a plan.
    ///
    /// # Errors
    /// `keep_going` returned false; a plan that cannot be executed.
    fn first_stage(
        &self,
        planned: &Self::Planned,
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Result<StageOf<Self>, EngineError>;

    /// Evidence of no units, with the description of the training.
    fn empty(&self, planned: &Self::Planned, stage: &StageOf<Self>) -> EvidenceOf<Self>;

    /// The description of the training of some evidence.
    fn described(evidence: &EvidenceOf<Self>) -> Option<&str>;

    /// The evidence of the models of some units, in the order of their streams.
    ///
    /// # Errors
    /// An error of a callback.
    fn evidence(
        trainer: &Trainer<Self>,
        stage: &StageOf<Self>,
        range: UnitRange,
        models: Vec<Self::Model>,
    ) -> Result<EvidenceOf<Self>, EngineError>;
}

/// Trains models on the threads of this machine, one per thread, or waves of them on a GPU.
#[derive(Debug)]
pub struct Trainer<P: Protocol> {
    training: P,
    pub(crate) context: P::Context,
    threads: Threads,
    #[cfg(feature = "gpu")]
    pub(crate) device: Option<WaveDevice>,
}

impl<P: Protocol> Trainer<P> {
    /// A trainer on `threads` threads; 0 means one per core.
    pub(crate) fn with(
        training: P,
        context: P::Context,
        threads: usize,
    ) -> Result<Self, TrainError> {
        Ok(Trainer {
            training,
            context,
            threads: Threads::new(threads)?,
            #[cfg(feature = "gpu")]
            device: None,
        })
    }

    /// The training.
    #[must_use]
    pub fn training(&self) -> &P {
        &self.training
    }

    /// The threads.
    pub(crate) fn threads(&self) -> &Threads {
        &self.threads
    }

    /// Name and float mode, for reports.
    #[must_use]
    pub fn device(&self) -> Device {
        #[cfg(feature = "gpu")]
        if let Some(device) = &self.device {
            return device.device();
        }
        self.threads.device()
    }

    /// Minimum number of units that occupies the device.
    #[must_use]
    pub fn smallest_wave(&self) -> u64 {
        #[cfg(feature = "gpu")]
        if let Some(device) = &self.device {
            return device.smallest_wave();
        }
        self.smallest_wave_of_cpu()
    }

    pub(crate) fn smallest_wave_of_cpu(&self) -> u64 {
        (self.threads.count() as u64).div_ceil(P::MODELS_PER_UNIT)
    }

    /// The random stream of each model of some units, those of the first world first.
    pub(crate) fn streams(range: UnitRange) -> Vec<u64> {
        let worlds = P::MODELS_PER_UNIT;
        let of_world = |world| (range.first..range.end).map(move |unit| worlds * unit + world);
        (0..worlds).flat_map(of_world).collect()
    }

    /// The results of the models of some units, in the order of their [`streams`](Self::streams).
    pub(crate) fn models_on_cpu(
        &self,
        range: UnitRange,
        control: &dyn Control,
    ) -> Result<Vec<P::Model>, EngineError> {
        let keep_going = || control.keep_going();
        self.training.prepare(&keep_going).ok_or(EngineError::Stopped)?;
        // a page's device cannot be shared between threads
        let (training, context) = (&self.training, &self.context);
        let train = |scratch: &mut _, stream| training.train(context, stream, scratch, &keep_going);
        let streams = Self::streams(range).into_par_iter();
        let models: Option<Vec<P::Model>> =
            self.threads.install(|| streams.map_init(|| training.scratch(), train).collect());
        models.ok_or(EngineError::Stopped)
    }
}

/// A plan with what trains its models.
///
/// # Guarantee
/// Shards merge to the undivided run, stopped ones resume, and the number of threads changes nothing
/// (`crates/train/tests/shards.rs::shards_merge_to_the_whole`,
/// `crates/train/tests/shards.rs::stopped_runs_resume`,
/// `crates/train/tests/one_run/mod.rs::shards_and_threads_change_nothing`,
/// `crates/train/tests/federated/mod.rs::shards_and_threads_change_nothing`). On a GPU the results of a
/// model do not depend on waves (`tests/gpu/training.rs::runs_do_not_depend_on_waves`,
/// `tests/gpu/one_run.rs::scores_do_not_depend_on_waves`,
/// `tests/gpu/federated.rs::cosines_do_not_depend_on_waves`) and equal the CPU's within rounding
/// (`tests/gpu/training.rs::broken_training_kernels_are_rejected`,
/// `tests/gpu/one_run.rs::scores_equal_those_of_the_cpu`,
/// `tests/gpu/federated.rs::cosines_equal_those_of_the_cpu`); faulty kernels are rejected
/// (`tests/gpu/one_run.rs::broken_one_run_kernels_are_rejected`,
/// `tests/gpu/federated.rs::broken_local_training_is_rejected`), and no model is lost with the device
/// (`tests/gpu/training.rs::a_lost_device_costs_no_run`,
/// `tests/gpu/one_run.rs::a_lost_device_costs_no_model`,
/// `tests/gpu/federated.rs::a_lost_device_costs_no_federated_model`).
#[derive(Debug)]
pub struct Models<P: Protocol> {
    pub(crate) planned: P::Planned,
    pub(crate) trainer: Trainer<P>,
}

impl<P: Protocol> Models<P> {
    /// What trains the models.
    #[must_use]
    pub fn trainer(&self) -> &Trainer<P> {
        &self.trainer
    }

    /// The training.
    #[must_use]
    pub fn training(&self) -> &P {
        self.trainer.training()
    }
}

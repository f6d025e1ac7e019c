//! The device that trains models.

use dpscope_engine::FloatMode;
use dpscope_engine::gpu::Adapter;
use dpscope_simulation::ValidPlan;
use dpscope_train::federated::FederatedModels;
use dpscope_train::gpu::{GpuDpSgd, OpenError};
use dpscope_train::one_run::OneRunModels;
use dpscope_train::{DpSgd, TrainedModels, Trainer, Training};
use pollster::block_on;

use super::outputs_file::OutputsFile;
use crate::args::{DeviceArgs, DeviceChoice, MemoryArgs};
use crate::device::{cpu, found, pick, replace_by_cpu};
use crate::failure::{Exit, Failure};
use crate::progress::keep_going;

/// The device selected for training.
pub(in crate::commands::audit) struct TrainingDevice<'a> {
    pub(in crate::commands::audit) args: &'a DeviceArgs,
    memory: MemoryArgs,
    /// None if the CPU trains.
    adapter: Option<Adapter>,
}

impl<'a> TrainingDevice<'a> {
    /// The CPU unless `--device` names another device: usually faster for federated trainings.
    pub(in crate::commands::audit) fn asked(
        args: &'a DeviceArgs,
        memory: MemoryArgs,
    ) -> Result<Self, Failure> {
        match args.device {
            DeviceChoice::Auto => Ok(TrainingDevice { args, memory, adapter: None }),
            _ => Self::select(args, memory, false),
        }
    }

    pub(in crate::commands::audit) fn select(
        args: &'a DeviceArgs,
        memory: MemoryArgs,
        is_debiased: bool,
    ) -> Result<Self, Failure> {
        let problem = if is_debiased {
            Some(
                "--debias-records is implemented on the CPU only; leave it out, or pass --device cpu",
            )
        } else if args.float_mode.map(FloatMode::from) == Some(FloatMode::Exact) {
            Some(
                "models are trained in float mode fast; leave --float-mode out, or pass --device cpu",
            )
        } else {
            None
        };
        let adapter = match (&args.device, problem) {
            (DeviceChoice::Cpu, _) | (DeviceChoice::Auto, Some(_)) => None,
            (_, Some(reason)) => return Err(Failure::with(Exit::Device, reason)),
            (choice, None) => pick(choice, &found())?.cloned(),
        };
        Ok(TrainingDevice { args, memory, adapter })
    }

    /// The models of a plan, trained on this device; their outputs are written.
    pub(super) fn models(
        &self,
        plan: ValidPlan,
        training: Training,
        outputs: Option<&OutputsFile>,
    ) -> Result<TrainedModels, Failure> {
        let threads = self.args.threads.map_or(0, usize::from);
        let mut on_cpu = DpSgd::new(training, threads)?;
        if let Some(outputs) = outputs {
            on_cpu = on_cpu.with_sink(Box::new(outputs.clone()));
        }
        Ok(TrainedModels::new(plan, self.trainer(on_cpu)?, cpu(self.args)?)?)
    }

    /// The trainer on the adapter, or on the CPU if there is no adapter or `auto` finds none that works.
    fn trainer(&self, on_cpu: DpSgd) -> Result<Trainer, Failure> {
        let Some(adapter) = &self.adapter else { return Ok(Trainer::Cpu(Box::new(on_cpu))) };
        let memory_bytes = self.memory_bytes(adapter);
        match block_on(GpuDpSgd::open(on_cpu, adapter, memory_bytes, &keep_going())) {
            Ok(gpu) => Ok(Trainer::Gpu(Box::new(gpu))),
            Err(failed) => Ok(Trainer::Cpu(Box::new(self.without_adapter(adapter, *failed)?))),
        }
    }

    /// Trainings with many canaries on the adapter, or on the CPU as in [`trainer`](Self::trainer).
    pub(super) fn one_run(&self, on_cpu: OneRunModels) -> Result<OneRunModels, Failure> {
        let Some(adapter) = &self.adapter else { return Ok(on_cpu) };
        let memory_bytes = self.memory_bytes(adapter);
        match block_on(on_cpu.on_device(adapter, memory_bytes, &keep_going())) {
            Ok(on_device) => Ok(on_device),
            Err(failed) => self.without_adapter(adapter, *failed),
        }
    }

    /// Federated trainings on the adapter, or on the CPU as in [`trainer`](Self::trainer).
    pub(in crate::commands::audit) fn federated(
        &self,
        on_cpu: FederatedModels,
    ) -> Result<FederatedModels, Failure> {
        let Some(adapter) = &self.adapter else { return Ok(on_cpu) };
        let memory_bytes = self.memory_bytes(adapter);
        match block_on(on_cpu.on_device(adapter, memory_bytes, &keep_going())) {
            Ok(on_device) => Ok(on_device),
            Err(failed) => self.without_adapter(adapter, *failed),
        }
    }

    fn memory_bytes(&self, adapter: &Adapter) -> u64 {
        match self.memory.device_memory {
            Some(mebibytes) => u64::from(mebibytes) << 20,
            None => GpuDpSgd::default_memory_bytes(adapter.facts()),
        }
    }

    /// What trains on the CPU after `auto` has found an adapter that failed.
    fn without_adapter<T>(&self, adapter: &Adapter, failed: OpenError<T>) -> Result<T, Failure> {
        replace_by_cpu(&self.args.device, adapter, "training", failed.error)?;
        Ok(failed.cpu)
    }
}

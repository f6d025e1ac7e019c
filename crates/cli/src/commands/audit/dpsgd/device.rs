//! The device that trains models.

use dpscope_engine::FloatMode;
use dpscope_engine::gpu::Adapter;
use dpscope_simulation::ValidPlan;
use dpscope_train::gpu::{OnDevice, default_memory_bytes};
use dpscope_train::{DpSgd, Models, TrainedModels, Training};
use pollster::block_on;

use super::outputs_file::OutputsFile;
use crate::args::{DeviceArgs, DeviceChoice, MemoryArgs};
use crate::device::{cpu, found, pick, replace_by_cpu};
use crate::disk::HAS_DISK;
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
            // a page opens its GPU itself
            _ if !HAS_DISK => None,
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
        let threads = self.args.threads();
        let mut on_cpu = DpSgd::new(training, threads)?;
        if let Some(outputs) = outputs {
            on_cpu = on_cpu.with_sink(Box::new(outputs.clone()));
        }
        self.opened(TrainedModels::new(plan, on_cpu, cpu(self.args)?)?)
    }

    /// Models on the adapter, or on the CPU if there is no adapter or `auto` finds none that works.
    pub(in crate::commands::audit) fn opened<P: OnDevice>(
        &self,
        on_cpu: Models<P>,
    ) -> Result<Models<P>, Failure> {
        // a page has no code that opens a device of the program
        let Some(adapter) = self.adapter.as_ref().filter(|_| HAS_DISK) else { return Ok(on_cpu) };
        let memory_bytes = self.memory_bytes(adapter);
        match block_on(on_cpu.on_device(adapter, memory_bytes, &keep_going())) {
            Ok(on_device) => Ok(on_device),
            Err(failed) => {
                replace_by_cpu(&self.args.device, adapter, "training", failed.error)?;
                Ok(failed.cpu)
            }
        }
    }

    fn memory_bytes(&self, adapter: &Adapter) -> u64 {
        match self.memory.device_memory {
            Some(mebibytes) => u64::from(mebibytes) << 20,
            None => default_memory_bytes(adapter.facts()),
        }
    }
}

//! Where models are trained.

use dpscope_engine::backend::FloatMode;
use dpscope_engine::backend::gpu::Adapter;
use dpscope_engine::{Backend, EngineError, Trainer};
use dpscope_train::gpu::GpuDpSgd;
use dpscope_train::{DpSgd, Training};

use super::outputs_file::OutputsFile;
use crate::args::{DeviceArgs, MemoryArgs};
use crate::device::{Choice, cpu, found, pick};
use crate::failure::{Exit, Failure};
use crate::output::tell;
use crate::progress::is_interrupted;

/// What `--device` names, for models.
pub(super) struct TrainingDevice<'a> {
    args: &'a DeviceArgs,
    memory: MemoryArgs,
    /// None where the CPU trains.
    adapter: Option<Adapter>,
}

impl<'a> TrainingDevice<'a> {
    pub(super) fn of(
        args: &'a DeviceArgs,
        memory: MemoryArgs,
        is_debiased: bool,
    ) -> Result<Self, Failure> {
        let refused = if is_debiased {
            Some(
                "--debias-records is computed on the CPU so far; leave it out, or say --device cpu",
            )
        } else if args.float_mode.map(FloatMode::from) == Some(FloatMode::Exact) {
            Some(
                "models are trained in float mode fast; leave --float-mode out, or say --device cpu",
            )
        } else {
            None
        };
        let adapter = match (&args.device, refused) {
            (Choice::Cpu, _) | (Choice::Auto, Some(_)) => None,
            (_, Some(reason)) => return Err(Failure::with(Exit::Device, reason)),
            (choice, None) => pick(choice, &found())?.cloned(),
        };
        Ok(TrainingDevice { args, memory, adapter })
    }

    /// What trains there, and keeps the outputs.
    pub(super) fn backend(
        &self,
        training: Training,
        outputs: Option<&OutputsFile>,
    ) -> Result<Backend, Failure> {
        let threads = self.args.threads.map_or(0, usize::from);
        let mut on_cpu = DpSgd::new(training, threads)?;
        if let Some(outputs) = outputs {
            on_cpu = on_cpu.with_sink(Box::new(outputs.clone()));
        }
        Ok(Backend::Trainer(self.trainer(on_cpu)?, cpu(self.args)?))
    }

    /// The trainer on the adapter, or the one on the CPU where there is none or `auto` finds none that
    /// works.
    fn trainer(&self, on_cpu: DpSgd) -> Result<Box<dyn Trainer>, Failure> {
        let Some(adapter) = &self.adapter else { return Ok(Box::new(on_cpu)) };
        let memory_bytes = match self.memory.device_memory {
            Some(mebibytes) => u64::from(mebibytes) << 20,
            None => GpuDpSgd::default_memory_bytes(adapter.facts()),
        };
        let refused = match GpuDpSgd::open(on_cpu, adapter, memory_bytes, &|| !is_interrupted()) {
            Ok(gpu) => return Ok(Box::new(gpu)),
            Err(refused) => *refused,
        };
        let is_auto = self.args.device == Choice::Auto;
        if !is_auto || matches!(refused.error, EngineError::Stopped) {
            return Err(refused.error.into());
        }
        let name = &adapter.facts().name;
        tell(&format!("warning: {name} is left out, the CPU trains: {}", refused.error));
        Ok(Box::new(refused.cpu))
    }
}

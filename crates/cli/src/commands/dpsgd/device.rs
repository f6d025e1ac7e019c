//! Where models are trained.

use dpscope_engine::backend::FloatMode;
use dpscope_engine::backend::gpu::Adapter;
use dpscope_engine::{EngineError, Trainer};
use dpscope_train::DpSgd;
use dpscope_train::gpu::GpuDpSgd;

use crate::args::DpSgdArgs;
use crate::device::{Choice, found, pick};
use crate::failure::{Exit, Failure};
use crate::progress::is_interrupted;
use crate::report::tell;

/// The adapter that `--device` names; none where the CPU is.
pub(super) fn adapter(args: &DpSgdArgs) -> Result<Option<Adapter>, Failure> {
    let choice = &args.device.device;
    let refused = if args.debias_records > 0 {
        Some("--debias-records is computed on the CPU so far; leave it out, or say --device cpu")
    } else if args.device.float_mode.map(FloatMode::from) == Some(FloatMode::Exact) {
        Some("models are trained in float mode fast; leave --float-mode out, or say --device cpu")
    } else {
        None
    };
    match (choice, refused) {
        (Choice::Cpu, _) | (Choice::Auto, Some(_)) => Ok(None),
        (_, Some(reason)) => Err(Failure::with(Exit::Device, reason)),
        (_, None) => Ok(pick(choice, &found())?.cloned()),
    }
}

/// The trainer on an adapter, or the one on the CPU where there is none or `auto` finds none that works.
pub(super) fn trainer(
    cpu: DpSgd,
    adapter: Option<&Adapter>,
    args: &DpSgdArgs,
) -> Result<Box<dyn Trainer>, Failure> {
    let Some(adapter) = adapter else { return Ok(Box::new(cpu)) };
    let memory_bytes = match args.device_memory {
        Some(mebibytes) => u64::from(mebibytes) << 20,
        None => GpuDpSgd::default_memory_bytes(adapter.facts()),
    };
    let refused = match GpuDpSgd::open(cpu, adapter, memory_bytes, &|| !is_interrupted()) {
        Ok(gpu) => return Ok(Box::new(gpu)),
        Err(refused) => *refused,
    };
    let is_auto = args.device.device == Choice::Auto;
    if !is_auto || matches!(refused.error, EngineError::Stopped) {
        return Err(refused.error.into());
    }
    let name = &adapter.facts().name;
    tell(&format!("warning: {name} is left out, the CPU trains: {}", refused.error));
    Ok(Box::new(refused.cpu))
}

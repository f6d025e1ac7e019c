//! Selects the device of `--device` and opens its backend.

use dpscope_engine::gpu::{Adapter, AdapterFacts, adapters, find, preferred};
use dpscope_engine::{EngineError, FloatMode};
use dpscope_simulation::Backend;
use dpscope_simulation::backend::CpuBackend;
use dpscope_simulation::backend::GpuBackend;

use crate::args::{DeviceArgs, DeviceChoice};
use crate::failure::{Exit, Failure};
use crate::output::print_note;

/// The selected adapter; none for the CPU.
pub(crate) fn pick<'a>(
    choice: &DeviceChoice,
    adapters: &'a [Adapter],
) -> Result<Option<&'a Adapter>, Failure> {
    let facts: Vec<AdapterFacts> = adapters.iter().map(|adapter| adapter.facts().clone()).collect();
    let failure = |message| Failure::with(Exit::Device, message);
    let picked = match choice {
        DeviceChoice::Cpu => None,
        DeviceChoice::Auto => preferred(&facts),
        DeviceChoice::Gpu => Some(
            preferred(&facts)
                .ok_or_else(|| failure(format!("no hardware GPU ({}); {INSTALL}", list(&facts))))?,
        ),
        DeviceChoice::Named(name) => Some(find(&facts, name).ok_or_else(|| {
            failure(format!(
                "no device `{name}` ({}); `dpscope devices` lists them, --device auto selects one",
                list(&facts)
            ))
        })?),
    };
    Ok(picked.and_then(|index| adapters.get(index)))
}

fn list(found: &[AdapterFacts]) -> String {
    let describe =
        |facts: &AdapterFacts| format!("{} {}, {}", facts.index, facts.name, kind(facts.hardware));
    let adapters: Vec<String> = found.iter().map(describe).collect();
    if adapters.is_empty() {
        return "no adapter found besides the CPU".to_owned();
    }
    format!("found besides the CPU: {}", adapters.join("; "))
}

/// The kind of an adapter in lists.
pub(crate) fn kind(hardware: bool) -> &'static str {
    if hardware { "hardware" } else { "software" }
}

/// How to make a GPU available.
pub(crate) const INSTALL: &str = if cfg!(any(target_os = "windows", target_os = "macos")) {
    "install the graphics driver of the GPU's vendor"
} else {
    "install the Vulkan driver of the GPU's vendor and the loader (Debian: libvulkan1); without a GPU, \
     mesa-vulkan-drivers and --device llvmpipe compute in software"
};

/// The adapters of this machine.
pub(crate) fn found() -> Vec<Adapter> {
    pollster::block_on(adapters())
}

/// The CPU with the threads of `--threads`.
pub(crate) fn cpu(args: &DeviceArgs) -> Result<CpuBackend, Failure> {
    Ok(CpuBackend::new(args.threads())?)
}

/// An adapter as a backend.
pub(crate) fn open(
    adapter: &Adapter,
    mode: FloatMode,
    args: &DeviceArgs,
) -> Result<Backend, Failure> {
    let gpu = pollster::block_on(GpuBackend::open(adapter, mode, cpu(args)?))?;
    Ok(Backend::Gpu(Box::new(gpu)))
}

/// The backend of `--device` and `--threads`, in a float mode.
pub(crate) fn backend(args: &DeviceArgs, mode: FloatMode) -> Result<Backend, Failure> {
    // Drivers are loaded only if one of them could be selected.
    let adapters = if args.device == DeviceChoice::Cpu { Vec::new() } else { found() };
    let Some(adapter) = pick(&args.device, &adapters)? else {
        return Ok(Backend::Cpu(cpu(args)?));
    };
    match open(adapter, mode, args) {
        Err(failure) if args.device == DeviceChoice::Auto => {
            let name = &adapter.facts().name;
            print_note(&format!(
                "warning: using the CPU, since {name} failed: {:#}",
                failure.error
            ));
            Ok(Backend::Cpu(cpu(args)?))
        }
        opened => opened,
    }
}

/// Lets the CPU do the work of an adapter that failed if `auto` selected it, and prints why.
///
/// # Errors
/// The failure of an adapter that was asked for; cancelled.
pub(crate) fn replace_by_cpu(
    choice: &DeviceChoice,
    adapter: &Adapter,
    work: &str,
    error: EngineError,
) -> Result<(), Failure> {
    if *choice != DeviceChoice::Auto || matches!(error, EngineError::Stopped) {
        return Err(error.into());
    }
    let name = &adapter.facts().name;
    print_note(&format!("warning: {work} on the CPU, since {name} failed: {error}"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_adapters_only_the_cpu_is_available() {
        for choice in [DeviceChoice::Auto, DeviceChoice::Cpu] {
            assert!(pick(&choice, &[]).unwrap().is_none());
        }
        for (choice, part) in
            [(DeviceChoice::Gpu, "install"), (DeviceChoice::Named("0".to_owned()), "`0`")]
        {
            let failure = pick(&choice, &[]).unwrap_err();
            assert_eq!(failure.code, Exit::Device);
            let message = failure.error.to_string();
            assert!(message.contains("no adapter found") && message.contains(part), "{message}");
        }
    }
}

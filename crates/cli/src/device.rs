//! Which device `--device` names, and its backend.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use dpscope_engine::Backend;
use dpscope_engine::backend::gpu::{Adapter, AdapterFacts, GpuBackend, adapters, find, preferred};
use dpscope_engine::backend::{CpuBackend, FloatMode};

use crate::args::DeviceArgs;
use crate::failure::{Exit, Failure};
use crate::output::tell;

/// What `--device` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Choice {
    /// A hardware GPU, else the CPU.
    Auto,
    Cpu,
    /// A hardware GPU.
    Gpu,
    /// An index or part of a name.
    Named(String),
}

impl FromStr for Choice {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text.to_lowercase().as_str() {
            // An environment variable that is set to nothing says nothing.
            "" | "auto" => Choice::Auto,
            "cpu" => Choice::Cpu,
            "gpu" => Choice::Gpu,
            _ => Choice::Named(text.to_owned()),
        })
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Choice::Auto => "auto",
            Choice::Cpu => "cpu",
            Choice::Gpu => "gpu",
            Choice::Named(name) => name,
        })
    }
}

/// Which of the adapters is meant; none where the CPU is.
pub(crate) fn pick<'a>(
    choice: &Choice,
    adapters: &'a [Adapter],
) -> Result<Option<&'a Adapter>, Failure> {
    let facts: Vec<AdapterFacts> = adapters.iter().map(|adapter| adapter.facts().clone()).collect();
    let refused = |message| Failure::with(Exit::Device, message);
    let picked = match choice {
        Choice::Cpu => None,
        Choice::Auto => preferred(&facts),
        Choice::Gpu => Some(
            preferred(&facts)
                .ok_or_else(|| refused(format!("no hardware GPU ({}); {INSTALL}", list(&facts))))?,
        ),
        Choice::Named(name) => Some(find(&facts, name).ok_or_else(|| {
            refused(format!(
                "no device `{name}` ({}); `dpscope devices` lists them, --device auto picks one",
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
        return "no adapter was found beside the CPU".to_owned();
    }
    format!("found beside the CPU: {}", adapters.join("; "))
}

/// What lists call an adapter.
pub(crate) fn kind(hardware: bool) -> &'static str {
    if hardware { "hardware" } else { "software" }
}

/// What makes a GPU show up.
pub(crate) const INSTALL: &str = if cfg!(any(target_os = "windows", target_os = "macos")) {
    "install the graphics driver of the GPU's vendor"
} else {
    "install the Vulkan driver of the GPU's vendor and the loader (Debian: libvulkan1); without a GPU, \
     mesa-vulkan-drivers and --device llvmpipe run the same programs in software"
};

/// The adapters of this machine.
pub(crate) fn found() -> Vec<Adapter> {
    pollster::block_on(adapters())
}

/// The CPU with the threads that were asked for.
pub(crate) fn cpu(args: &DeviceArgs) -> Result<CpuBackend, Failure> {
    Ok(CpuBackend::new(args.threads.map_or(0, usize::from))?)
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

/// The backend that `--device` and `--threads` name, in a float mode.
pub(crate) fn backend(args: &DeviceArgs, mode: FloatMode) -> Result<Backend, Failure> {
    // Drivers are loaded only where one of them could be meant.
    let adapters = if args.device == Choice::Cpu { Vec::new() } else { found() };
    let Some(adapter) = pick(&args.device, &adapters)? else {
        return Ok(Backend::Cpu(cpu(args)?));
    };
    match open(adapter, mode, args) {
        Err(failure) if args.device == Choice::Auto => {
            let name = &adapter.facts().name;
            tell(&format!("warning: {name} is left out, the CPU counts: {:#}", failure.error));
            Ok(Backend::Cpu(cpu(args)?))
        }
        opened => opened,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_choices_in_any_case_and_all_else_is_a_name() {
        let words = [
            ("auto", Choice::Auto),
            ("", Choice::Auto),
            ("CPU", Choice::Cpu),
            ("Gpu", Choice::Gpu),
        ];
        for (text, choice) in words {
            assert_eq!(text.parse(), Ok(choice));
        }
        for text in ["llvmpipe", "0", "cpu0", " "] {
            assert_eq!(text.parse(), Ok(Choice::Named(text.to_owned())));
        }
    }

    #[test]
    fn a_machine_without_adapters_has_only_the_cpu() {
        for choice in [Choice::Auto, Choice::Cpu] {
            assert!(pick(&choice, &[]).unwrap().is_none());
        }
        for (choice, part) in [(Choice::Gpu, "install"), (Choice::Named("0".to_owned()), "`0`")] {
            let refused = pick(&choice, &[]).unwrap_err();
            assert_eq!(refused.code, Exit::Device);
            let message = refused.error.to_string();
            assert!(
                message.contains("no adapter was found") && message.contains(part),
                "{message}"
            );
        }
    }
}

//! Which device `--device` names, and its backend.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use dpscope_engine::Backend;
use dpscope_engine::backend::gpu::{Adapter, AdapterFacts, GpuBackend, adapters};
use dpscope_engine::backend::{CpuBackend, FloatMode};

use crate::args::DeviceArgs;
use crate::failure::{Exit, Failure};
use crate::report::tell;

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
            "auto" => Choice::Auto,
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

/// What the choice between adapters rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    name: String,
    hardware: bool,
}

impl From<&AdapterFacts> for Candidate {
    fn from(facts: &AdapterFacts) -> Self {
        Candidate { name: facts.name.clone(), hardware: facts.hardware }
    }
}

impl Choice {
    /// Which of the adapters is meant; none where the CPU is.
    pub(crate) fn pick(&self, found: &[Candidate]) -> Result<Option<usize>, Failure> {
        let hardware = found.iter().position(|adapter| adapter.hardware);
        match self {
            Choice::Auto => Ok(hardware),
            Choice::Cpu => Ok(None),
            Choice::Gpu if hardware.is_none() => {
                let message = format!("no hardware GPU ({}); {INSTALL}", list(found));
                Err(Failure::with(Exit::Device, message))
            }
            Choice::Gpu => Ok(hardware),
            Choice::Named(name) => named(name, found).map(Some).ok_or_else(|| {
                let message = format!(
                    "no device `{name}` ({}); `dpscope devices` lists them, --device auto picks one",
                    list(found)
                );
                Failure::with(Exit::Device, message)
            }),
        }
    }
}

/// An index comes before a name, which may hold digits.
fn named(name: &str, found: &[Candidate]) -> Option<usize> {
    let index = name.parse().ok().filter(|&index: &usize| index < found.len());
    let part = name.to_lowercase();
    let holds = |adapter: &Candidate| adapter.name.to_lowercase().contains(&part);
    index.or_else(|| found.iter().position(holds).filter(|_| !part.trim().is_empty()))
}

fn list(found: &[Candidate]) -> String {
    let describe = |(index, adapter): (usize, &Candidate)| {
        format!("{index} {}, {}", adapter.name, kind(adapter.hardware))
    };
    let adapters: Vec<String> = found.iter().enumerate().map(describe).collect();
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

/// The adapter that `--device` names, of those in the list; none for the CPU.
pub(crate) fn pick<'a>(
    choice: &Choice,
    adapters: &'a [Adapter],
) -> Result<Option<&'a Adapter>, Failure> {
    let candidates: Vec<Candidate> = adapters.iter().map(|a| a.facts().into()).collect();
    Ok(choice.pick(&candidates)?.and_then(|index| adapters.get(index)))
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

    fn machine(adapters: &[(&str, bool)]) -> Vec<Candidate> {
        let candidate =
            |&(name, hardware): &(&str, bool)| Candidate { name: name.into(), hardware };
        adapters.iter().map(candidate).collect()
    }

    fn pick(text: &str, found: &[Candidate]) -> Result<Option<usize>, String> {
        let choice: Choice = text.parse().unwrap();
        choice.pick(found).map_err(|failure| {
            assert_eq!(failure.code, Exit::Device);
            failure.error.to_string()
        })
    }

    #[test]
    fn a_rasteriser_is_taken_only_by_name_or_index() {
        let software = machine(&[("llvmpipe (LLVM 15.0.6, 256 bits)", false)]);
        for text in ["auto", "cpu", "AUTO"] {
            assert_eq!(pick(text, &software), Ok(None), "{text}");
        }
        for text in ["llvmpipe", "LLVMpipe", "0"] {
            assert_eq!(pick(text, &software), Ok(Some(0)), "{text}");
        }
        let refused = pick("gpu", &software).unwrap_err();
        assert!(refused.contains("0 llvmpipe (LLVM 15.0.6, 256 bits), software"), "{refused}");
        assert!(refused.contains("install"), "{refused}");
    }

    #[test]
    fn hardware_is_found_by_kind_name_and_index() {
        let both = machine(&[("GeForce RTX 4090", true), ("Arc A770", true), ("llvmpipe", false)]);
        for (text, index) in
            [("auto", 0), ("gpu", 0), ("4090", 0), ("arc", 1), ("1", 1), ("2", 2), ("pipe", 2)]
        {
            assert_eq!(pick(text, &both), Ok(Some(index)), "{text}");
        }
        assert_eq!(pick("cpu", &both), Ok(None));
    }

    #[test]
    fn what_is_not_there_is_refused_with_what_is() {
        let both = machine(&[("Arc A770", true), ("llvmpipe", false)]);
        for text in ["3", "-1", "radeon", "", " ", "cuda:0"] {
            let refused = pick(text, &both).unwrap_err();
            assert!(refused.contains(&format!("`{text}`")), "{refused}");
            assert!(refused.contains("0 Arc A770, hardware; 1 llvmpipe, software"), "{refused}");
        }
        assert!(pick("gpu", &[]).unwrap_err().contains("no adapter was found"));
    }
}

//! Options of the device.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use dpscope_engine::FloatMode;

use crate::disk::HAS_DISK;

#[derive(Debug, Args)]
pub(crate) struct DeviceArgs {
    /// Device: auto, cpu, gpu, or an index or part of a name listed by `dpscope devices`.
    ///
    /// auto uses a hardware GPU if there is one, otherwise the CPU; audit fedavg uses the CPU, which is
    /// usually faster. gpu requires a hardware GPU and exits with code 4 without one. A software
    /// rasteriser must be selected by index or name.
    #[arg(long, default_value = "auto", env = "DPSCOPE_DEVICE", hide_env_values = true)]
    pub(crate) device: DeviceChoice,
    /// Floating-point mode of the GPU; the CPU is always exact.
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) float_mode: Option<FloatModeArg>,
    /// CPU threads [default: one per core].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}

impl DeviceArgs {
    /// Threads of the CPU, 0 for one per core; a page computes on the thread that asks.
    #[inline]
    pub(crate) fn threads(&self) -> usize {
        if HAS_DISK { self.threads.map_or(0, usize::from) } else { 1 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FloatModeArg {
    /// Scores within a proven error of the CPU's; the default for a new run.
    Fast,
    /// Scores bit-identical to the CPU's; falls back to the CPU where the GPU cannot do that.
    Exact,
}

impl From<FloatModeArg> for FloatMode {
    fn from(mode: FloatModeArg) -> Self {
        match mode {
            FloatModeArg::Fast => FloatMode::Fast,
            FloatModeArg::Exact => FloatMode::Exact,
        }
    }
}

/// The value of `--device`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DeviceChoice {
    /// A hardware GPU, else the CPU.
    Auto,
    Cpu,
    /// A hardware GPU.
    Gpu,
    /// An index or part of a name.
    Named(String),
}

impl FromStr for DeviceChoice {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text.to_lowercase().as_str() {
            // An empty environment variable counts as unset.
            "" | "auto" => DeviceChoice::Auto,
            "cpu" => DeviceChoice::Cpu,
            "gpu" => DeviceChoice::Gpu,
            _ => DeviceChoice::Named(text.to_owned()),
        })
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DeviceChoice::Auto => "auto",
            DeviceChoice::Cpu => "cpu",
            DeviceChoice::Gpu => "gpu",
            DeviceChoice::Named(name) => name,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_ignore_case_and_other_values_are_names() {
        let words = [
            ("auto", DeviceChoice::Auto),
            ("", DeviceChoice::Auto),
            ("CPU", DeviceChoice::Cpu),
            ("Gpu", DeviceChoice::Gpu),
        ];
        for (text, choice) in words {
            assert_eq!(text.parse(), Ok(choice));
        }
        for text in ["llvmpipe", "0", "cpu0", " "] {
            assert_eq!(text.parse(), Ok(DeviceChoice::Named(text.to_owned())));
        }
    }
}

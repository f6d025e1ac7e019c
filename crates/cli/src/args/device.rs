//! Where to compute.

use clap::{Args, ValueEnum};
use dpscope_engine::backend::FloatMode;

use crate::device::Choice;

#[derive(Debug, Args)]
pub(crate) struct DeviceArgs {
    /// Where to compute: auto, cpu, gpu, or an index or part of a name from `dpscope devices`.
    ///
    /// auto takes a hardware GPU, else the CPU. gpu takes a hardware GPU or ends with code 4. A
    /// software rasteriser is taken only by its index or name.
    #[arg(long, default_value = "auto", env = "DPSCOPE_DEVICE", hide_env_values = true)]
    pub(crate) device: Choice,
    /// How a GPU computes floats; exact counts bit for bit what the CPU counts, which is always exact.
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) float_mode: Option<FloatModeArg>,
    /// CPU threads; one a core if not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FloatModeArg {
    /// Scores within a derived error of the CPU's; the default, while a resumed run keeps its mode.
    Fast,
    /// Scores equal to the CPU's, bit for bit, or else the CPU counts.
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

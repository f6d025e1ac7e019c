//! Arguments that are about devices.

use clap::{Args, ValueEnum};
use dpscope_engine::backend::FloatMode;

use super::{SamplerArgs, ShowArgs, small_count};
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

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  dpscope devices --json")]
pub(crate) struct DevicesArgs {
    /// Print one JSON document on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  dpscope bench --device cpu --seconds 0.5\n\n\
        The CPU always stands beside the devices that --device names; auto names every hardware \
        GPU. Both float modes of a GPU are measured where --float-mode does not name one.")]
pub(crate) struct BenchArgs {
    /// Noise standard deviation divided by the clip norm, 0.2 to 20.
    #[arg(long, value_name = "S", default_value = "1")]
    pub(crate) noise_multiplier: f64,
    /// Batches an epoch, 1 to 100000.
    #[arg(long, value_name = "T", default_value = "100", value_parser = small_count)]
    pub(crate) steps: u32,
    /// Passes over the data, 1 to 1000.
    #[arg(long, value_name = "E", default_value = "1", value_parser = small_count)]
    pub(crate) epochs: u32,
    #[command(flatten)]
    pub(crate) sampler: SamplerArgs,
    /// How long each device counts in each float mode, about; up to 600.
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = seconds)]
    pub(crate) seconds: f64,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
}

/// A time that a person waits.
fn seconds(text: &str) -> Result<f64, String> {
    let parsed = text.parse().ok().filter(|&value: &f64| value > 0.0 && value <= 600.0);
    parsed.ok_or_else(|| format!("`{text}` is not a number of seconds above 0 and up to 600"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_stay_inside_their_domain() {
        assert_eq!([seconds("0.05"), seconds("600")], [Ok(0.05), Ok(600.0)]);
        for text in ["0", "-1", "601", "nan", "inf", "", "2s"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}

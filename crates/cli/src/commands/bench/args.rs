//! Arguments of `bench`.

use clap::Args;

use crate::args::{DeviceArgs, SamplerArgs, ShowArgs, small_count};

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

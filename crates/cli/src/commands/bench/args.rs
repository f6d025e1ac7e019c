//! Arguments of `bench`.

use clap::Args;

use crate::args::{DeviceArgs, MechanismArgs, ShowArgs};

#[derive(Debug, Args)]
#[command(
    mut_arg("noise_multiplier", |arg| arg.required(false).default_value("1")),
    mut_arg("steps", |arg| arg.default_value("100")),
    after_help = "Example:\n  dpscope bench --device cpu --seconds 0.5\n\n\
        The CPU is always measured; --device auto adds every hardware GPU. Without --float-mode, both \
        modes of a GPU are measured."
)]
pub(crate) struct BenchArgs {
    #[command(flatten)]
    pub(crate) mechanism: MechanismArgs,
    /// Approximate measuring time per device and float mode, up to 600.
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = seconds)]
    pub(crate) seconds: f64,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
}

/// A measuring time.
fn seconds(text: &str) -> Result<f64, String> {
    let parsed = text.parse().ok().filter(|&value: &f64| value > 0.0 && value <= 600.0);
    parsed.ok_or_else(|| format!("`{text}` is not allowed: expected seconds above 0 and up to 600"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_outside_their_domain_are_rejected() {
        assert_eq!([seconds("0.05"), seconds("600")], [Ok(0.05), Ok(600.0)]);
        for text in ["0", "-1", "601", "nan", "inf", "", "2s"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}

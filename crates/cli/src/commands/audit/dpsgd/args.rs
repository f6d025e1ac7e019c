//! Arguments of `audit dpsgd`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dpscope_train::CanaryDirection;

use super::one_run::{CanaryArgs, ProtocolArg};
use crate::args::{
    DELTA_ABOVE_0, DataArgs, MemoryArgs, RunArgs, SamplerArgs, count, epsilon, small_count,
};

const CHECKPOINT: &str = "Save the state to this file, once per second or after each wave of runs; \
                          resume from it with the same command or `dpscope resume`";
const SHARD: &str = "Train only shard i of N (from 1); join the shards with `dpscope merge`";

#[derive(Debug, Args)]
#[command(
    mut_arg("delta", |arg| arg.help(DELTA_ABOVE_0)),
    mut_arg("checkpoint", |arg| arg.help(CHECKPOINT)),
    mut_arg("shard", |arg| arg.help(SHARD)),
    after_help = "Examples:\n  dpscope audit dpsgd --batch-size 100 --poisson-epsilon 4 --runs 2000\n  \
        dpscope audit dpsgd --model lenet --data train-images-idx3-ubyte.gz \\\n    \
        --labels train-labels-idx1-ubyte.gz --classes 0,1 \\\n    \
        --batch-size 100 --poisson-epsilon 2 --runs 200\n  \
        dpscope audit dpsgd --protocol one-run --canaries 100 --repeats 4 \\\n    \
        --score white-box --records 1000 --batch-size 10 --poisson-epsilon 8\n\n\
        Models are trained together on a GPU if there is one, otherwise on the CPU. Under the threat \
        model worst-case the attacker chooses every gradient: no model is trained, and the result is \
        that of `audit bgm`."
)]
pub(crate) struct DpSgdArgs {
    /// Audit protocol [default: two-worlds].
    #[arg(long, value_enum)]
    pub(crate) protocol: Option<ProtocolArg>,
    /// Model: mlp, lenet or cnn, sized for the data, or a TOML file with a list of layers.
    #[arg(long, value_name = "MODEL", default_value = Self::MODEL)]
    pub(crate) model: String,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Number of training records, including canaries.
    #[arg(long, value_name = "N", default_value = "10000", value_parser = count)]
    pub(crate) records: u64,
    /// Passes over the data, 1 to 1000.
    #[arg(long, value_name = "E", default_value = "1", value_parser = small_count)]
    pub(crate) epochs: u32,
    /// Noise standard deviation divided by the clip norm, 0.2 to 20.
    #[arg(long, value_name = "S", required_unless_present = "poisson_epsilon")]
    pub(crate) noise_multiplier: Option<f64>,
    /// Calibrate the noise so that Poisson accounting claims this epsilon.
    #[arg(long, value_name = "EPS", value_parser = epsilon, conflicts_with = "noise_multiplier")]
    pub(crate) poisson_epsilon: Option<f64>,
    #[command(flatten)]
    pub(crate) sampler: SamplerArgs,
    /// Clip norm C of a record's gradient.
    #[arg(long, value_name = "C", default_value = "1")]
    pub(crate) clip_norm: f64,
    /// Learning rate, or `search` for a logarithmic search [default: the built-in model's rate;
    /// search for a model file].
    #[arg(long, value_name = "RATE")]
    pub(crate) learning_rate: Option<RateArg>,
    /// Direction of the canary's gradient.
    #[arg(long, value_enum, default_value = "random")]
    pub(crate) canary: CanaryArg,
    /// Draw the canary's gradient once for all runs, not once per run.
    #[arg(long)]
    pub(crate) fixed_canary: bool,
    /// Subtract the other records' mean gradient, estimated from M records, as a white-box attacker
    /// would.
    #[arg(long, value_name = "M", default_value = "0", value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    pub(crate) debias_records: u32,
    /// Runs in both worlds together; an even number, for example 1e4.
    #[arg(
        long,
        value_name = "N",
        value_parser = count,
        required_unless_present = "protocol",
        required_if_eq("protocol", "two-worlds")
    )]
    pub(crate) runs: Option<u64>,
    /// Write the outputs of every run to this npz file, for `dpscope audit outputs`.
    #[arg(long, value_name = "FILE.npz", conflicts_with = "shard")]
    pub(crate) outputs_to: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(flatten)]
    pub(crate) one_run: CanaryArgs,
}

impl DpSgdArgs {
    /// The default model.
    pub(crate) const MODEL: &str = "mlp";
}

/// A learning rate, or a search for one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum RateArg {
    Given(f64),
    Search,
}

impl std::str::FromStr for RateArg {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        match text {
            "search" => Ok(RateArg::Search),
            _ => text.parse().map(RateArg::Given).map_err(|_| "expected a number or `search`"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CanaryArg {
    /// Uniform on the unit sphere.
    Random,
    /// One parameter: a weight whose gradient is zero for every record, if any.
    Dirac,
}

impl From<CanaryArg> for CanaryDirection {
    fn from(canary: CanaryArg) -> Self {
        match canary {
            CanaryArg::Random => CanaryDirection::Random,
            CanaryArg::Dirac => CanaryDirection::Dirac,
        }
    }
}

//! Arguments of `canaries optimise`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dpscope_train::metagradient::MetaUpdate;

use super::memory::MemoryArg;
use crate::args::{DataArgs, DeviceChoice, ShowArgs, positive, seed};

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  dpscope canaries optimise --model mlp --data location-like --count 400 \\\n    --metasteps 120 --out optimised.npz\n\n\
        The first Ctrl-C saves the state; the same command resumes it, with the same result\n\
        on the same device."
)]
pub(crate) struct OptimiseArgs {
    /// mlp (32 tanh units), lenet or cnn (average pooling), sized for the data, or a model file.
    #[arg(long, value_name = "MODEL", default_value = "mlp")]
    pub(crate) model: String,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Number of canaries, at least 5.
    #[arg(long, value_name = "M", value_parser = positive)]
    pub(crate) count: u64,
    /// Number of optimisation steps (metasteps).
    #[arg(long, value_name = "N")]
    pub(crate) metasteps: u32,
    /// Output file of the canaries, npz.
    #[arg(long, value_name = "FILE.npz")]
    pub(crate) out: PathBuf,
    /// Checkpoint of the optimisation, resumed if it exists [default: --out with .part appended,
    /// removed at the end].
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Number of training records besides the canaries [default: all records of a file; 3000 of
    /// synthetic data].
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) records: Option<u64>,
    /// What canaries start from: records of the data, which are left out of the training.
    #[arg(long, value_enum, default_value = "random")]
    pub(crate) start: StartArg,
    #[command(flatten)]
    pub(crate) training: InnerArgs,
    /// Splits of the canaries per metastep; a model is trained with each half.
    #[arg(long, value_name = "R", default_value_t = 1)]
    pub(crate) splits: u32,
    /// Splits of each validation and of the final comparison.
    #[arg(long, value_name = "V", default_value_t = 4)]
    pub(crate) validation_splits: u32,
    /// Update rule of the canaries.
    #[arg(long, value_enum, default_value = "sign")]
    pub(crate) update: UpdateArg,
    /// Step size as a fraction of a feature's range; divided by 10 for the last fifth of the steps.
    #[arg(long, value_name = "A", default_value_t = 0.02)]
    pub(crate) step_size: f64,
    /// Write binary features without rounding them to 0 and 1.
    #[arg(long)]
    pub(crate) relaxed: bool,
    /// Memory for saved training states: store-all, two-level, or a limit in MiB. Less memory takes
    /// more time; the results are bit-identical.
    #[arg(long, value_name = "MIB", default_value = "1024")]
    pub(crate) memory: MemoryArg,
    /// Accept layers with discontinuous derivatives (relu, max-pool); metagradients are unreliable.
    #[arg(long)]
    pub(crate) allow_rough: bool,
    /// Device of gradients and second derivatives: auto, cpu, gpu, or an index or part of a name
    /// listed by `dpscope devices`.
    ///
    /// auto uses the CPU, which is usually faster. gpu requires a hardware GPU and exits with code 4
    /// without one. A software rasteriser must be selected by index or name.
    #[arg(long, default_value = "auto", env = "DPSCOPE_DEVICE", hide_env_values = true)]
    pub(crate) device: DeviceChoice,
    /// CPU threads [default: one per core].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Seed, below 2^53; never use it for coins, which need a secret one [default: that of the
    /// checkpoint, or fresh entropy].
    #[arg(long, value_parser = seed)]
    pub(crate) seed: Option<u64>,
    /// Draw the canaries before and after, and the progress of the optimisation, to a
    /// self-contained SVG file.
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
}

/// The trainings whose canaries are optimised.
#[derive(Debug, Args)]
pub(crate) struct InnerArgs {
    /// Steps of each training [default: 150; lenet 500, cnn 50].
    #[arg(long, value_name = "T")]
    pub(crate) steps: Option<u32>,
    /// Records per batch [default: 150; lenet and cnn 100].
    #[arg(long, value_name = "B")]
    pub(crate) batch_size: Option<u32>,
    /// Learning rate [default: 0.1; lenet and cnn 0.02].
    #[arg(long, value_name = "RATE")]
    pub(crate) learning_rate: Option<f64>,
    /// Momentum; 0 is SGD.
    #[arg(long, value_name = "MU", default_value_t = 0.9)]
    pub(crate) momentum: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StartArg {
    /// Records with their own labels.
    Random,
    /// Records with another label, chosen uniformly.
    Mislabelled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UpdateArg {
    /// Move every feature by the step size, against the sign of its gradient.
    Sign,
    /// Move features in proportion to the gradient, by at most the step size.
    Gradient,
    /// Like sign, with a moving sum of the gradients.
    Momentum,
}

impl From<UpdateArg> for MetaUpdate {
    fn from(update: UpdateArg) -> Self {
        match update {
            UpdateArg::Sign => MetaUpdate::Sign,
            UpdateArg::Gradient => MetaUpdate::Gradient,
            UpdateArg::Momentum => MetaUpdate::Momentum,
        }
    }
}

//! Arguments of `audit outputs`.

use std::path::PathBuf;

use clap::Args;

use crate::args::{RecordsArg, RuleArg, SamplerArgs, batch_size, small_count};
use crate::commands::audit::recorded::RecordedArgs;

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  dpscope audit outputs runs.npz --noise-multiplier 1.0 \\\n    \
        --threat-model partially-informed\n\n\
        runs.npz contains the arrays `target` and `zero_out`, of shape (runs, epochs, steps) or \
        (runs, steps), and optionally the numbers noise_multiplier, clip_norm and batch_size. With \
        sums_target and sums_zero_out (sums before noise) and uses_target and uses_zero_out (how \
        often the target is in each batch), of the same shape, faults are measured exactly. npy and \
        csv files (one row per run, epoch-major) contain one world each: --target FILE \
        --zero-out FILE."
)]
pub(crate) struct OutputsArgs {
    /// npz or safetensors file with the arrays `target` and `zero_out`; `-` for standard input.
    #[arg(value_name = "RUNS", required_unless_present = "target")]
    pub(crate) runs: Option<PathBuf>,
    /// Outputs of the runs with the target record.
    #[arg(long, value_name = "FILE", requires = "zero_out", conflicts_with = "runs")]
    pub(crate) target: Option<PathBuf>,
    /// Outputs of the runs with the zero-out record instead.
    #[arg(long, value_name = "FILE", requires = "target")]
    pub(crate) zero_out: Option<PathBuf>,
    /// Noise standard deviation divided by the clip norm, 0.2 to 20.
    #[arg(long, value_name = "S")]
    pub(crate) noise_multiplier: Option<f64>,
    #[command(flatten)]
    pub(crate) sampler: SamplerArgs,
    #[command(flatten)]
    pub(crate) records: RecordsArg,
    /// Epochs per run, if an array has no epoch axis [default: 1].
    #[arg(long, value_name = "E", value_parser = small_count)]
    pub(crate) epochs: Option<u32>,
    /// Clip norm C; outputs are divided by it [default: the number in the file, or 1].
    #[arg(long, value_name = "C")]
    pub(crate) clip_norm: Option<f64>,
    /// Use the numbers of the command line even where those in the file differ.
    #[arg(long = "override")]
    pub(crate) overrides: bool,
    /// Outputs are means over B records; they are multiplied by B.
    #[arg(long, value_name = "B", value_parser = batch_size)]
    pub(crate) per_batch_mean: Option<u32>,
    /// Step of each epoch whose batch contains the target, counted from 0 (deterministic batches only).
    #[arg(long, value_name = "STEP", default_value_t = 0)]
    pub(crate) target_step: u32,
    /// How the threshold is chosen.
    #[arg(long, value_enum, default_value = "simultaneous")]
    pub(crate) threshold_rule: RuleArg,
    #[command(flatten)]
    pub(crate) recorded: RecordedArgs,
}

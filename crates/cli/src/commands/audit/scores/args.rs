//! Arguments of `audit scores`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args::{AccountedArgs, RuleArg};
use crate::commands::audit::recorded::RecordedArgs;

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  dpscope audit scores --target in.npy --zero-out out.npy --claim 2.0 \\\n    \
        --report report.html"
)]
pub(crate) struct ScoresArgs {
    /// Scores of the runs with the target record: csv, npy, or npz or safetensors with one
    /// array; `-` for standard input.
    #[arg(long, value_name = "FILE")]
    pub(crate) target: PathBuf,
    /// Scores of the runs without the target record.
    #[arg(long, value_name = "FILE")]
    pub(crate) zero_out: PathBuf,
    /// Which world a higher score indicates.
    #[arg(long, value_enum, default_value = "target")]
    pub(crate) higher_means: WorldArg,
    /// Report a bound that stays valid if you look after every run and append runs to both files. It needs 1.3 to
    /// 2 times as many runs; run i of both files is a pair.
    #[arg(
        long,
        conflicts_with_all = ["threshold_rule", "metrics", "curves", "plot", "noise_multiplier", "seed"]
    )]
    pub(crate) anytime: bool,
    /// How the threshold is chosen.
    #[arg(long, value_enum, default_value = "split")]
    pub(crate) threshold_rule: RuleArg,
    #[command(flatten)]
    pub(crate) training: AccountedArgs,
    #[command(flatten)]
    pub(crate) recorded: RecordedArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WorldArg {
    Target,
    ZeroOut,
}

impl WorldArg {
    /// Its name in reports.
    pub(super) const fn name(self) -> &'static str {
        match self {
            WorldArg::Target => "target",
            WorldArg::ZeroOut => "zero-out",
        }
    }
}

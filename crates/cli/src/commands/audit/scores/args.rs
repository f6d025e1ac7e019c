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
    /// Bound epsilon so that results may be looked at after every run, and runs added at the end of the files;
    /// not tighter: it needs 1.3 to 2 times as many runs. Run i of both files is a pair.
    #[arg(long, conflicts_with_all = ["threshold_rule", "metrics", "curves", "plot"])]
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

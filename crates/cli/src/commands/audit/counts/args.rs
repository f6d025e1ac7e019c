//! Arguments of `audit counts`.

use clap::Args;

use crate::args::{AccountedArgs, ReportArgs, StatementArgs, count};

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  dpscope audit counts --false-positives 12 --zero-out-trials 1000 \\\n    \
        --false-negatives 480 --target-trials 1000"
)]
pub(crate) struct CountsArgs {
    /// Runs without the target record that the attack classified as runs with it.
    #[arg(long, value_name = "FP", value_parser = count)]
    pub(crate) false_positives: u64,
    /// Runs with the target record that the attack classified as runs without it.
    #[arg(long, value_name = "FN", value_parser = count)]
    pub(crate) false_negatives: u64,
    /// Runs with the target record.
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) target_trials: u64,
    /// Runs without the target record.
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) zero_out_trials: u64,
    #[command(flatten)]
    pub(crate) training: AccountedArgs,
    #[command(flatten)]
    pub(crate) statement: StatementArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

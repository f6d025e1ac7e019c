//! Arguments of `audit split`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args::{count, positive, seed};
use crate::commands::audit::drawn::DrawnTestArgs;
use crate::commands::audit::one_run::DirectionArg;

/// Options of scores, which counts replace.
const OF_SCORES: [&str; 6] =
    ["members", "non_members", "member_strata", "non_member_strata", "synthetic", "direction"];

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  dpscope audit split --members train-losses.npy --non-members held-out-losses.npy \\\n    \
        --direction lower --claim 2\n  dpscope audit split --members train.csv --non-members held-out.csv \\\n    \
        --synthetic released.csv\n  dpscope audit split --member-rows 1000 --non-member-rows 1000 \\\n    \
        --guesses-in 100 --correct-in 97 --guesses-out 100 --correct-out 80\n\n\
        Rule, sides, direction and numbers of guesses must be fixed before scores are looked at."
)]
pub(crate) struct SplitArgs {
    /// Scores of the rows that were trained on, one each; with --synthetic, the rows themselves: csv, npy,
    /// npz or safetensors.
    #[arg(
        long,
        value_name = "FILE",
        requires = "non_members",
        required_unless_present = "member_rows"
    )]
    pub(crate) members: Option<PathBuf>,
    /// Scores, or rows, that the same random draw held out.
    #[arg(long, value_name = "FILE", requires = "members")]
    pub(crate) non_members: Option<PathBuf>,
    /// Rows that a generator released: the score of a row is minus its distance to the nearest of them.
    #[arg(long, value_name = "FILE", requires = "members", conflicts_with = "direction")]
    pub(crate) synthetic: Option<PathBuf>,
    /// Stratum of each member, as a number, if the split was drawn within strata, such as labels.
    #[arg(long, value_name = "FILE", requires_all = ["members", "non_member_strata"])]
    pub(crate) member_strata: Option<PathBuf>,
    /// Stratum of each non-member.
    #[arg(long, value_name = "FILE", requires = "member_strata")]
    pub(crate) non_member_strata: Option<PathBuf>,
    /// Which scores indicate members.
    #[arg(long, value_enum, default_value = "higher")]
    pub(crate) direction: DirectionArg,
    /// The held-out rows were also used, for early stopping, tuning or calibration: bounds are then those of
    /// training and selection together, and say nothing of the training alone.
    #[arg(long, conflicts_with = "member_strata")]
    pub(crate) holdout_used: bool,
    /// How rows are guessed.
    #[arg(long, value_enum, default_value = "cut")]
    pub(crate) rule: SplitRuleArg,
    /// Rows named as members, 0 for none; in each stratum [default: √(10 · members), rounded up].
    #[arg(long, value_name = "K", value_parser = count, conflicts_with = "guesses")]
    pub(crate) guesses_in: Option<u64>,
    /// Rows named as non-members, 0 for none; in each stratum [default: √(10 · non-members), rounded up].
    #[arg(long, value_name = "K", value_parser = count, conflicts_with = "guesses")]
    pub(crate) guesses_out: Option<u64>,
    /// Guessed sets of --rule sets [default: √(10 · sets), rounded up].
    #[arg(long, value_name = "K", value_parser = positive)]
    pub(crate) guesses: Option<u64>,
    /// Number of rows that were trained on, in place of scores.
    #[arg(long, value_name = "N", value_parser = positive, requires = "non_member_rows",
        conflicts_with_all = OF_SCORES)]
    pub(crate) member_rows: Option<u64>,
    /// Number of rows that were held out.
    #[arg(long, value_name = "N", value_parser = positive, requires = "member_rows")]
    pub(crate) non_member_rows: Option<u64>,
    /// Correct ones of --guesses-in.
    #[arg(long, value_name = "V", value_parser = count, requires_all = ["member_rows", "guesses_in"])]
    pub(crate) correct_in: Option<u64>,
    /// Correct ones of --guesses-out.
    #[arg(long, value_name = "V", value_parser = count, requires_all = ["member_rows", "guesses_out"])]
    pub(crate) correct_out: Option<u64>,
    /// Correct ones of --guesses.
    #[arg(long, value_name = "V", value_parser = count, requires_all = ["member_rows", "guesses"])]
    pub(crate) correct: Option<u64>,
    /// Seed of the random sets of --rule sets, below 2^53.
    #[arg(long, value_parser = seed, default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) test: DrawnTestArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SplitRuleArg {
    /// Name the rows with the largest scores as members and those with the smallest as non-members.
    Cut,
    /// Name the odd row of random sets, which suits claims about replacing a row.
    Sets,
}

//! Arguments of `audit secrets`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};

use crate::args::{count, positive};
use crate::commands::audit::drawn::DrawnTestArgs;
use crate::commands::audit::one_run::DirectionArg;

#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("guessed").args(["ranks", "candidates", "records"]).required(true),
    after_help = "Examples:\n  dpscope audit secrets --records 200 --values 1e6 --guesses 7 --correct 7\n  \
        dpscope audit secrets --ranks ranks.npy --values 1e6 --claim 4\n  \
        dpscope audit secrets --candidates losses.npy --direction lower --guesses 20\n\n\
        With --list-length or --guesses, a list of values is named for each guessed secret; without them, \
        ranks of all secrets are tested at several lengths of lists together. Lengths, numbers of guesses \
        and the score must be fixed before anybody looks at results."
)]
pub(crate) struct SecretsArgs {
    /// Rank of each true value among all values, or among the decoys and itself, from 1; equal scores count
    /// against it.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["guesses", "correct"])]
    pub(crate) ranks: Option<PathBuf>,
    /// Scores of candidate values, a row per record: of the true value first, then of decoys that were drawn
    /// without replacement from the other values, or of all others with --values.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["correct", "decoys"])]
    pub(crate) candidates: Option<PathBuf>,
    /// Folder of a plan by `plan secrets --out`, which fixes all but the scores; its commitment is verified.
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with_all = [
            "records", "values", "decoys", "list_length", "guesses", "direction", "delta", "significance",
            "confidence"
        ]
    )]
    pub(crate) plan: Option<PathBuf>,
    /// Number of records with a secret, in place of files.
    #[arg(long, value_name = "M", value_parser = positive, requires = "correct")]
    pub(crate) records: Option<u64>,
    /// Number of values from which each secret was drawn, with equal probability.
    #[arg(long, value_name = "S", value_parser = positive, conflicts_with = "decoys")]
    pub(crate) values: Option<u64>,
    /// Number of decoys of each secret, drawn without replacement from the other values and never trained
    /// on.
    #[arg(long, value_name = "R", value_parser = positive)]
    pub(crate) decoys: Option<u64>,
    /// Values named for each guessed secret [default: 1, if secrets are guessed by lists].
    #[arg(long, value_name = "J", value_parser = positive)]
    pub(crate) list_length: Option<u64>,
    /// Guess this many secrets; of --candidates those with the clearest lists [default: all].
    #[arg(long, value_name = "K", value_parser = positive)]
    pub(crate) guesses: Option<u64>,
    /// Number of lists with the true value, in place of files.
    #[arg(long, value_name = "V", value_parser = count, requires = "records")]
    pub(crate) correct: Option<u64>,
    /// Which scores indicate the true value.
    #[arg(long, value_enum, default_value = "higher", requires = "candidates")]
    pub(crate) direction: DirectionArg,
    #[command(flatten)]
    pub(crate) test: DrawnTestArgs,
}

//! Arguments of `plan one-run`.

use std::path::PathBuf;

use clap::Args;
use dpscope_core::adjacency::Adjacency;

use crate::args::{LevelArgs, delta, epsilon, number, positive, small_count};
use crate::commands::audit::federated::{DesignArg, design};
use crate::commands::audit::one_run::{CanariesArg, DirectionArg, canaries};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  dpscope plan one-run --canaries 1000\n  \
        dpscope plan one-run --claim 4 --epsilon 1\n  \
        dpscope plan one-run --canaries canaries.npz --out plan\n  \
        dpscope plan one-run --canaries canaries.npz --runs 5 --out runs\n  \
        dpscope plan one-run --canaries canaries.npz --design poisson:10 --out drawn")]
pub(crate) struct OneRunPlanArgs {
    /// Number of canaries, or the file of the canaries, npz or npy.
    #[arg(long, value_name = "M|FILE", value_parser = canaries)]
    pub(crate) canaries: Option<CanariesArg>,
    /// How the number of canaries is drawn, for an audit without coins: poisson:MEAN, or fixed:NUMBER,
    /// which shows less. With --out, a Poisson number of canaries is drawn from the pool in --canaries.
    #[arg(
        long,
        value_parser = design,
        conflicts_with_all = [
            "epsilon", "guesses", "guesses_in", "guesses_out", "pairs", "set_size", "runs", "adjacency"
        ]
    )]
    pub(crate) design: Option<DesignArg>,
    /// Mu of the training, several separated by commas [default: that of --claim, or 0.5,1,2,3].
    #[arg(long, value_delimiter = ',', value_parser = number, conflicts_with = "claim")]
    pub(crate) mu: Vec<f64>,
    /// Epsilon reported for the training; its mu is that of a Gaussian mechanism.
    #[arg(long, value_name = "EPS", value_parser = epsilon)]
    pub(crate) claim: Option<f64>,
    /// Epsilon that the bound should reach; prints how many canaries this needs.
    #[arg(long, value_name = "EPS", value_parser = epsilon)]
    pub(crate) epsilon: Option<f64>,
    /// Draw the coins, and write plan, secret seed, coins and commitment to this folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Random bytes, in hexadecimal, that a third party published after the plan in --out was
    /// committed: draws the coins again, from the secret seed and these bytes.
    #[arg(
        long,
        value_name = "HEX",
        requires = "out",
        conflicts_with_all = [
            "canaries", "design", "mu", "claim", "epsilon", "guesses", "guesses_in", "guesses_out",
            "pairs", "set_size", "runs", "adjacency", "direction", "delta", "significance", "confidence"
        ]
    )]
    pub(crate) nonce: Option<String>,
    /// Guess this many of the most confident canaries [default: with --out, several numbers tested
    /// jointly; otherwise the best number for each size].
    #[arg(long, value_name = "K", value_parser = positive)]
    pub(crate) guesses: Option<u64>,
    /// Guess this many of the largest scores as included.
    #[arg(long, value_name = "K", value_parser = positive, conflicts_with = "guesses")]
    pub(crate) guesses_in: Option<u64>,
    /// Guess this many of the smallest scores as not included.
    #[arg(long, value_name = "K", value_parser = positive, conflicts_with = "guesses")]
    pub(crate) guesses_out: Option<u64>,
    /// Canaries 2i and 2i+1 are a pair, one of which is included.
    #[arg(long)]
    pub(crate) pairs: bool,
    /// Canaries Si to Si+S-1 are a set, one of which is included.
    #[arg(long, value_name = "S", value_parser = small_count, conflicts_with = "pairs")]
    pub(crate) set_size: Option<u32>,
    /// Number of planned training runs, each with its own coins; their evidence is combined.
    #[arg(long, value_name = "R", value_parser = positive, default_value = "1")]
    pub(crate) runs: u64,
    /// What stands in place of a canary that is not included [default: add-remove; sets and pairs:
    /// replace].
    #[arg(long)]
    pub(crate) adjacency: Option<Adjacency>,
    /// Which scores indicate an included canary.
    #[arg(long, value_enum, default_value = "higher")]
    pub(crate) direction: DirectionArg,
    /// Delta at which epsilon is bounded, several separated by commas [default: 1e-5].
    #[arg(long, value_delimiter = ',', value_parser = delta)]
    pub(crate) delta: Vec<f64>,
    #[command(flatten)]
    pub(crate) level: LevelArgs,
    /// Print one JSON document on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

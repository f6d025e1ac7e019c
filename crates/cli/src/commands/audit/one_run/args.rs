//! Arguments of `audit one-run`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};
use dpscope_core::adjacency::Adjacency;
use dpscope_core::mechanism::SamplerKind;
use dpscope_report::record::{ClaimTest, ScoreDirection};
use dpscope_report::words::CanaryGameKind;

use crate::args::{
    AccountedArgs, ClaimArgs, LevelArgs, PageArgs, ShowArgs, delta, open_unit, positive,
    small_count,
};
use crate::commands::audit::federated::{DesignArg, design};
use crate::failure::Failure;
use crate::output::{Delivery, claim_test};

/// Options of canaries with coins.
const WITH_COINS: [&str; 16] = [
    "correct",
    "coins",
    "plan",
    "canaries",
    "guesses",
    "guesses_in",
    "guesses_out",
    "sets",
    "pairs",
    "set_size",
    "inclusion_probability",
    "independent_coins",
    "base_data",
    "baseline",
    "adjacency",
    "self_test",
];

#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("sampled").args(["noise_multiplier", "projections"]).multiple(true),
    after_help = "Examples:\n  dpscope audit one-run --canaries 1000 --guesses 100 --correct 95\n  \
        dpscope audit one-run --scores scores.npy --coins coins.npy --claim 2\n  \
        dpscope audit one-run --scores scores.npy --plan plan\n  \
        dpscope audit one-run --canaries 1000 --guesses 100 --correct 95 \\\n      \
        --noise-multiplier 9 --steps 20\n  \
        dpscope audit one-run --scores in.npy --null-scores out.npy \\\n      \
        --design poisson:100"
)]
pub(crate) struct OneRunArgs {
    /// Scores of the canaries, one each or (queries, canaries) to be averaged: npy, npz, csv or
    /// safetensors; for a plan with several runs, one file per run, in order.
    #[arg(
        long,
        value_name = "FILE",
        num_args = 1..,
        conflicts_with = "correct",
        required_unless_present_any = ["correct", "projections"]
    )]
    pub(crate) scores: Vec<PathBuf>,
    /// Projections of the noisy gradients on the canaries' directions, of which scores are computed:
    /// (steps, canaries), in clip norms, gradients as sums over the batch; one file per run. They need the
    /// sampling rate.
    #[arg(
        long,
        value_name = "FILE",
        num_args = 1..,
        conflicts_with_all = ["scores", "correct", "null_scores", "pool_scores"]
    )]
    pub(crate) projections: Vec<PathBuf>,
    /// How the score of a canary follows from --projections; fixed before the training.
    #[arg(long, value_enum, default_value = "calibrated", requires = "projections")]
    pub(crate) score: ScoreArg,
    /// Scores of canaries that were not included, drawn from the same distribution as the included ones
    /// in --scores, and at least 100 times as many. No coins are needed.
    #[arg(long, value_name = "FILE", conflicts_with_all = WITH_COINS)]
    pub(crate) null_scores: Option<PathBuf>,
    /// Scores of all members of the pool from which the canaries in --scores were drawn, each with equal
    /// probability; a canary that was drawn twice has two scores.
    #[arg(long, value_name = "FILE", conflicts_with_all = WITH_COINS, conflicts_with = "null_scores")]
    pub(crate) pool_scores: Option<PathBuf>,
    /// How the number of canaries was drawn before the training, with --null-scores or --pool-scores:
    /// poisson:MEAN, bernoulli:SLOTS:PROBABILITY, fixed:NUMBER or fixed [default: fixed].
    #[arg(long, value_parser = design, conflicts_with_all = WITH_COINS)]
    pub(crate) design: Option<DesignArg>,
    /// Coins of the canaries: 1 if included, 0 if not; required without --plan.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["correct", "plan"])]
    pub(crate) coins: Option<PathBuf>,
    /// Folder of a committed plan; commitment, canaries and coins are verified.
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with_all = [
            "correct", "guesses", "guesses_in", "guesses_out", "sets", "pairs", "set_size", "adjacency",
            "inclusion_probability", "independent_coins", "direction", "delta", "significance",
            "confidence"
        ]
    )]
    pub(crate) plan: Option<PathBuf>,
    /// The revealed seed of the plan [default: seed.secret of the plan].
    #[arg(long, value_name = "FILE", requires = "plan")]
    pub(crate) seed: Option<PathBuf>,
    /// Number of canaries, or the file of the canaries: checked against coins and plan.
    #[arg(long, value_name = "M|FILE", value_parser = canaries)]
    pub(crate) canaries: Option<CanariesArg>,
    /// Guess this many of the most confident canaries, fixed before the coins were drawn
    /// [default: several numbers at a joint level].
    #[arg(long, value_name = "K", value_parser = positive)]
    pub(crate) guesses: Option<u64>,
    /// Guess this many of the largest scores as included.
    #[arg(long, value_name = "K", value_parser = positive, conflicts_with = "guesses")]
    pub(crate) guesses_in: Option<u64>,
    /// Guess this many of the smallest scores as not included.
    #[arg(long, value_name = "K", value_parser = positive, conflicts_with = "guesses")]
    pub(crate) guesses_out: Option<u64>,
    /// Number of correct guesses, in place of scores.
    #[arg(long, value_name = "V", value_parser = crate::args::count, requires = "canaries")]
    pub(crate) correct: Option<u64>,
    /// Set number of each canary; one canary of each set was included.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["pairs", "correct"])]
    pub(crate) sets: Option<PathBuf>,
    /// Canaries 2i and 2i+1 are a pair, one of which was included; with --correct, --canaries counts pairs.
    #[arg(long)]
    pub(crate) pairs: bool,
    /// Canaries Si to Si+S-1 form a set with one included; with --correct, --canaries counts sets.
    #[arg(long, value_name = "S", value_parser = small_count, conflicts_with_all = ["sets", "pairs"])]
    pub(crate) set_size: Option<u32>,
    /// Probability that each canary was included; needs one-sided guesses [default: 0.5].
    #[arg(long, value_name = "P", value_parser = open_unit,
        conflicts_with_all = ["sets", "pairs", "set_size"])]
    pub(crate) inclusion_probability: Option<f64>,
    /// State that each canary had a coin of its own; else a number of included canaries that suggests a
    /// draw of a fixed number is audited as such a draw.
    #[arg(long, conflicts_with_all = ["sets", "pairs", "set_size", "correct"])]
    pub(crate) independent_coins: bool,
    /// Training records other than the canaries; canaries that are also among them are counted.
    #[arg(long, value_name = "FILE", requires = "canaries", conflicts_with = "correct")]
    pub(crate) base_data: Option<PathBuf>,
    /// Scores of the same canaries before the training, or by a model trained without them.
    #[arg(long, value_name = "FILE", conflicts_with = "correct")]
    pub(crate) baseline: Option<PathBuf>,
    /// Which scores indicate an included canary [default: higher].
    #[arg(long, value_enum, conflicts_with = "correct")]
    pub(crate) direction: Option<DirectionArg>,
    /// What stands in place of a canary that is not included: nothing (add-remove), a zero gradient
    /// (zero-out) or another record (replace) [default: add-remove; sets and pairs: replace].
    #[arg(long)]
    pub(crate) adjacency: Option<Adjacency>,
    /// Delta at which epsilon is bounded, several separated by commas; 0 for pure DP
    /// [default: 1e-5].
    #[arg(long, value_delimiter = ',', value_parser = delta)]
    pub(crate) delta: Vec<f64>,
    #[command(flatten)]
    pub(crate) level: LevelArgs,
    #[command(flatten)]
    pub(crate) claim: ClaimArgs,
    #[command(flatten)]
    pub(crate) training: ClaimedTrainingArgs,
    /// Redraw the coins 1,000 times and check that no leak is reported; tests this program.
    #[arg(long, conflicts_with = "correct")]
    pub(crate) self_test: bool,
    /// Draw the ranking and the scores to a self-contained SVG file.
    #[arg(long, value_name = "FILE.svg", conflicts_with = "correct")]
    pub(crate) plot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) page: PageArgs,
    /// Print only the result and the verdict.
    #[arg(long, conflicts_with_all = ["json", "format"])]
    pub(crate) brief: bool,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
}

impl OneRunArgs {
    /// How the report is printed and written.
    pub(super) fn delivery(&self) -> Delivery<'_> {
        Delivery::of_audit(&self.page, self.show.json, self.brief, &self.claim)
    }
}

/// A training that is claimed as a whole.
#[derive(Debug, Args)]
pub(crate) struct ClaimedTrainingArgs {
    #[command(flatten)]
    pub(crate) accounted: AccountedArgs,
    /// Batch sampler of the claimed training, with --noise-multiplier.
    #[arg(long, default_value = "poisson", requires = "noise_multiplier")]
    pub(crate) sampler: SamplerKind,
    /// Probability that a record is in a batch, for --projections and of the claimed training (there poisson
    /// and fixed-size only) [default: 1/T of the claimed training].
    #[arg(long, value_name = "Q", requires = "sampled", conflicts_with = "dataset_size")]
    pub(crate) sampling_rate: Option<f64>,
}

impl OneRunArgs {
    /// Canaries of which one was included, stated by an option.
    pub(crate) fn set_size(&self) -> Option<u32> {
        self.set_size.or(self.pairs.then_some(2))
    }

    /// What the canaries certify.
    pub(super) fn adjacency_of(&self, game: CanaryGameKind) -> Result<Adjacency, Failure> {
        let of_game = match game {
            CanaryGameKind::Coins | CanaryGameKind::UnfairCoins | CanaryGameKind::FixedSize => {
                return Ok(self.adjacency.unwrap_or(Adjacency::AddRemove));
            }
            CanaryGameKind::Sets | CanaryGameKind::MatchedPairs => Adjacency::Replace,
        };
        match self.adjacency {
            Some(other) if other != of_game && game == CanaryGameKind::MatchedPairs => {
                Err(Failure::input(format!(
                    "--adjacency is {}, but exactly half of the canaries are included, so they \
                     are audited as pairs, which replace a record; leave --adjacency out{OWN_COINS}",
                    other
                        .to_possible_value()
                        .map_or_else(String::new, |value| value.get_name().to_owned())
                )))
            }
            Some(other) if other != of_game => Err(Failure::input(
                "--adjacency is not replace, but one canary of each pair or set is included: that \
             replaces a record; leave --adjacency out",
            )),
            _ => Ok(of_game),
        }
    }

    /// The δ of the statements.
    pub(crate) fn deltas(&self) -> Vec<f64> {
        if self.delta.is_empty() { vec![1e-5] } else { self.delta.clone() }
    }
}

/// The claim, at its own δ if that is one of the audited.
pub(super) fn test_of(
    args: &OneRunArgs,
    first: f64,
    all: &[f64],
    certified: Adjacency,
) -> Result<ClaimTest, Failure> {
    let claimed = args.claim.claim_delta.filter(|claimed| all.contains(claimed));
    let test = claim_test(&args.claim, claimed.unwrap_or(first))?;
    let is_replace = test.claim.is_some_and(|claim| claim.adjacency == Adjacency::Replace);
    if is_replace && certified == Adjacency::AddRemove {
        return Err(Failure::input(
            "--claim-adjacency is replace, but canaries that are absent say nothing about a \
             replacement; if another record took their place, pass --adjacency replace",
        ));
    }
    Ok(test)
}

/// A number of canaries, or their file.
#[derive(Debug, Clone)]
pub(crate) enum CanariesArg {
    Number(u64),
    File(PathBuf),
}

/// A positive number, or else a path.
pub(crate) fn canaries(text: &str) -> Result<CanariesArg, String> {
    if text.starts_with(|first: char| first.is_ascii_digit()) && !text.contains(".np") {
        return positive(text).map(CanariesArg::Number);
    }
    Ok(CanariesArg::File(PathBuf::from(text)))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScoreArg {
    /// Log-likelihood ratio with centre and noise of the projections themselves.
    Calibrated,
    /// Log-likelihood ratio with the --noise-multiplier of the claimed training.
    Stated,
    /// Sum of the projections of all steps.
    Sum,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DirectionArg {
    /// Larger scores, such as minus the loss.
    Higher,
    /// Smaller scores, such as the loss.
    Lower,
}

impl From<DirectionArg> for ScoreDirection {
    fn from(direction: DirectionArg) -> Self {
        match direction {
            DirectionArg::Higher => ScoreDirection::Higher,
            DirectionArg::Lower => ScoreDirection::Lower,
        }
    }
}

/// Advice after an error that an inferred draw causes.
pub(super) const OWN_COINS: &str =
    ", or pass --independent-coins if each canary had a coin of its own";

/// The name of the option in front of a message that starts with the argument.
pub(super) fn option_of(error: &impl std::fmt::Display) -> String {
    format!("--{error}")
}

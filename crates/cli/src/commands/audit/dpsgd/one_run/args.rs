//! Options of `audit dpsgd --protocol one-run`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dpscope_core::audit::one_run::GuessRule;
use dpscope_train::one_run::{CanaryKind, OneRunScore};

use crate::args::{positive, small_count};

/// Options of protocol one-run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of --protocol one-run")]
pub(crate) struct CanaryArgs {
    /// Number of canaries in each training run, at least 5; a fair coin decides on each.
    #[arg(long, value_name = "M", value_parser = small_count)]
    pub(crate) canaries: Option<u32>,
    /// Canaries to insert: npz with `inputs`, preprocessed as for the model, and `labels`.
    #[arg(long, value_name = "FILE.npz", conflicts_with = "canary_kind")]
    pub(crate) canary_file: Option<PathBuf>,
    /// Kind of canaries drawn from otherwise unused records [default: mislabelled].
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) canary_kind: Option<CanaryKindArg>,
    /// Number of audited training runs, each with its own coins; one bound covers all [default: 1].
    #[arg(long, value_name = "R", value_parser = small_count)]
    pub(crate) repeats: Option<u32>,
    /// Number of reference models, with their own coins, that calibrate the scores [default: 0].
    #[arg(long, value_name = "N", value_parser = small_count)]
    pub(crate) reference_models: Option<u32>,
    /// Score by which canaries are ranked [default: final-loss].
    #[arg(long, value_enum)]
    pub(crate) score: Option<ScoreArg>,
    /// Number of guesses over all repeats, most confident first [default: several numbers, tested
    /// jointly].
    #[arg(long, value_name = "K", value_parser = positive)]
    pub(crate) guesses: Option<u64>,
    /// Guess that the K canaries with the largest scores are included.
    #[arg(long, value_name = "K", value_parser = positive, conflicts_with = "guesses")]
    pub(crate) guesses_in: Option<u64>,
    /// Guess that the K canaries with the smallest scores are not included.
    #[arg(long, value_name = "K", value_parser = positive, conflicts_with = "guesses")]
    pub(crate) guesses_out: Option<u64>,
    /// Momentum of the updates, in [0, 1) [default: 0].
    #[arg(long, value_name = "B")]
    pub(crate) momentum: Option<f64>,
    /// Pre-train without privacy on N other records.
    #[arg(long, value_name = "N", value_parser = small_count)]
    pub(crate) pretrain_records: Option<u32>,
    /// Pre-training epochs [default: 1].
    #[arg(long, value_name = "E", value_parser = small_count, requires = "pretrain_records")]
    pub(crate) pretrain_epochs: Option<u32>,
    /// Pre-training learning rate [default: that of --learning-rate].
    #[arg(long, value_name = "RATE", requires = "pretrain_records")]
    pub(crate) pretrain_learning_rate: Option<f64>,
}

impl CanaryArgs {
    /// The options by name, and whether they are present.
    pub(crate) fn present(&self) -> [(&'static str, bool); 13] {
        [
            ("--canaries", self.canaries.is_some()),
            ("--canary-file", self.canary_file.is_some()),
            ("--canary-kind", self.canary_kind.is_some()),
            ("--repeats", self.repeats.is_some()),
            ("--reference-models", self.reference_models.is_some()),
            ("--score", self.score.is_some()),
            ("--guesses", self.guesses.is_some()),
            ("--guesses-in", self.guesses_in.is_some()),
            ("--guesses-out", self.guesses_out.is_some()),
            ("--momentum", self.momentum.is_some()),
            ("--pretrain-records", self.pretrain_records.is_some()),
            ("--pretrain-epochs", self.pretrain_epochs.is_some()),
            ("--pretrain-learning-rate", self.pretrain_learning_rate.is_some()),
        ]
    }

    pub(crate) fn score(&self) -> OneRunScore {
        self.score.unwrap_or(ScoreArg::FinalLoss).into()
    }

    pub(crate) fn kind(&self) -> CanaryKind {
        self.canary_kind.unwrap_or(CanaryKindArg::Mislabelled).into()
    }

    pub(crate) fn rule(&self) -> GuessRule {
        GuessRule::of_counts(self.guesses, self.guesses_in, self.guesses_out)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProtocolArg {
    /// Many training runs, with and without one canary.
    TwoWorlds,
    /// One or a few training runs with many canaries, each included by a fair coin.
    OneRun,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CanaryKindArg {
    /// Records with their own labels.
    Random,
    /// Records with a wrong label, chosen uniformly; easier to detect.
    Mislabelled,
}

impl From<CanaryKindArg> for CanaryKind {
    fn from(kind: CanaryKindArg) -> Self {
        match kind {
            CanaryKindArg::Random => CanaryKind::Random,
            CanaryKindArg::Mislabelled => CanaryKind::Mislabelled,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScoreArg {
    /// Negative loss of the trained model.
    FinalLoss,
    /// Loss before the training minus loss after it.
    LossDifference,
    /// Log-likelihood ratio of the noisy sums of all steps.
    WhiteBox,
}

impl From<ScoreArg> for OneRunScore {
    fn from(score: ScoreArg) -> Self {
        match score {
            ScoreArg::FinalLoss => OneRunScore::FinalLoss,
            ScoreArg::LossDifference => OneRunScore::LossDifference,
            ScoreArg::WhiteBox => OneRunScore::WhiteBox,
        }
    }
}

//! Arguments of `audit federated`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dpscope_core::audit::one_shot::{CanaryDesign, OneShotError};
use dpscope_report::words::OneShotAttacker;

use crate::args::{
    ClaimArgs, DeviceArgs, PageArgs, ShowArgs, StatementArgs, count, number, positive,
};
use crate::failure::Failure;
use crate::output::Delivery;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  dpscope audit federated --cosines cosines.csv --dimension 1e5 --claim 8\n  \
        dpscope audit federated --cosines cosines.csv --dimension 1e5 \\\n    \
        --design poisson:50\n  \
        dpscope audit federated --initial start.npy --final trained.npy \\\n    \
        --plan federated-plan\n  \
        dpscope audit federated --updates updates --plan updates-plan"
)]
pub(crate) struct FederatedArgs {
    /// Cosines between the canaries' directions and what the attacker sees: csv with the columns
    /// canary and cosine, or one cosine per canary; NaN for a canary without one.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["trained", "updates", "models"],
        required_unless_present_any = ["trained", "updates", "models"]
    )]
    pub(crate) cosines: Option<PathBuf>,
    /// The trained model: npy, npz or safetensors; repeat the option for a model in several files.
    #[arg(long = "final", value_name = "FILE", requires = "initial", requires = "plan")]
    pub(crate) trained: Vec<PathBuf>,
    /// The update of every server round: files (npy, npz, safetensors) in this order, a folder of
    /// them, sorted by number, or one array with a row per server round.
    #[arg(long, value_name = "PATH", num_args = 1.., requires = "plan",
        conflicts_with_all = ["trained", "models"])]
    pub(crate) updates: Vec<PathBuf>,
    /// The model after every server round, in place of --updates.
    #[arg(long, value_name = "PATH", num_args = 1.., requires = "initial", requires = "plan",
        conflicts_with = "trained")]
    pub(crate) models: Vec<PathBuf>,
    /// Server rounds of each canary (plans for --attacker known-server-rounds): csv with the columns
    /// canary and server_round, the latter starting at 1.
    #[arg(long, value_name = "FILE")]
    pub(crate) participation: Option<PathBuf>,
    /// Momentum of the server, which the audit undoes [default: 0].
    #[arg(long, value_name = "BETA", value_parser = number)]
    pub(crate) momentum: Option<f64>,
    /// Noise multiplier that the server states; it is tested against updates and replies.
    #[arg(long, value_name = "SIGMA", value_parser = number, requires = "clip_norm")]
    pub(crate) noise_multiplier: Option<f64>,
    /// Clipping norm of the server, for --noise-multiplier.
    #[arg(long, value_name = "C", value_parser = number, requires = "noise_multiplier")]
    pub(crate) clip_norm: Option<f64>,
    /// Number of clients that the server divides its sums by [default: 1, updates are sums].
    #[arg(long, value_name = "N", value_parser = positive, requires = "noise_multiplier")]
    pub(crate) planned_clients: Option<u64>,
    /// Learning rate of the server, by which --models change [default: 1].
    #[arg(long, value_name = "RATE", value_parser = number, requires = "noise_multiplier")]
    pub(crate) server_learning_rate: Option<f64>,
    /// Number of server rounds in which each client takes part, as claimed; it is tested against the
    /// updates.
    #[arg(long, value_name = "R", value_parser = positive, requires = "noise_multiplier")]
    pub(crate) participations: Option<u64>,
    /// Weights of the clients that replied: csv with the columns server_round and weight.
    #[arg(long, value_name = "FILE", requires = "planned_clients")]
    pub(crate) replies: Option<PathBuf>,
    /// The update of canary 0, as your code flattens it: npy, npz or safetensors; refused unless it
    /// has the direction of the plan.
    #[arg(long, value_name = "FILE", requires = "plan")]
    pub(crate) control: Option<PathBuf>,
    /// Whether the control client (`dpscope canaries direction --control`) is known to have taken part; its
    /// cosine must agree.
    #[arg(long, value_enum)]
    pub(crate) control_client: Option<ControlArg>,
    /// Cosine of the control client, with --cosines.
    #[arg(long, value_name = "COSINE", value_parser = number, requires = "cosines",
        requires = "control_client", allow_negative_numbers = true)]
    pub(crate) control_cosine: Option<f64>,
    /// The model before the training.
    #[arg(long, value_name = "FILE", conflicts_with = "updates")]
    pub(crate) initial: Option<PathBuf>,
    /// Folder of a plan that `dpscope plan federated` committed; it is verified.
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with_all = [
            "dimension", "design", "canaries", "attacker", "server_rounds", "delta", "significance",
            "confidence"
        ]
    )]
    pub(crate) plan: Option<PathBuf>,
    /// Number of trained parameters: the dimension of the directions.
    #[arg(long, value_name = "D", value_parser = positive, required_unless_present = "plan")]
    pub(crate) dimension: Option<u64>,
    /// How the number of canaries was drawn before the training: poisson:MEAN,
    /// bernoulli:SLOTS:PROBABILITY, fixed:NUMBER or fixed.
    #[arg(long, default_value = "fixed", value_parser = design)]
    pub(crate) design: DesignArg,
    /// Number of canaries that were inserted [default: number of cosines].
    #[arg(long, value_name = "K", value_parser = count)]
    pub(crate) canaries: Option<u64>,
    /// What the attacker sees.
    #[arg(long, value_enum, default_value = "final-model")]
    pub(crate) attacker: AttackerArg,
    /// Number of server rounds over which each cosine is the maximum (--attacker all-updates only).
    #[arg(long, value_name = "T", value_parser = positive)]
    pub(crate) server_rounds: Option<u64>,
    /// Cosines of directions that no client sent, to check dimension and flattening.
    #[arg(long, value_name = "FILE", requires = "cosines")]
    pub(crate) unseen: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    #[command(flatten)]
    pub(crate) statement: StatementArgs,
    #[command(flatten)]
    pub(crate) claim: ClaimArgs,
    /// Draw the scores and the bounds to a self-contained SVG file.
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) page: PageArgs,
    /// Print only the result and the verdict.
    #[arg(long, conflicts_with_all = ["json", "format"])]
    pub(crate) brief: bool,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
}

impl FederatedArgs {
    /// How the report is printed and written.
    pub(super) fn delivery(&self) -> Delivery<'_> {
        Delivery::of_audit(&self.page, self.show.json, self.brief, &self.claim)
    }
}

/// How the number of canaries is drawn; without a number, a fixed one is that of the canaries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum DesignArg {
    Poisson(f64),
    Bernoulli(u64, f64),
    Fixed(Option<u64>),
}

impl DesignArg {
    pub(crate) fn design(self, canaries: u64) -> CanaryDesign {
        match self {
            DesignArg::Poisson(mean) => CanaryDesign::Poisson { mean },
            DesignArg::Bernoulli(slots, inclusion) => CanaryDesign::Bernoulli { slots, inclusion },
            DesignArg::Fixed(number) => {
                CanaryDesign::Fixed { canaries: number.unwrap_or(canaries) }
            }
        }
    }
}

/// `poisson:1000`, `bernoulli:2000:0.5` or `fixed`.
pub(crate) fn design(text: &str) -> Result<DesignArg, String> {
    let parts: Vec<&str> = text.split(':').collect();
    match parts[..] {
        ["fixed"] => Ok(DesignArg::Fixed(None)),
        ["fixed", number] => positive(number).map(|number| DesignArg::Fixed(Some(number))),
        ["poisson", mean] => number(mean).map(DesignArg::Poisson),
        ["bernoulli", slots, probability] => {
            Ok(DesignArg::Bernoulli(positive(slots)?, number(probability)?))
        }
        _ => {
            Err("expected poisson:MEAN, bernoulli:SLOTS:PROBABILITY, fixed:NUMBER or fixed"
                .to_owned())
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AttackerArg {
    /// The final model, minus the initial one.
    FinalModel,
    /// Every server update; the score of a canary is its largest cosine.
    AllUpdates,
    /// Every server update, of clients that take part in all of them; scores use the sum of the
    /// updates, each scaled to norm 1.
    SumOfUpdates,
    /// Every server update, and when each client took part; scores use the sum of those updates.
    KnownServerRounds,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ControlArg {
    /// It took part, with an update long enough to be seen.
    Included,
    /// It did not take part.
    Excluded,
}

impl From<AttackerArg> for OneShotAttacker {
    fn from(attacker: AttackerArg) -> Self {
        match attacker {
            AttackerArg::FinalModel => OneShotAttacker::FinalModel,
            AttackerArg::AllUpdates => OneShotAttacker::AllUpdates,
            AttackerArg::SumOfUpdates => OneShotAttacker::SumOfUpdates,
            AttackerArg::KnownServerRounds => OneShotAttacker::KnownServerRounds,
        }
    }
}

/// As [`option_of`], where the number of canaries is that of the design.
pub(crate) fn option_of_design(error: OneShotError) -> Failure {
    match error {
        OneShotError::Canaries { .. } => Failure::input(format!("--design: {error}")),
        error => option_of(error),
    }
}

/// The name of the option in front of a message that starts with the argument.
pub(crate) fn option_of(error: OneShotError) -> Failure {
    match &error {
        OneShotError::Canaries { .. }
        | OneShotError::Dimension { .. }
        | OneShotError::Delta { .. }
        | OneShotError::Significance { .. } => Failure::input(format!("--{error}")),
        OneShotError::Inclusion { .. } => Failure::input(format!("--design: {error}")),
        _ => Failure::input(error),
    }
}

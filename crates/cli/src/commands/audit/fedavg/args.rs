//! Arguments of `audit fedavg`.

use clap::{Args, ValueEnum};
use dpscope_train::federated::{
    FederatedAttack, FederatedSettings, NoiseMechanism, Participation, UpdateClipping,
};

use crate::args::{DELTA_ABOVE_0, DataArgs, MemoryArgs, RunArgs, number, positive, small_count};
use crate::commands::audit::federated::{DesignArg, design};

/// Target quantile of the norms of updates, and how fast the norm follows it: those of Andrew et al.
/// (2021).
const QUANTILE: f64 = 0.5;
const CLIP_RATE: f64 = 0.2;

#[derive(Debug, Args)]
#[command(
    mut_arg("delta", |arg| arg.help(DELTA_ABOVE_0)),
    mut_arg("threshold_rule", |arg| arg.hide(true)),
    mut_arg("float_mode", |arg| arg.hide(true)),
    mut_arg("metrics", |arg| arg.hide(true)),
    mut_arg("curves", |arg| arg.hide(true)),
    mut_arg("plot", |arg| arg.help("Draw the scores and the bounds to a self-contained SVG file")),
    mut_arg("out", |arg| arg.help("Write the results of all trainings to this file, for `dpscope merge`")),
    after_help = "Examples:\n  dpscope audit fedavg --noise-multiplier 0.3 --delta 1e-6\n  \
        dpscope audit fedavg --noise-multiplier 0.3 --attack known-rounds --claim 30\n  \
        dpscope audit fedavg --noise-multiplier 1 --participation poisson:0.05 \\\n    \
        --concentration 0.5 --repeats 2\n  \
        dpscope audit fedavg --noise-multiplier 1 --noise-mechanism banded:10 \\\n    \
        --participation min-separation:5 --attack known-rounds"
)]
pub(crate) struct FedAvgArgs {
    /// Model: mlp, lenet or cnn, sized for the data, or a TOML file with a list of layers.
    #[arg(long, default_value = "mlp")]
    pub(crate) model: String,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Column of a csv file, or array of an npz file, with the client of each record; a tenth of the
    /// records of each client is held out.
    #[arg(long, value_name = "NAME", requires = "data",
        conflicts_with_all = ["clients", "records_per_client", "concentration"])]
    pub(crate) client_column: Option<String>,
    /// Number of clients, without canaries.
    #[arg(long, value_name = "N", default_value = "900", value_parser = small_count)]
    pub(crate) clients: u32,
    /// Records of each client.
    #[arg(long, value_name = "N", default_value = "10", value_parser = small_count)]
    pub(crate) records_per_client: u32,
    /// Distribute labels among clients by a Dirichlet distribution of this concentration [default: evenly].
    #[arg(long, value_name = "ALPHA", value_parser = number)]
    pub(crate) concentration: Option<f64>,
    /// Server rounds.
    #[arg(long, value_name = "T", default_value = "50", value_parser = small_count)]
    pub(crate) rounds: u32,
    /// Who takes part in which round: each-once, epochs:E (reshuffled), min-separation:E (one order for
    /// all epochs), poisson:RATE or fixed-size:N.
    #[arg(long, default_value = "epochs:5", value_parser = participation)]
    pub(crate) participation: Participation,
    /// Number of rounds of each canary, evenly spread [default: drawn like the rounds of clients].
    #[arg(long, value_name = "R", value_parser = small_count)]
    pub(crate) canary_presentations: Option<u32>,
    /// Passes of a participant over its records.
    #[arg(long, value_name = "E", default_value = "5", value_parser = small_count)]
    pub(crate) local_epochs: u32,
    /// Records of a local batch.
    #[arg(long, value_name = "B", default_value = "10", value_parser = small_count)]
    pub(crate) local_batch_size: u32,
    /// Learning rate of participants.
    #[arg(long, value_name = "RATE", default_value = "0.5", value_parser = number)]
    pub(crate) local_learning_rate: f64,
    /// Norm that updates are clipped to; with --adaptive-clipping, that of the first round.
    #[arg(long, value_name = "C", default_value = "1", value_parser = number)]
    pub(crate) clip_norm: f64,
    /// Adapt the clip norm to the median norm of updates, using part of the privacy budget.
    #[arg(long)]
    pub(crate) adaptive_clipping: bool,
    /// Standard deviation of the noise on the sum of updates, divided by the clip norm.
    #[arg(long, value_name = "SIGMA", value_parser = number)]
    pub(crate) noise_multiplier: f64,
    /// Correlation of the noise between rounds: gaussian (none), tree (DP-FTRL) or banded:BANDS (matrix
    /// factorisation).
    #[arg(long, value_name = "MECHANISM", default_value = "gaussian", value_parser = mechanism)]
    pub(crate) noise_mechanism: NoiseMechanism,
    /// Learning rate of the server.
    #[arg(long, value_name = "RATE", default_value = "1", value_parser = number)]
    pub(crate) server_learning_rate: f64,
    /// Momentum of the server.
    #[arg(long, value_name = "BETA", default_value = "0.9", value_parser = number)]
    pub(crate) server_momentum: f64,
    /// How the number of canaries is drawn: poisson:MEAN, bernoulli:SLOTS:PROBABILITY or fixed:NUMBER.
    #[arg(long, default_value = "poisson:200", value_parser = design)]
    pub(crate) design: DesignArg,
    /// The attack whose bound decides.
    #[arg(long, value_enum, default_value = "final-model")]
    pub(crate) attack: AttackArg,
    /// Score only the final model, so that updates are not stored.
    #[arg(long)]
    pub(crate) final_model_only: bool,
    /// Number of trainings, each with canaries and noise of its own; one bound covers all.
    #[arg(long, value_name = "R", default_value = "1", value_parser = positive)]
    pub(crate) repeats: u64,
    /// Number of trainings without canaries, to compare accuracies.
    #[arg(long, value_name = "N", default_value = "1", value_parser = small_count)]
    pub(crate) without_canaries: u32,
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AttackArg {
    /// Cosine with the change of the model.
    FinalModel,
    /// Largest cosine with an update.
    LargestUpdate,
    /// Cosine with the sum of all updates, each of norm 1.
    SumOfUpdates,
    /// Cosine with the sum of the updates of the canary's rounds.
    KnownRounds,
}

impl From<AttackArg> for FederatedAttack {
    fn from(attack: AttackArg) -> Self {
        match attack {
            AttackArg::FinalModel => FederatedAttack::FinalModel,
            AttackArg::LargestUpdate => FederatedAttack::LargestUpdate,
            AttackArg::SumOfUpdates => FederatedAttack::SumOfUpdates,
            AttackArg::KnownRounds => FederatedAttack::KnownRounds,
        }
    }
}

impl FedAvgArgs {
    pub(crate) fn settings(&self) -> FederatedSettings {
        let clipping = if self.adaptive_clipping {
            UpdateClipping::Adaptive {
                initial: self.clip_norm,
                quantile: QUANTILE,
                learning_rate: CLIP_RATE,
            }
        } else {
            UpdateClipping::Fixed { norm: self.clip_norm }
        };
        FederatedSettings {
            clients: self.clients,
            records_per_client: self.records_per_client,
            concentration: self.concentration,
            rounds: self.rounds,
            participation: self.participation,
            presentations: self.canary_presentations,
            local_epochs: self.local_epochs,
            local_batch_size: self.local_batch_size,
            local_learning_rate: self.local_learning_rate,
            clipping,
            noise_multiplier: self.noise_multiplier,
            noise_mechanism: self.noise_mechanism,
            server_learning_rate: self.server_learning_rate,
            server_momentum: self.server_momentum,
            sees_updates: !self.final_model_only,
        }
    }
}

/// `each-once`, `epochs:3`, `min-separation:3`, `poisson:0.1` or `fixed-size:30`.
fn participation(text: &str) -> Result<Participation, String> {
    match text.split(':').collect::<Vec<&str>>()[..] {
        ["each-once"] => Ok(Participation::Shuffled { epochs: 1 }),
        ["epochs", epochs] => count(epochs).map(|epochs| Participation::Shuffled { epochs }),
        ["min-separation", epochs] => {
            count(epochs).map(|epochs| Participation::MinSeparation { epochs })
        }
        ["poisson", rate] => number(rate).map(|rate| Participation::Poisson { rate }),
        ["fixed-size", cohort] => count(cohort).map(|cohort| Participation::FixedSize { cohort }),
        _ => Err(format!(
            "`{text}` is not each-once, epochs:E, min-separation:E, poisson:RATE or fixed-size:N"
        )),
    }
}

/// `gaussian`, `tree` or `banded:8`.
fn mechanism(text: &str) -> Result<NoiseMechanism, String> {
    match text.split(':').collect::<Vec<&str>>()[..] {
        ["gaussian"] => Ok(NoiseMechanism::Gaussian),
        ["tree"] => Ok(NoiseMechanism::Tree),
        ["banded", bands] => count(bands).map(|bands| NoiseMechanism::Banded { bands }),
        _ => Err(format!("`{text}` is not gaussian, tree or banded:BANDS")),
    }
}

fn count(text: &str) -> Result<u32, String> {
    match small_count(text)? {
        0 => Err(format!("`{text}` is too small: the smallest value is 1")),
        count => Ok(count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn participation_and_noise_are_parsed() {
        let epochs = 3;
        assert_eq!(participation("epochs:3"), Ok(Participation::Shuffled { epochs }));
        assert_eq!(participation("min-separation:3"), Ok(Participation::MinSeparation { epochs }));
        assert_eq!(participation("poisson:0.5"), Ok(Participation::Poisson { rate: 0.5 }));
        assert_eq!(mechanism("banded:4"), Ok(NoiseMechanism::Banded { bands: 4 }));
        for bad in ["", "banded", "banded:0", "tree:2"] {
            assert!(mechanism(bad).is_err(), "{bad}");
        }
        for bad in ["", "epochs", "epochs:0", "poisson:x", "fixed-size:-1", "each-once:2"] {
            assert!(participation(bad).is_err(), "{bad}");
        }
    }
}

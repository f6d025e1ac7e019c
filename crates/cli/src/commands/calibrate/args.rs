//! Arguments of `calibrate`.

use clap::{Args, ValueEnum};
use dpscope_core::accounting::Parameter;
use dpscope_core::adjacency::Adjacency;
use dpscope_core::mechanism::SamplerKind;

use crate::args::{LengthArgs, ParameterArgs, delta, epsilon, positive};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
        dpscope calibrate noise --epsilon 4 --steps 100\n  \
        dpscope calibrate epochs --epsilon 4 --steps 100 --noise-multiplier 1\n  \
        dpscope calibrate noise --epsilon 4 --steps 100 --sampler shuffle\n  \
        dpscope calibrate noise --epsilon 4 --steps 100 --sampler fixed-size\n  \
        dpscope calibrate noise --epsilon 4 --steps 100 --adjacency replace\n  \
        dpscope calibrate pate --epsilon 1 --teachers 5 --gamma 1e-3\n\n\
        For shuffled batches the only upper bound proven here is that of deterministic batches, under \
        zero-out or replace adjacency. It is used, and the result of Poisson accounting is shown for comparison.")]
pub(crate) struct TrainingCalibrateArgs {
    /// What to compute from the other options.
    #[arg(value_enum)]
    pub(crate) wanted: WantedArg,
    /// Target epsilon; not exceeded.
    #[arg(long, value_name = "EPS", value_parser = epsilon)]
    pub(crate) epsilon: f64,
    /// Noise standard deviation divided by the clip norm.
    #[arg(long, value_name = "S")]
    pub(crate) noise_multiplier: Option<f64>,
    #[command(flatten)]
    pub(crate) length: LengthArgs,
    /// Records per batch, with --dataset-size.
    #[arg(long, value_name = "B", value_parser = positive, requires = "dataset_size")]
    pub(crate) batch_size: Option<u64>,
    /// Delta of the target epsilon.
    #[arg(long, default_value = "1e-5", value_parser = delta)]
    pub(crate) delta: f64,
    /// How batches are drawn.
    #[arg(long, default_value = "poisson")]
    pub(crate) sampler: SamplerKind,
    /// What neighbouring data sets differ in [default: zero-out].
    #[arg(long)]
    pub(crate) adjacency: Option<Adjacency>,
    /// Probability that a record is in a batch, for samplers that draw each step anew [default: 1/T]; with
    /// it, --total-steps is enough.
    #[arg(long, value_name = "Q", conflicts_with = "dataset_size")]
    pub(crate) sampling_rate: Option<f64>,
    #[command(flatten)]
    pub(crate) parameters: ParameterArgs,
    /// Print one JSON document on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is calibrated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WantedArg {
    /// The smallest noise multiplier.
    Noise,
    /// The largest total number of steps, for samplers that draw each step anew.
    Steps,
    /// The largest number of epochs.
    Epochs,
}

impl From<WantedArg> for Parameter {
    fn from(wanted: WantedArg) -> Self {
        match wanted {
            WantedArg::Noise => Parameter::Noise,
            WantedArg::Steps => Parameter::Steps,
            WantedArg::Epochs => Parameter::Epochs,
        }
    }
}

//! Arguments of `calibrate`.

use clap::{Args, ValueEnum};
use dpscope_core::accounting::Parameter;
use dpscope_core::mechanism::SamplerKind;

use crate::args::{open_unit, positive, sampler_parser};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
        dpscope calibrate noise --epsilon 4 --steps 100\n  \
        dpscope calibrate epochs --epsilon 4 --steps 100 --noise-multiplier 1\n  \
        dpscope calibrate noise --epsilon 4 --steps 100 --sampler shuffle\n\n\
        Of every way to shuffle only one upper bound is proven, that of deterministic batches: it \
        is used, and what Poisson accounting would have asked for stands beside it.")]
pub(crate) struct CalibrateArgs {
    /// What is wanted; the rest is given.
    #[arg(value_enum)]
    pub(crate) wanted: WantedArg,
    /// The epsilon that must not be exceeded.
    #[arg(long, value_name = "EPS")]
    pub(crate) epsilon: f64,
    /// Noise standard deviation divided by the clip norm.
    #[arg(long, value_name = "S")]
    pub(crate) noise_multiplier: Option<f64>,
    /// Batches an epoch.
    #[arg(long, value_name = "T", value_parser = positive)]
    pub(crate) steps: Option<u64>,
    /// Passes over the data; 1 if not given.
    #[arg(long, value_name = "E", value_parser = positive)]
    pub(crate) epochs: Option<u64>,
    /// The delta of the statement.
    #[arg(long, default_value = "1e-5", value_parser = open_unit)]
    pub(crate) delta: f64,
    /// How batches are drawn.
    #[arg(long, default_value = "poisson", value_parser = sampler_parser())]
    pub(crate) sampler: SamplerKind,
    /// Chance of a record to be in a batch (poisson only); 1/T if not given.
    #[arg(long, value_name = "Q")]
    pub(crate) sampling_rate: Option<f64>,
    /// Print one JSON document on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is calibrated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WantedArg {
    /// The least noise multiplier.
    Noise,
    /// The most steps in all (poisson only).
    Steps,
    /// The most epochs.
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

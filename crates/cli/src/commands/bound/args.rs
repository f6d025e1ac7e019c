//! Arguments of `bound`.

use clap::{Args, ValueEnum};
use dpscope_core::accounting::{Directions, Kind, ShuffleMethod};
use serde::Serialize;

use crate::args::{DeviceArgs, SettingArgs, ShowArgs, count, open_unit, seed};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
        dpscope bound poisson --noise-multiplier 1 --steps 100\n  \
        dpscope bound shuffle --noise-multiplier 1 --steps 100 --epochs 5\n  \
        dpscope bound pair --side lower --noise-multiplier 1 --steps 100\n\n\
        Shuffled data accounted as if it were Poisson sampled leaks more than is claimed: compare \
        `bound poisson --side upper` with `bound shuffle --side lower`.")]
pub(crate) struct BoundArgs {
    /// Whose epsilon is bounded.
    #[arg(value_enum)]
    pub(crate) subject: Bounded,
    /// Which side; by default lower for shuffle and upper for the rest.
    #[arg(long, value_enum)]
    pub(crate) side: Option<SideArg>,
    /// Closed form of the two shuffles; by default the best.
    #[arg(long, value_enum)]
    pub(crate) method: Option<MethodArg>,
    #[command(flatten)]
    pub(crate) setting: SettingArgs,
    /// The delta at which epsilon is wanted.
    #[arg(long, default_value = "1e-5", value_parser = open_unit)]
    pub(crate) delta: f64,
    /// The epsilon at which delta is wanted instead.
    #[arg(long, value_name = "EPS", conflicts_with = "delta")]
    pub(crate) epsilon: Option<f64>,
    /// Chance of a record to be in a batch (poisson only); 1/T if not given.
    #[arg(long, value_name = "Q")]
    pub(crate) sampling_rate: Option<f64>,
    /// Whose epsilon: with the record against without, or the reverse; by default the larger.
    #[arg(long, value_enum)]
    pub(crate) direction: Option<DirectionArg>,
    /// Draws of the pair; by default as many as take well under a second.
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) observations: Option<u64>,
    /// Chance that the pair's lower limit is wrong: 0.05, the default, is 95 % confidence.
    #[arg(long, value_parser = open_unit)]
    pub(crate) significance: Option<f64>,
    /// Seed of the draws of the pair, below 2^53; fresh entropy if not given.
    #[arg(long, value_parser = seed)]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
}

/// Whose ε is bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Bounded {
    /// Each record in each batch with the same chance.
    Poisson,
    /// Each record in the same batch of each epoch; proven for every shuffle as well.
    Deterministic,
    /// Each record in one batch of each epoch, drawn uniformly and independently.
    BallsInBins,
    /// The data shuffled anew in every epoch.
    Shuffle,
    /// One order of the data for all epochs.
    PersistentShuffle,
    /// The exact pair of worlds that an audit of shuffled batches looks at.
    Pair,
}

/// On which side of the truth a value lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SideArg {
    /// Not below the truth.
    Upper,
    /// Not above the truth.
    Lower,
    /// Near the truth, on either side.
    Estimate,
}

impl From<SideArg> for Kind {
    fn from(side: SideArg) -> Self {
        match side {
            SideArg::Upper => Kind::Upper,
            SideArg::Lower => Kind::Lower,
            SideArg::Estimate => Kind::Estimate,
        }
    }
}

/// A closed form of shuffled batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodArg {
    /// The largest output of each epoch.
    MaxSlice,
    /// The sum of the outputs of each epoch.
    Sum,
    /// Whichever says more.
    Best,
}

impl From<MethodArg> for ShuffleMethod {
    fn from(method: MethodArg) -> Self {
        match method {
            MethodArg::MaxSlice => ShuffleMethod::MaxSlice,
            MethodArg::Sum => ShuffleMethod::Sum,
            MethodArg::Best => ShuffleMethod::Best,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DirectionArg {
    Remove,
    Add,
    Both,
}

impl From<DirectionArg> for Directions {
    fn from(direction: DirectionArg) -> Self {
        match direction {
            DirectionArg::Remove => Directions::Remove,
            DirectionArg::Add => Directions::Add,
            DirectionArg::Both => Directions::Both,
        }
    }
}

//! Arguments of `bound`.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use dpscope_core::accounting::{Directions, Kind, ShuffleMethod};
use dpscope_core::adjacency::Adjacency;
use dpscope_report::record::BoundSubject;

use crate::args::{
    DeviceArgs, LevelArgs, ParameterArgs, SettingArgs, ShowArgs, count, delta, epsilon, seed,
};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
        dpscope bound poisson --noise-multiplier 1 --steps 100\n  \
        dpscope bound fixed-size --noise-multiplier 1 --steps 100 --sampling-rate 0.01\n  \
        dpscope bound shuffle --noise-multiplier 1 --steps 100 --epochs 5\n  \
        dpscope bound pair --side lower --noise-multiplier 1 --steps 100\n  \
        dpscope bound pate --teachers 5 --gamma 1e-3 --iterations 32\n\n\
        Shuffled batches can leak more than Poisson accounting claims: compare `bound poisson \
        --side upper` with `bound shuffle --side lower`.")]
pub(crate) struct TrainingBoundArgs {
    /// What is bounded.
    #[arg(value_parser = subject())]
    pub(crate) subject: BoundSubject,
    /// Side of the bound [default: lower for shuffle, the estimate and the lower limit for pair,
    /// otherwise upper].
    #[arg(long, value_enum)]
    pub(crate) side: Option<SideArg>,
    /// Closed form (shuffle and persistent-shuffle only) [default: best].
    #[arg(long, value_enum)]
    pub(crate) method: Option<MethodArg>,
    #[command(flatten)]
    pub(crate) setting: SettingArgs,
    /// Delta at which epsilon is computed.
    #[arg(long, default_value = "1e-5", value_parser = delta)]
    pub(crate) delta: f64,
    /// Compute delta at this epsilon instead.
    #[arg(long, value_name = "EPS", value_parser = epsilon, conflicts_with = "delta")]
    pub(crate) epsilon: Option<f64>,
    /// Probability that a record is in a batch (poisson and fixed-size only) [default: 1/T]; with it,
    /// --total-steps is enough.
    #[arg(long, value_name = "Q", conflicts_with = "dataset_size")]
    pub(crate) sampling_rate: Option<f64>,
    #[command(flatten)]
    pub(crate) parameters: ParameterArgs,
    /// What neighbouring data sets differ in (not for pair) [default: zero-out].
    #[arg(long)]
    pub(crate) adjacency: Option<Adjacency>,
    /// With the record against without it, or the reverse [default: both].
    #[arg(long, value_enum)]
    pub(crate) direction: Option<DirectionArg>,
    /// Draws of the pair [default: chosen to finish in under a second].
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) observations: Option<u64>,
    #[command(flatten)]
    pub(crate) level: LevelArgs,
    /// Seed of the draws of the pair, below 2^53 [default: fresh entropy].
    #[arg(long, value_parser = seed)]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
}

/// The subjects, each with what the help says of it.
fn subject() -> impl TypedValueParser<Value = BoundSubject> {
    let help = |(subject, says): (BoundSubject, &'static str)| {
        PossibleValue::new(subject.name()).help(says)
    };
    PossibleValuesParser::new(BoundSubject::all().map(help)).try_map(|name| {
        let mut subjects = BoundSubject::all().map(|(subject, _)| subject);
        subjects.find(|subject| subject.name() == name).ok_or("unknown")
    })
}

/// On which side of the true value a bound lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SideArg {
    /// At least the true value.
    Upper,
    /// At most the true value.
    Lower,
    /// Close to the true value, on either side.
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
    /// The larger bound of the two.
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

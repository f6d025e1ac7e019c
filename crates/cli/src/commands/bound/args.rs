//! Arguments of `bound`.

use clap::{Args, ValueEnum};
use dpscope_core::accounting::{Directions, Kind, ShuffleMethod};
use dpscope_core::adjacency::Adjacency;
use dpscope_report::record::BoundSubject;

use crate::args::{
    DeviceArgs, LevelArgs, SettingArgs, ShowArgs, count, delta, epsilon, positive, seed,
};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
        dpscope bound poisson --noise-multiplier 1 --steps 100\n  \
        dpscope bound fixed-size --noise-multiplier 1 --steps 100 --sampling-rate 0.01\n  \
        dpscope bound truncated-poisson --noise-multiplier 1 --dataset-size 60000 \\\n    \
        --batch-size 256 --max-batch-size 300\n  \
        dpscope bound shuffle --noise-multiplier 1 --steps 100 --epochs 5\n  \
        dpscope bound pair --side lower --noise-multiplier 1 --steps 100\n  \
        dpscope bound pate --teachers 5 --gamma 1e-3 --iterations 32\n\n\
        Shuffled batches can leak more than Poisson accounting claims: compare `bound poisson \
        --side upper` with `bound shuffle --side lower`.")]
pub(crate) struct TrainingBoundArgs {
    /// What is bounded.
    #[arg(value_enum)]
    pub(crate) subject: Bounded,
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
    /// Probability that a record is in a batch (poisson and fixed-size only) [default: 1/T].
    #[arg(long, value_name = "Q", conflicts_with = "dataset_size")]
    pub(crate) sampling_rate: Option<f64>,
    /// Batches of an epoch that contain a record (random-allocation only): an epoch of N records in
    /// batches of B on average has K N/B steps [default: 1].
    #[arg(long, value_name = "K", value_parser = count)]
    pub(crate) uses_per_epoch: Option<u64>,
    /// Maximum batch size (truncated-poisson only); excess records are dropped at random.
    #[arg(long, value_name = "B", value_parser = positive)]
    pub(crate) max_batch_size: Option<u64>,
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

/// What is bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Bounded {
    /// Each record is in each batch with the same probability.
    Poisson,
    /// Each record is in the same batch of each epoch; the upper bound covers every shuffle.
    Deterministic,
    /// Each record is in one batch of each epoch, drawn uniformly and independently.
    BallsInBins,
    /// Poisson batches, of which a uniform subset is kept if they exceed a maximum size.
    TruncatedPoisson,
    /// A uniform subset of fixed size is drawn in each step.
    FixedSize,
    /// Each record is in a uniform set of batches of each epoch.
    RandomAllocation,
    /// The data are reshuffled in every epoch.
    Shuffle,
    /// The data are shuffled once, for all epochs.
    PersistentShuffle,
    /// The exact worst-case pair of shuffled batches, as audited.
    Pair,
}

impl Bounded {
    /// Whether the run is a number of steps, each with the same sampling rate.
    pub(crate) const fn draws_each_step_anew(self) -> bool {
        matches!(self, Bounded::Poisson | Bounded::TruncatedPoisson | Bounded::FixedSize)
    }
}

impl From<Bounded> for BoundSubject {
    fn from(subject: Bounded) -> Self {
        match subject {
            Bounded::Poisson => BoundSubject::Poisson,
            Bounded::Deterministic => BoundSubject::Deterministic,
            Bounded::BallsInBins => BoundSubject::BallsInBins,
            Bounded::RandomAllocation => BoundSubject::RandomAllocation,
            Bounded::TruncatedPoisson => BoundSubject::TruncatedPoisson,
            Bounded::FixedSize => BoundSubject::FixedSize,
            Bounded::Shuffle => BoundSubject::Shuffle,
            Bounded::PersistentShuffle => BoundSubject::PersistentShuffle,
            Bounded::Pair => BoundSubject::Pair,
        }
    }
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

//! Arguments of `canaries make`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args::{positive, seed};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  dpscope canaries make random --data records.npz --count 10 --out canaries.npz\n  \
        dpscope canaries make directions --dimension 50 --count 10 --out rows.npz"
)]
pub(crate) struct MakeArgs {
    /// What the canaries are.
    #[arg(value_enum)]
    pub(crate) kind: KindArg,
    /// Records that are not used for training otherwise: npz with `inputs` and `labels`.
    #[arg(long, value_name = "FILE")]
    pub(crate) data: Option<PathBuf>,
    /// Number of canaries, at least 5.
    #[arg(long, value_name = "M", value_parser = positive)]
    pub(crate) count: u64,
    /// Number of parameters of the model, for directions.
    #[arg(long, value_name = "D", value_parser = positive)]
    pub(crate) dimension: Option<u64>,
    /// File of the canaries, npz.
    #[arg(long, value_name = "FILE.npz")]
    pub(crate) out: PathBuf,
    /// Seed of the choice, below 2^53; coins need another, secret one [default: fresh entropy].
    #[arg(long, value_parser = seed)]
    pub(crate) seed: Option<u64>,
    /// Print one JSON document on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindArg {
    /// Records as they are.
    Random,
    /// Records with another label, chosen uniformly: easier to recognise.
    Mislabelled,
    /// Orthonormal directions of gradients, for white-box scores.
    Directions,
}

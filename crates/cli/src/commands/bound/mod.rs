//! `dpscope bound`: proven or estimated ε, or δ.

mod args;
mod matrix;
mod pate;
pub(crate) mod training;

use args::TrainingBoundArgs;
use matrix::MatrixBoundArgs;
use pate::PateBoundArgs;

use crate::args::SubcommandOr;
use crate::failure::CommandResult;

/// Correlated noise, votes of teachers, or a training run.
pub(crate) type BoundArgs = SubcommandOr<OtherBound, TrainingBoundArgs>;

subcommands! {
    OtherBound {
        /// Bound epsilon of correlated noise (DP-FTRL, matrix mechanisms).
        Matrix(MatrixBoundArgs) => matrix,
        /// Bound epsilon of noisy votes of teachers (PATE, PATE-GAN).
        Pate(PateBoundArgs) => pate,
    }
}

pub(crate) fn run(args: &BoundArgs) -> CommandResult {
    match args {
        SubcommandOr::Subcommand(other) => other.run(),
        SubcommandOr::Arguments(training) => training::run(training),
    }
}

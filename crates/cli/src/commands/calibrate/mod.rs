//! `dpscope calibrate`: noise, steps, epochs or iterations for a target ε and δ.

mod args;
mod matrix;
mod pate;
mod training;

use args::TrainingCalibrateArgs;
use matrix::MatrixCalibrateArgs;
use pate::PateCalibrateArgs;

use crate::args::SubcommandOr;
use crate::failure::CommandResult;

/// Correlated noise, votes of teachers, or a training run.
pub(crate) type CalibrateArgs = SubcommandOr<OtherCalibration, TrainingCalibrateArgs>;

subcommands! {
    OtherCalibration {
        /// Compute the smallest noise multiplier of correlated noise (DP-FTRL, matrix mechanisms).
        Matrix(MatrixCalibrateArgs) => matrix,
        /// Compute the largest number of iterations of PATE-GAN.
        Pate(PateCalibrateArgs) => pate,
    }
}

pub(crate) fn run(args: &CalibrateArgs) -> CommandResult {
    match args {
        SubcommandOr::Subcommand(other) => other.run(),
        SubcommandOr::Arguments(training) => training::run(training),
    }
}

//! `dpscope bound matrix`: ε of a training with correlated noise.

use clap::Args;
use dpscope_report::record::MatrixNoise;
use dpscope_report::text::matrix_text;

use crate::args::number;
use crate::commands::matrix::MatrixArgs;
use crate::failure::{CommandResult, Exit};
use crate::output::{print_json, print_text};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
        dpscope bound matrix --strategy tree --steps 16 --participation single \\\n    \
        --noise-multiplier 2\n  \
        dpscope bound matrix --strategy banded-optimised --bands 16 --steps 1000 \\\n    \
        --participation epochs:10 --noise-multiplier 1.5\n  \
        dpscope bound matrix --strategy all --steps 500 \\\n    \
        --participation min-separation:50,4 --noise-multiplier 3\n  \
        dpscope bound matrix --strategy-file strategy.csv --participation single \\\n    \
        --noise-multiplier 1\n\n\
        A training of T steps releases x + C^-1 z, where C is the lower triangular strategy matrix \
        and z Gaussian noise. It is as private as C x + z, adaptively (Denisov et al., 2022). \
        Participants who take part early show more than the last one.")]
pub(crate) struct MatrixBoundArgs {
    #[command(flatten)]
    matrix: MatrixArgs,
    /// Standard deviation of z divided by the clip norm.
    #[arg(long, value_name = "S", value_parser = number)]
    noise_multiplier: f64,
}

pub(crate) fn run(args: &MatrixBoundArgs) -> CommandResult {
    let report = args.matrix.report(MatrixNoise::Multiplier(args.noise_multiplier))?;
    if args.matrix.json {
        print_json(&report)?;
    } else {
        print_text(&matrix_text(&report))?;
    }
    Ok(Exit::Done)
}

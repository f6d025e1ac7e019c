//! `dpscope calibrate matrix`: the least correlated noise for a target ε and δ.

use clap::Args;
use dpscope_report::record::MatrixNoise;
use dpscope_report::text::matrix_text;

use crate::args::epsilon;
use crate::commands::matrix::MatrixArgs;
use crate::failure::{CommandResult, Exit};
use crate::output::{print_json, print_text};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
        dpscope calibrate matrix --epsilon 4 --strategy all --steps 500 \\\n    \
        --participation epochs:10\n  \
        dpscope calibrate matrix --epsilon 4 --strategy banded-optimised --bands 8 \\\n    \
        --steps 500 --participation cyclic-poisson:8,0.05\n\n\
        With --strategy all, errors of prefix sums are compared at one epsilon. Less error of \
        prefix sums is not always a better model.")]
pub(crate) struct MatrixCalibrateArgs {
    /// Target epsilon; not exceeded.
    #[arg(long, value_name = "EPS", value_parser = epsilon)]
    epsilon: f64,
    #[command(flatten)]
    matrix: MatrixArgs,
}

pub(crate) fn run(args: &MatrixCalibrateArgs) -> CommandResult {
    let report = args.matrix.report(MatrixNoise::ForEpsilon(args.epsilon))?;
    if args.matrix.json {
        print_json(&report)?;
    } else {
        print_text(&matrix_text(&report))?;
    }
    Ok(Exit::Done)
}

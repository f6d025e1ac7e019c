//! Arguments of `audit gaussian`.

use clap::Args;

use crate::args::{RunArgs, number, positive};
use crate::commands::audit::federated::{DesignArg, design};

#[derive(Debug, Args)]
#[command(
    mut_arg("threshold_rule", |arg| arg.hide(true)),
    mut_arg("float_mode", |arg| arg.hide(true)),
    mut_arg("metrics", |arg| arg.hide(true)),
    mut_arg("curves", |arg| arg.hide(true)),
    mut_arg("plot", |arg| arg.help("Draw the scores and the bounds to a self-contained SVG file")),
    mut_arg("out", |arg| arg.help("Write the results of all runs to this file, for `dpscope merge`")),
    after_help = "Examples:\n  dpscope audit gaussian --noise-multiplier 1 --dimension 1e6 --delta 1e-6\n  \
        dpscope audit gaussian --noise-multiplier 0.5 --dimension 1e4 --full \\\n    \
        --design poisson:100 --claim 8\n  \
        dpscope audit gaussian --noise-multiplier 1 --dimension 1e6 --repeats 100 \\\n    \
        --design fixed:100"
)]
pub(crate) struct GaussianArgs {
    /// Standard deviation of the noise per coordinate, divided by the norm of a canary.
    #[arg(long, value_name = "SIGMA", value_parser = number)]
    pub(crate) noise_multiplier: f64,
    /// Dimension of the sum and of the directions.
    #[arg(long, value_name = "D", value_parser = positive)]
    pub(crate) dimension: u64,
    /// How the number of canaries is drawn: poisson:MEAN, bernoulli:SLOTS:PROBABILITY or fixed:NUMBER.
    #[arg(long, default_value = "poisson:1000", value_parser = design)]
    pub(crate) design: DesignArg,
    /// Draw every coordinate of directions, noise and sum, in place of the joint distribution of the
    /// cosines; on a GPU if there is one, with the same result.
    #[arg(long)]
    pub(crate) full: bool,
    /// Independent runs; the result is that of the first, the others show how much it varies.
    #[arg(long, value_name = "R", default_value = "1", value_parser = positive)]
    pub(crate) repeats: u64,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

//! Arguments of `compare`.

use clap::Args;
use dpscope_core::adjacency::Adjacency;

use crate::args::{
    ComparedParameterArgs, DELTA_ABOVE_0, PageArgs, PlotArgs, PrivacyStatementArgs, SettingArgs,
    epsilon,
};
use crate::commands::lines::TheoryArgs;

#[derive(Debug, Args)]
#[command(mut_arg("delta", |arg| arg.help(DELTA_ABOVE_0)), after_help = "Examples:\n  \
        dpscope compare --noise-multiplier 1 --steps 100\n  \
        dpscope compare --noise-multiplier 1 --steps 100 --observations 1e6\n  \
        dpscope compare --noise-multiplier 1 --steps 100 --claim 2\n  \
        dpscope compare --noise-multiplier 1 --dataset-size 60000 --batch-size 256 \\\n    \
        --max-batch-size 300")]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) setting: SettingArgs,
    #[command(flatten)]
    pub(crate) theory: TheoryArgs,
    #[command(flatten)]
    pub(crate) parameters: ComparedParameterArgs,
    /// Epsilon reported for the training; exit with code 3 if the leakage of shuffled batches refutes it,
    /// with code 6 if it is neither refuted nor confirmed.
    #[arg(long, value_name = "EPS", value_parser = epsilon)]
    claim: Option<f64>,
    /// Adjacency of the claim; the upper bound of shuffled batches is proven under zero-out alone.
    #[arg(long, default_value = "add-remove", requires = "claim")]
    claim_adjacency: Adjacency,
    #[command(flatten)]
    pub(crate) plot: PlotArgs,
    #[command(flatten)]
    pub(crate) page: PageArgs,
    #[command(flatten)]
    pub(crate) privacy_statement: PrivacyStatementArgs,
}

impl CompareArgs {
    /// The claimed ε and its adjacency.
    pub(crate) fn claim(&self) -> Option<(f64, Adjacency)> {
        self.claim.map(|epsilon| (epsilon, self.claim_adjacency))
    }
}

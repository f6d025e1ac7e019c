//! Arguments of `compare`.

use clap::Args;

use crate::args::{PlotArgs, PrivacyStatementArgs, SettingArgs};
use crate::commands::lines::TheoryArgs;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
        dpscope compare --noise-multiplier 1 --steps 100\n  \
        dpscope compare --noise-multiplier 1 --steps 100 --observations 1e6")]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) setting: SettingArgs,
    #[command(flatten)]
    pub(crate) theory: TheoryArgs,
    #[command(flatten)]
    pub(crate) plot: PlotArgs,
    #[command(flatten)]
    pub(crate) privacy_statement: PrivacyStatementArgs,
}

//! Arguments of `generator utility`.

use std::path::PathBuf;

use clap::Args;

use crate::args::{ShowArgs, positive};

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  \
        dpscope generator utility folder --test-data held_out.csv --label ill\n  \
        dpscope generator utility eps_1 eps_10 --test-data held_out.csv --label ill --plot utility.svg\n\n\
        Trains four classifiers on the rows of each run, tests them on real rows, and shows AUROC and AUPRC \
        beside ε: as claimed, and, of folders with runs in two worlds, as an attack shows. Folders of one \
        generator with different ε show what privacy costs.")]
pub(crate) struct GeneratorUtilityArgs {
    /// Folders of manifests and runs, with equal columns.
    #[arg(value_name = "FOLDER", required = true)]
    pub(crate) folders: Vec<PathBuf>,
    /// Real rows that no generator saw, with the columns of the manifests, csv.
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) test_data: PathBuf,
    /// Categorical column that the classifiers predict.
    #[arg(long, value_name = "NAME")]
    pub(crate) label: String,
    /// Positive class of the classifiers, a category of the label [default: the last one].
    #[arg(long, value_name = "NAME")]
    pub(crate) positive: Option<String>,
    /// Number of runs to test per folder: the first ones with the target row.
    #[arg(long, value_name = "N", default_value = "25", value_parser = positive)]
    pub(crate) runs: u64,
    /// Draw utility against epsilon to a self-contained SVG file.
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
}

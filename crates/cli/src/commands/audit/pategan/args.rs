//! Arguments of `audit pategan`.

use std::path::PathBuf;

use clap::Args;
use dpscope_synth::FaultSet;

use crate::args::{
    DELTA_ABOVE_0, RunArgs, batch_size, count, epsilon, number, open_unit, small_count,
};

#[derive(Debug, Args)]
#[command(
    mut_arg("delta", |arg| arg.help(DELTA_ABOVE_0)),
    mut_arg("threshold_rule", |arg| arg.hide(true)),
    mut_arg("device", |arg| arg.hide(true)),
    mut_arg("float_mode", |arg| arg.hide(true)),
    mut_arg("metrics", |arg| arg.hide(true)),
    mut_arg("brief", |arg| arg.hide(true)),
    mut_arg("curves", |arg| arg.hide(true)),
    mut_arg("claim", |arg| arg.hide(true)),
    mut_arg("claim_delta", |arg| arg.hide(true)),
    mut_arg("claim_adjacency", |arg| arg.hide(true)),
    mut_arg("fail_on_finding", |arg| arg.help("Exit with code 3 if a check reports a fault")),
    mut_arg("plot", |arg| arg.help("Draw scores and checks to a self-contained SVG file")),
    mut_arg("out", |arg| arg.help("Write the observations of the runs to this file, for `dpscope merge`; they are as sensitive as the data")),
    after_help = "Examples:\n  \
        dpscope audit pategan --runs 400\n  \
        dpscope audit pategan --fault U1,S4 --gamma 0.5 --runs 400\n  \
        dpscope audit pategan --runs 400 --checkpoint runs.json\n  \
        dpscope audit pategan --data people.csv --columns columns.toml --rows 20 \\\n    \
        --candidates 4 --candidate-runs 40 --runs 100 --iterations 20\n  \
        dpscope audit pategan --data patients.csv --columns patients.toml --rows 50 \\\n    \
        --label ill --runs 40 --target-row 0 --utility 2 --utility-gamma 0.1,1\n\n\
        Without --data, the data are the worst case: four rows (0, 0, 0) and, in one world, the target \
        (1, 1, 1). With --data, one world lacks a row of your table; the file of columns is that of \
        `dpscope plan generator`, and its bounds must be known without the data. Each run trains a \
        generator in one world and releases rows. Checks look inside the runs and report faults by \
        name; the attack sees the released rows alone. Faults are O1 to O6, U1 to U5, S1 to S4, T1 to T5, \
        B1 to B3, N1 and E1 to E12."
)]
pub(crate) struct PateGanArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Runs of each world, from 20 to 100000.
    #[arg(long, value_name = "N", default_value = "1000", value_parser = runs)]
    pub(crate) runs: u64,
    /// Teachers, trained on disjoint parts of the data.
    #[arg(long, value_name = "K", default_value = "2", value_parser = small_count)]
    pub(crate) teachers: u32,
    /// Inverse scale of the Laplace noise (lambda of PATE-GAN).
    #[arg(long, value_name = "GAMMA", default_value = "1e-3", value_parser = number)]
    pub(crate) gamma: f64,
    /// Rows per training step.
    #[arg(long, value_name = "B", default_value = "4", value_parser = batch_size)]
    pub(crate) batch_size: u32,
    /// Iterations [default: 100].
    #[arg(long, value_name = "N", conflicts_with = "epsilon", value_parser = small_count)]
    pub(crate) iterations: Option<u32>,
    /// Stop training when epsilon by the published moments reaches this value, or after 10000 iterations.
    #[arg(long, value_name = "EPS", value_parser = epsilon)]
    pub(crate) epsilon: Option<f64>,
    /// Faults to switch on, separated by commas.
    #[arg(long, value_name = "NAMES", default_value = "", hide_default_value = true)]
    pub(crate) fault: FaultSet,
    /// Release as many rows as the data have, as the published audit does (fault E1).
    #[arg(long)]
    pub(crate) harness_faults: bool,
    /// Chance that the checks of a faithful mechanism report a fault.
    #[arg(long, value_name = "ALPHA", default_value = "1e-3", value_parser = open_unit)]
    pub(crate) checks_significance: f64,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// The user's data.
#[derive(Debug, Args)]
pub(crate) struct TableArgs {
    /// Real rows, csv with a header line [default: the worst case].
    #[arg(long, value_name = "FILE.csv", requires = "columns", requires = "rows")]
    pub(crate) data: Option<PathBuf>,
    /// Columns with their public bounds and categories.
    #[arg(long, value_name = "FILE.toml", requires = "data")]
    pub(crate) columns: Option<PathBuf>,
    /// Number of rows that each run releases; must not depend on the data.
    #[arg(long, value_name = "N", requires = "data", value_parser = small_count)]
    pub(crate) rows: Option<u32>,
    /// Categorical column that is the label, for faults that need one and for --utility.
    #[arg(long, value_name = "NAME", requires = "data")]
    pub(crate) label: Option<String>,
    /// Train N more generators on 80 % of the rows and classifiers on the rows they release, and test the
    /// classifiers on the remaining rows [default N: 5].
    #[arg(long, value_name = "N", requires = "label", num_args = 0..=1, default_missing_value = "5",
        value_parser = utility_runs, conflicts_with = "shard")]
    pub(crate) utility: Option<u64>,
    /// Positive class of the classifiers, a category of the label [default: the last one].
    #[arg(long, value_name = "NAME", requires = "utility")]
    pub(crate) positive: Option<String>,
    /// Inverse scales whose utility and epsilon are compared with those of --gamma, separated by commas;
    /// each is audited with the same number of runs.
    #[arg(long, value_name = "GAMMAS", requires = "utility", conflicts_with = "epsilon",
        value_delimiter = ',', value_parser = number)]
    pub(crate) utility_gamma: Vec<f64>,
    /// Draw utility against epsilon to a self-contained SVG file.
    #[arg(long, value_name = "FILE.svg", requires = "utility")]
    pub(crate) utility_plot: Option<PathBuf>,
    /// Row of the data that is left out in one world, counted from 0 [default: the most exposed candidate].
    #[arg(long, value_name = "N", requires = "data")]
    pub(crate) target_row: Option<u64>,
    /// Number of rows to try as the target, 1 to 64: those farthest from their 5 nearest neighbours
    /// [default: 64].
    #[arg(long, value_name = "N", requires = "data", conflicts_with = "target_row",
        value_parser = small_count)]
    pub(crate) candidates: Option<u32>,
    /// Runs in each world per candidate, 20 to 10000; the audit itself does not use them [default: 100].
    #[arg(long, value_name = "N", requires = "data", conflicts_with = "target_row",
        value_parser = count)]
    pub(crate) candidate_runs: Option<u64>,
}

fn runs(text: &str) -> Result<u64, String> {
    let count = count(text)?;
    if (20..=100_000).contains(&count) {
        Ok(count)
    } else {
        Err(format!("{count} runs; there must be from 20 to 100000"))
    }
}

fn utility_runs(text: &str) -> Result<u64, String> {
    let count = count(text)?;
    if (1..=1_000).contains(&count) {
        Ok(count)
    } else {
        Err(format!("{count} generators; there must be from 1 to 1000"))
    }
}

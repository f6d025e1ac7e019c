//! Arguments of `plan generator`.

use std::path::PathBuf;

use clap::Args;

use crate::args::{StatementArgs, epsilon, positive, seed};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  dpscope plan generator --claim 1\n  \
        dpscope plan generator --claim 1 --delta 0 --data people.csv \\\n    \
        --columns columns.toml --target-row 0 --rows 100 --runs 300 --out people\n\n\
        The file of columns has one [[columns]] per column, with name, kind (number, integer or category) \
        and low and high, or names. These bounds are public: they must be known without the data.")]
pub(crate) struct GeneratorPlanArgs {
    /// Epsilon reported for the generator.
    #[arg(long, value_name = "EPS", value_parser = epsilon)]
    pub(crate) claim: f64,
    /// Epsilon that the bound should be able to reach; sets the number of runs [default: claim + 1].
    #[arg(long, value_name = "EPS", value_parser = epsilon)]
    pub(crate) epsilon: Option<f64>,
    #[command(flatten)]
    pub(crate) statement: StatementArgs,
    /// Runs in each world [default: as many as --epsilon needs].
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) runs: Option<u64>,
    /// Write manifest and data to this folder.
    #[arg(long, value_name = "DIR", requires = "data", requires = "rows")]
    pub(crate) out: Option<PathBuf>,
    /// The real rows, csv with a header line.
    #[arg(long, value_name = "FILE.csv", requires = "out")]
    pub(crate) data: Option<PathBuf>,
    /// Columns with their public bounds and categories.
    #[arg(long, value_name = "FILE.toml", requires = "out")]
    pub(crate) columns: Option<PathBuf>,
    /// Take bounds and categories from the data: the audit then reports no epsilon.
    #[arg(long, requires = "out", conflicts_with = "columns")]
    pub(crate) bounds_from_data: bool,
    /// Row of the data that is left out in one world, counted from 0.
    #[arg(long, value_name = "N", requires = "out")]
    pub(crate) target_row: Option<usize>,
    /// Additional row of one world: its cells, separated by commas.
    #[arg(long, value_name = "CELLS", requires = "out", conflicts_with = "target_row")]
    pub(crate) target_cells: Option<String>,
    /// Number of rows that each run releases; must not depend on the data.
    #[arg(long, value_name = "N", requires = "out", value_parser = positive)]
    pub(crate) rows: Option<u64>,
    /// How often a failed run is repeated with another seed.
    #[arg(long, value_name = "N", default_value = "0", requires = "out")]
    pub(crate) retries: u32,
    /// Accept runs with identical rows, which occur by chance if few rows come from a small domain.
    #[arg(long, requires = "out")]
    pub(crate) allow_duplicates: bool,
    /// Seed of the runs' seeds, below 2^53 [default: fresh entropy].
    #[arg(long, value_parser = seed, requires = "out")]
    pub(crate) seed: Option<u64>,
}

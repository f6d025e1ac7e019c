//! Arguments of `canaries rows`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dpscope_synth::generator::Scoring;

use crate::args::{StatementArgs, epsilon, number, positive};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
        dpscope canaries rows --data people.csv --columns columns.toml --count 100 \\\n    \
        --rows 100 --claim 1 --out one-run\n  \
        dpscope canaries rows --data people.csv --columns columns.toml --poisson 50 \\\n    \
        --null-draws 1e5 --rows 100 --claim 1 --out one-run-poisson\n  \
        dpscope canaries rows --data people.csv --columns columns.toml --count 500 \\\n    \
        --scoring decoys --rows 100 --out one-run-decoys\n\n\
        Writes a folder for one run: manifest, committed coins, canary rows drawn uniformly from the public \
        domain, and the data with the canaries whose coin is 1. With --poisson, a Poisson number of canaries \
        is drawn from a pool of --count rows instead, and the rest of the pool shows what chance alone gives. With \
        --null-draws, there is no pool: canaries are drawn independently, and N more rows are drawn \
        after the run for comparison, whose limits take a tenth of the significance.")]
pub(crate) struct RowsArgs {
    /// The real rows, csv with a header line.
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) data: PathBuf,
    /// Columns with their public bounds and categories.
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) columns: PathBuf,
    /// Number of canaries, or of rows of the pool.
    #[arg(long, value_name = "M", value_parser = positive, required_unless_present = "null_draws")]
    pub(crate) count: Option<u64>,
    /// Draw a Poisson number of canaries with this mean.
    #[arg(long, value_name = "MEAN", value_parser = number)]
    pub(crate) poisson: Option<f64>,
    /// Draw canaries independently instead of from a pool, and N more rows after the run for comparison:
    /// at least 100 times the mean.
    #[arg(long, value_name = "N", value_parser = positive, requires = "poisson",
        conflicts_with = "count")]
    pub(crate) null_draws: Option<u64>,
    /// Number of rows that the run releases; must not depend on the data.
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) rows: u64,
    /// Epsilon reported for the generator.
    #[arg(long, value_name = "EPS", value_parser = epsilon)]
    pub(crate) claim: Option<f64>,
    /// How a canary is scored from the released rows.
    #[arg(long, value_enum, default_value = "nearest")]
    pub(crate) scoring: ScoringArg,
    #[command(flatten)]
    pub(crate) statement: StatementArgs,
    /// New folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}

/// How a canary row is scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScoringArg {
    /// Minus the distance to the nearest synthetic row.
    Nearest,
    /// Number of synthetic rows within a tenth of the diameter.
    Count,
    /// Logarithm of the kernel density of the synthetic rows there, minus that of the mean density at 32
    /// decoys: the canary with about half of its cells drawn again.
    Density,
    /// How many of these decoys are farther from the synthetic rows than the canary.
    Decoys,
}

impl From<ScoringArg> for Scoring {
    fn from(scoring: ScoringArg) -> Self {
        match scoring {
            ScoringArg::Nearest => Scoring::Nearest,
            ScoringArg::Count => Scoring::Count,
            ScoringArg::Density => Scoring::Density,
            ScoringArg::Decoys => Scoring::Decoys,
        }
    }
}

//! Arguments of `audit pategan`.

use std::path::PathBuf;

use clap::Args;
use dpscope_synth::FaultSet;

use crate::args::{ShowArgs, StatementArgs, batch_size, number, open_unit, seed, small_count};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
        dpscope audit pategan --runs 400\n  \
        dpscope audit pategan --fault U1,S4 --gamma 0.5 --runs 400\n\n\
        The data are the worst case: four rows (0, 0, 0) and, in one world, the target (1, 1, 1). Each run \
        trains a generator in one world and releases rows. Checks look inside the runs and report faults by \
        name; the attack sees the released rows alone. Faults are O1 to O6, U1 to U5, S1 to S4, T1 to T5, \
        B1 to B3, N1 and E1 to E12.")]
pub(crate) struct PateGanArgs {
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
    /// Epsilon at which training ends, by the published moments, after at most 10000 iterations.
    #[arg(long, value_name = "EPS", value_parser = number)]
    pub(crate) epsilon: Option<f64>,
    /// Faults to switch on, with commas between them.
    #[arg(long, value_name = "NAMES", default_value = "", hide_default_value = true)]
    pub(crate) fault: FaultSet,
    /// Let the number of released rows follow the data, as the published audit does (fault E1).
    #[arg(long)]
    pub(crate) harness_faults: bool,
    /// Chance that the checks of a faithful mechanism report a fault.
    #[arg(long, value_name = "ALPHA", default_value = "1e-3", value_parser = open_unit)]
    pub(crate) checks_significance: f64,
    #[command(flatten)]
    pub(crate) statement: StatementArgs,
    /// Random seed, below 2^53 [default: fresh entropy].
    #[arg(long, value_parser = seed)]
    pub(crate) seed: Option<u64>,
    /// CPU threads [default: one per core].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Draw scores and checks to a self-contained SVG file.
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<PathBuf>,
    /// Exit with code 3 if a check reports a fault.
    #[arg(long)]
    pub(crate) fail_on_finding: bool,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
}

fn runs(text: &str) -> Result<u64, String> {
    let count = crate::args::count(text)?;
    if (20..=100_000).contains(&count) {
        Ok(count)
    } else {
        Err(format!("{count} runs; there must be from 20 to 100000"))
    }
}

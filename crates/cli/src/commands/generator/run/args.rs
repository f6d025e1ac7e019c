//! Arguments of `generator run`.

use std::path::PathBuf;

use clap::Args;

use crate::args::positive;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  \
        dpscope generator run folder --command 'python3 generator.py {data} {seed} {out}'\n\n\
        The command is executed by sh for each run, with {data}, {seed}, {out} and {rows} replaced. Its \
        environment has the same values: DPSCOPE_DATA, DPSCOPE_SEED, DPSCOPE_OUT and DPSCOPE_ROWS. It must \
        write csv with the columns of the manifest and exit with 0. What it prints is saved beside its \
        rows. When it ends, all processes that it started are ended. A run that fails, hangs or writes \
        something else is kept and counted: whether a run fails is an output too. Repeat the command to \
        continue after an interruption. Runs that fail in the same way (same exit status, same last line \
        printed) stop the command without a record of them: the first 3 of a plan, or 20 in a row in the \
        plan's order, which alternates between the worlds. A folder with recorded failures is not \
        stopped.")]
pub(crate) struct GeneratorRunArgs {
    /// Folder with manifest and data.
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
    /// Command of a run, with {data}, {seed}, {out} and, if the command needs it, {rows}.
    #[arg(long, value_name = "TEMPLATE")]
    pub(crate) command: String,
    /// Runs at a time [default: one per core].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// Seconds after which a run has failed.
    #[arg(long, value_name = "SECONDS", default_value = "3600", value_parser = positive)]
    pub(crate) timeout: u64,
    /// Bytes that a run may write or print.
    #[arg(long, value_name = "BYTES", default_value = "1e9", value_parser = positive)]
    pub(crate) max_bytes: u64,
    /// Record failures also where the first 3 runs, or 20 in a row, fail equally, instead of stopping there.
    #[arg(long)]
    pub(crate) allow_failures: bool,
    /// Hide the progress.
    #[arg(long)]
    pub(crate) quiet: bool,
}

//! Arguments of `resume`.

use std::path::PathBuf;

use clap::Args;

use crate::args::{DataArgs, DeviceArgs, MemoryArgs, ReportArgs};
use crate::failure::{Failure, reject_unused_options};

#[derive(Debug, Args)]
#[command(
    mut_arg("data", |arg| arg.help("Training data file, unless the run used built-in synthetic data")),
    mut_arg("labels", |arg| arg.help("Label file of IDX data")),
    mut_arg("classes", |arg| arg.help("Classes that the run used, in the same order")),
    after_help = "Example:\n  dpscope resume audit.checkpoint"
)]
pub(crate) struct ResumeArgs {
    /// Checkpoint of the run.
    #[arg(value_name = "CHECKPOINT")]
    pub(crate) checkpoint: PathBuf,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Columns of the data of an audit of PATE-GAN.
    #[arg(long, value_name = "FILE.toml", requires = "data")]
    pub(crate) columns: Option<PathBuf>,
    /// Canary file of the run.
    #[arg(long, value_name = "FILE.npz")]
    pub(crate) canary_file: Option<PathBuf>,
    /// Write the outputs of the trained models to this file; pass the one the run was started with.
    #[arg(long, value_name = "FILE.npz")]
    pub(crate) outputs_to: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,
    /// Also write the state to this file, for `dpscope merge`.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

impl ResumeArgs {
    /// Refuses the options that only other runs take.
    pub(crate) fn check_taken(&self, taken: &[&str], run: &str) -> Result<(), Failure> {
        let mut options = [
            ("--data", self.data.data.is_some()),
            ("--columns", self.columns.is_some()),
            ("--canary-file", self.canary_file.is_some()),
            ("--outputs-to", self.outputs_to.is_some()),
            ("--device-memory", self.memory.device_memory.is_some()),
        ];
        options.iter_mut().for_each(|(name, is_given)| *is_given &= !taken.contains(name));
        reject_unused_options(&options, &format!("on a checkpoint of {run}"))
    }
}

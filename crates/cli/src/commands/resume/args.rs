//! Arguments of `resume`.

use std::path::PathBuf;

use clap::Args;

use crate::args::{Asked, ClaimArgs, DataArgs, DeviceArgs, MemoryArgs, PlotArgs, ShowArgs};

#[derive(Debug, Args)]
#[command(
    mut_arg("data", |arg| arg.help("The file that the models are trained on, if it is not made up")),
    mut_arg("labels", |arg| arg.help("File of its labels, for IDX")),
    mut_arg("classes", |arg| arg.help("Classes of it that were kept, in the same order")),
    after_help = "Example:\n  dpscope resume audit.checkpoint"
)]
pub(crate) struct ResumeArgs {
    /// Checkpoint of the run.
    #[arg(value_name = "CHECKPOINT")]
    pub(crate) checkpoint: PathBuf,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Where the outputs of the trained models go: the file that the run began with.
    #[arg(long, value_name = "FILE.npz")]
    pub(crate) outputs_to: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,
    /// Write the histograms here as well, for `dpscope merge`.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) plot: PlotArgs,
    #[command(flatten)]
    pub(crate) claim: ClaimArgs,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
}

impl ResumeArgs {
    pub(crate) fn asked(&self) -> Asked<'_> {
        let ResumeArgs { device, plot, claim, show, .. } = self;
        Asked { device, plot, claim, show }
    }
}

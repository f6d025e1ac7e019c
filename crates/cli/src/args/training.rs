//! What models are trained on, and what they may use of a device.

use std::path::PathBuf;

use clap::Args;

/// What models take of a device.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct MemoryArgs {
    /// Memory that models may take of a GPU; 1024, or 256 of a software rasteriser, if not given.
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    pub(crate) device_memory: Option<u32>,
}

/// What models are trained on.
#[derive(Debug, Args)]
pub(crate) struct DataArgs {
    /// p100-like, fmnist-like or cifar-like, which are made up; or a file: IDX, CIFAR-10 binary, npz,
    /// csv. By default the made-up data of the model's shape.
    #[arg(long, value_name = "DATA")]
    pub(crate) data: Option<String>,
    /// File of the labels, for IDX.
    #[arg(long, value_name = "FILE", requires = "data")]
    pub(crate) labels: Option<PathBuf>,
    /// Classes of the file to keep, in the order of their new labels, e.g. 0,1.
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "data")]
    pub(crate) classes: Option<Vec<u32>>,
}

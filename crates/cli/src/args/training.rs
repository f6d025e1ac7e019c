//! Options of trained models: data and device memory.

use std::path::PathBuf;

use clap::Args;

/// GPU memory for models.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct MemoryArgs {
    /// GPU memory that models may use [default: 1024, or 256 on a software rasteriser].
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    pub(crate) device_memory: Option<u32>,
}

/// Training data.
#[derive(Debug, Args)]
pub(crate) struct DataArgs {
    /// p100-like, location-like, fmnist-like or cifar-like (built-in synthetic data), or a file:
    /// IDX, CIFAR-10 binary, npz or csv [default: synthetic data of the model's shape].
    #[arg(long, value_name = "DATA")]
    pub(crate) data: Option<String>,
    /// Label file of IDX data.
    #[arg(long, value_name = "FILE", requires = "data")]
    pub(crate) labels: Option<PathBuf>,
    /// Classes to use, in the order of their new labels, for example 0,1.
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "data")]
    pub(crate) classes: Option<Vec<u32>>,
}

//! Training: the batches of each run, and the GPU kernels of DP-SGD, whose CPU twins are in
//! dpscope-train.

mod batches;
mod convolution;
mod factors;
mod finish;
mod initialize;
mod kernel;
mod linear;
mod logits;
mod loss;
mod memory;
mod norm;
mod norms;
mod numbers;
mod one_run;
mod order;
mod output;
mod params;
mod pooling;
mod products;
mod saved;
mod selection;
mod streams;

pub use batches::{Batches, EpochBatches};
pub use convolution::{ConvolutionLayer, ImageShape};
pub use factors::factors;
pub use finish::Finish;
pub use initialize::Initialization;
pub use kernel::Kernel;
pub use linear::LinearLayer;
pub use loss::Loss;
pub use memory::{Activation, Common, LayerMemory, Packing, Source};
pub use norm::NormLayer;
pub use norms::SquaredNorm;
pub use numbers::Numbers;
pub use one_run::{
    Along, EvaluatedRecords, IncludedSelection, add_noise, along_sum, descend, descend_at_own_rate,
};
pub use order::Order;
pub use params::PassParams;
pub use pooling::{Pooling, PoolingLayer};
pub use selection::RowSelection;

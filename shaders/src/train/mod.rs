//! What training draws for each run: which records fall into which batch; and the kernels by which
//! models are trained on a GPU, whose CPU twins are the layers and runs of dpscope-train.

mod batches;
mod begin;
mod choose;
mod convolution;
mod factors;
mod finish;
mod kept;
mod kernel;
mod law;
mod linear;
mod loss;
mod memory;
mod order;
mod output;
mod pooling;
mod products;

pub use batches::{Batches, EpochBatches};
pub use begin::Beginning;
pub use choose::Choice;
pub use convolution::{ConvolutionLayer, Picture};
pub use factors::{Squares, factors};
pub use finish::Finish;
pub use kernel::Kernel;
pub use law::Turn;
pub use linear::LinearLayer;
pub use loss::Loss;
pub use memory::{Activation, Common, Packing, Source, Stage};
pub use order::Order;
pub use pooling::{Pooling, PoolingLayer};

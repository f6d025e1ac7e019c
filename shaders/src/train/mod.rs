//! What training draws for each run: which records fall into which batch.

mod batches;
mod order;

pub use batches::{Batches, EpochBatches};
pub use order::Order;

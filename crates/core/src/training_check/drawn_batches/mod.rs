//! Batches that a real loader drew: facts, tests, and the sampler that they fit.
//!
//! A loader names the record numbers of its batches over several epochs; no record is loaded. Facts
//! hold for these epochs. Tests compare the batches with a sampler that draws as evenly as the facts
//! permit, and the sampler is the first of a list that both fit: [`DrawnSampler`].

mod batches;
mod check;
mod draws;
mod error;
mod excess;
mod facts;
mod loader_test;
mod marks;
mod order;
mod sampler;
#[cfg(test)]
mod tests;

pub use batches::DrawnBatches;
pub use check::{LoaderCheck, LoaderFinding};
pub use error::DrawnBatchesError;
pub use facts::LoaderFacts;
pub use loader_test::{LoaderTest, LoaderTestKind, LoaderTests};
pub use sampler::{DrawnEvidence, DrawnSampler};

//! Training on a GPU.

pub mod plan;

//! Trainings against plain loops in f64, differences, and a simulator of races.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod broken_trainers;
mod canary_optimization;
mod clipped_sums;
mod derivatives;
mod federated;
mod idealised_distribution;
mod lane_derivatives;
mod metagradient;
mod models;
mod one_run;
mod shards;
#[cfg(feature = "gpu")]
mod simulated;
mod sparse_rows;

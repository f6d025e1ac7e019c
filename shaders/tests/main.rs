//! Twins against formulas, and kernels without a GPU.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod formula;
mod identity;
mod reference;
mod root;
mod wgsl;

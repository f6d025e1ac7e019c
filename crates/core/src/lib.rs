//! Statistics of differential-privacy audits: intervals, scores, trade-off curves, lower bounds.
//!
//! Pure: no input or output, threads, clock, entropy or GPU. Compiles to wasm unchanged, and gives
//! the same bits there.

pub mod accounting;
pub mod adjacency;
pub mod audit;
pub mod curve;
pub mod format;
pub mod gdp;
pub mod interval;
pub mod math;
pub mod mechanism;
pub mod random;
pub mod recorded;
pub mod special;
pub mod training_check;

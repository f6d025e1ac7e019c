//! Statistics of differential-privacy audits: intervals, scores, trade-off curves, lower bounds.
//!
//! Pure: no input or output, threads, clock, entropy or GPU. Compiles to wasm unchanged, and gives
//! the same bits there.

pub mod accounting;
pub mod adjacency;
pub mod audit;
pub mod bayesian;
pub mod bound;
pub mod claim;
pub mod curve;
pub mod gdp;
pub mod histogram;
pub mod independence;
pub mod interval;
pub mod math;
pub mod mechanism;
pub mod planner;
pub mod shown;
pub mod special;
pub mod theory;
pub mod trade_off;
pub mod training_check;

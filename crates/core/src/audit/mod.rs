//! From scores or counts to a lower bound on ε.

pub mod bayesian;
pub mod bound;
pub mod claim;
pub mod curve;
pub mod histogram;
mod outcome;
pub mod planner;
mod result;
mod slope;
pub mod trade_off;
mod two_worlds;

pub use outcome::Outcome;
pub use result::{AuditResult, ValueAtCut};
pub use slope::ScoreSlope;
pub use two_worlds::{AuditError, AuditHistograms};

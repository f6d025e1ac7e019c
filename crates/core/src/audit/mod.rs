//! From scores or counts to a lower bound on ε.

pub mod bayesian;
pub mod bound;
pub mod claim;
mod counts;
pub mod curve;
mod finding;
pub mod histogram;
mod outcome;
pub mod planner;
mod record;
mod result;
mod scores;
mod slope;
pub mod trade_off;
mod two_worlds;

pub use counts::Counts;
pub use finding::Finding;
pub use outcome::{Outcome, OutcomeKind};
pub use record::{ResultRecord, ValueAtCut};
pub use result::{AuditResult, TargetSide};
pub use scores::{AuditOptions, Scores, ScoresError};
pub use slope::ScoreSlope;
pub use two_worlds::{AuditError, AuditHistograms};

//! From scores or counts to a lower bound on ε.
//!
//! [`Scores`], [`RecordedOutputs`] and [`Counts`] are the entry points; [`AuditHistograms`] counts scores that are too
//! many to store. Each yields an [`AuditResult`]: a bound or an estimate, its evidence, and
//! [`Finding`]s about the code.
//!
//! | module | content |
//! |---|---|
//! | [`anytime`] | two worlds, looked at after every run |
//! | [`trade_off`] | error counts at every threshold |
//! | [`bound`] | threshold rules, and the bounds and estimates that they yield |
//! | [`claim`] | verdicts on claims |
//! | [`curve`] | observed trade-off curves with a simultaneous band |
//! | [`drawn`] | audits of one training by something that was drawn at random: a hold-out, secrets, labels |
//! | [`generator`] | tests of the inside of a generator of synthetic rows |
//! | [`histogram`] | bins and counts of scores |
//! | [`one_run`] | audits of one training run with many canaries |
//! | [`one_shot`] | audits of one training run whose canaries have a known null distribution |
//! | [`planner`] | observations needed to detect an ε |
//! | [`split`] | audits of one training by its random hold-out |
//! | [`bayesian`] | credible intervals of ε |
//! | [`metrics`] | AUC, true positive rates, a Gaussian curve's ε, a bootstrap |

mod adjacency_bounds;
pub mod anytime;
mod auc;
pub mod bayesian;
pub mod bound;
pub mod claim;
mod counts;
pub mod curve;
pub mod drawn;
mod drawn_finding;
mod finding;
pub mod generator;
mod group_privacy;
pub mod histogram;
mod hypotheses;
pub mod metrics;
pub mod one_run;
pub mod one_shot;
mod outcome;
mod outputs;
pub mod planner;
mod repeats;
mod result;
mod scores;
mod sizes;
mod slope;
pub mod split;
pub mod trade_off;
mod two_worlds;

pub use adjacency_bounds::AdjacencyBounds;
pub use auc::Auc;
pub use counts::Counts;
pub use finding::Finding;
pub use hypotheses::{Hypotheses, HypothesesError, SharedAudit};
pub use outcome::{Outcome, OutcomeKind};
pub use outputs::{OutputAttack, OutputsAudit, OutputsError, RecordedOutputs};
pub use result::{AuditResult, TargetSide};
pub use scores::{AuditOptions, Scores, ScoresError};
pub use slope::ScoreSlope;
pub use two_worlds::{AuditError, AuditHistograms};

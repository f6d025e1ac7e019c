//! Audits of one training run with m canaries, each included by a coin of its own.
//!
//! A [`OneRunTraining`] appends m canaries to its base records and trains with DP-SGD. Before each
//! training a fair coin decides for every canary whether it is included (IN) or not (OUT); the coins
//! are random words that nothing else uses ([`OneRunPlan::coins`]). After it every canary has
//! [scores](OneRunScore), larger where it is more likely included. [`OneRunModels`] is the workload:
//! its units are the repeats of the audit, followed by reference models whose coins are spent on
//! calibration. [`OneRunEvidence::game`] turns evidence into one game of R·m canaries for
//! [`CanaryScores`](dpscope_core::audit::one_run::CanaryScores), and [`OneRunOutcome`] reports it.

mod calibration;
mod canary_records;
mod evidence;
mod game;
mod inclusion;
mod outcome;
mod plan;
mod protocol;
mod run;
mod settings;
mod start;
mod training;
mod watched;

pub use calibration::calibrated;
pub use canary_records::CanaryKind;
pub use evidence::{OneRunEvidence, OneRunScore, TrainedUnit};
pub use game::OneRunGame;
#[cfg(feature = "gpu")]
pub(crate) use inclusion::LogLikelihoodRatio;
pub use outcome::{OneRunOutcome, OneRunOutcomeError};
pub use plan::OneRunPlan;
pub use protocol::OneRunModels;
#[cfg(feature = "gpu")]
pub(crate) use run::{Evaluation, OneRunStep, OneRunner, Ratios};
pub use settings::{CanarySlots, OneRunDescription, OneRunSettings, PreTraining, RepeatedRecords};
pub use training::OneRunTraining;
pub use watched::WatchedCanaries;

//! Audits of recorded canaries, from bytes to reports.
//!
//! Reads committed plans, canaries, scores, coins and sets; the program and the page use it alike. There
//! are no files here, only [`File`]s: bytes with a name and limits.

mod canary_file;
mod class;
mod commitment;
mod control;
mod cosines;
mod error;
mod federated;
mod federated_plan;
mod file;
mod hexadecimal;
mod model;
mod one_run;
mod pool;
mod release;

pub use canary_file::CanaryFile;
pub use class::class_findings;
pub use commitment::{CommittedPlan, MOST_COINS, MOST_PLAN_BYTES, PlanFiles, read_plan};
pub use control::flattening_problem;
pub use cosines::Cosines;
pub use error::{FileError, FileProblem, RecordedError};
pub use federated::{FederatedScores, FederatedSettings};
pub use federated_plan::{CONTROL, CommittedFederatedPlan, FederatedPlanFiles};
pub use file::{File, averaged, finite};
pub use hexadecimal::{hex, unhex};
pub use model::{ModelLayout, UNSEEN, check_flattening, model_scores};
pub use one_run::{
    OneRunFiles, OneRunSettings, ProjectionSettings, RecordedRun, RecordedRuns, check_enough,
};
pub use pool::{NullFile, PoolScores, PoolSettings};
pub use release::ReleaseSummary;

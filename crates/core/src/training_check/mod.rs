//! Does a training set-up, as it is described, keep the privacy that is claimed for it?
//!
//! Nothing is run: what is compared is the loader, the accountant's assumptions and the claim.

mod bounds;
mod description;
mod diagnosis;
mod error;
mod finding;
mod report;
mod setup;

pub use description::TrainingDescription;
pub use diagnosis::{Diagnosis, diagnose};
pub use error::TrainingError;
pub use finding::{Finding, Severity, StepsReading};
pub use report::{CheckReport, CheckedClaim, ToldFinding};
pub use setup::{AssumedAccounting, DrawnNoise, NoiseTarget, TrainingSetup};

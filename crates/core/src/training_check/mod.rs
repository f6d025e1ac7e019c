//! Does a training set-up, as described, have the privacy that is claimed for it?
//!
//! Nothing is run: the loader, the accountant's assumptions and the claim are compared.

mod bounds;
mod description;
mod diagnosis;
mod error;
mod finding;
mod setup;

pub use description::TrainingDescription;
pub use diagnosis::{Diagnosis, diagnose};
pub use error::TrainingError;
pub use finding::{Finding, Severity, StepsReading};
pub use setup::{AssumedAccounting, DrawnNoise, NoiseTarget, TrainingSetup};

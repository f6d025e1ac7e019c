//! Checks whether a described training satisfies its privacy claim.
//!
//! Nothing is trained: the loader, the assumptions of the accountant and the claim are compared.

mod bounds;
mod decision;
mod description;
mod diagnosis;
pub mod drawn_batches;
mod error;
mod finding;
mod library;
mod loader;
mod setup;
pub mod step;

pub use decision::{CheckTarget, CheckVerdict, EpsilonBounds};
pub use description::TrainingDescription;
pub use diagnosis::{Diagnosis, diagnose};
pub use error::TrainingError;
pub use finding::{Finding, Severity, StepsReading};
pub use library::{CorrelatedNoise, LIBRARY_LOADERS, LibraryLoader, NamedLoader, UnknownLoader};
pub use loader::{LoaderBatches, LoaderKind, OtherBatches};
pub use setup::{AssumedAccounting, DrawnNoise, DrawnRate, NoiseTarget, TrainingSetup};

//! DP-SGD on many small models, with a canary gradient inserted by the attacker: the observations
//! that an audit of a training procedure is based on.
//!
//! A [`Training`] combines a network, a data set, a mechanism and settings. A [`DpSgd`] executes
//! its runs, and [`TrainedModels`] is their workload for `dpscope-engine`. [`one_run`] audits one
//! training with many canaries instead, [`federated`] one of many clients with canary clients. Each is a
//! [`Protocol`], and [`Models`] of it the workload.

mod built_in;
mod canary;
pub mod data;
mod description;
mod error;
pub mod federated;
#[cfg(feature = "gpu")]
pub mod gpu;
mod gradient;
mod layers;
pub mod metagradient;
pub mod model;
mod model_evidence;
mod models;
mod observed;
pub mod one_run;
mod rate;
mod run;
mod threads;
mod trainer;
mod training;
mod watched;
mod workload;

pub use built_in::BuiltInModel;
pub use canary::{Canary, CanaryDirection};
pub use description::{DataDescription, TrainingDescription, TrainingSettings};
pub use error::TrainError;
pub use gradient::{NormMethod, Rows, Workspace};
pub use layers::{Arithmetic, Dual, Scalar};
pub use model::{LayerSpec, ModelError, ModelSpec, Network, Shape};
pub use model_evidence::{ModelEvidence, ModelResult};
pub use models::{Models, Protocol, Trainer};
pub use observed::LearnedSoFar;
pub use rate::{RateSearch, search_learning_rate};
pub use trainer::{DpSgd, OutputSink, PilotedPlan, TrainedModels, WaveScores};
pub use training::Training;
pub use watched::{WatchedRun, WatchedStep};

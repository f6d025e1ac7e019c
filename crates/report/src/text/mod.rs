//! Documents as text, for a person at a terminal.

mod canary_optimization;
mod federated_sizes;
mod federated_training;
mod generator;
mod matrix;
mod metrics;
mod one_run;
mod one_run_sizes;
mod one_run_training;
mod one_shot;
mod pate;
mod pategan;
mod report;
mod row;
mod table;
mod theory;
mod training;
mod utility;

pub use canary_optimization::canary_optimization_text;
pub use federated_sizes::federated_sizes_text;
pub use generator::generator_text;
pub use matrix::matrix_text;
pub use metrics::metrics_text;
pub use one_run::{one_run_brief_text, one_run_text};
pub use one_run_sizes::one_run_sizes_text;
pub use one_shot::{one_shot_brief_text, one_shot_text};
pub use pate::pate_text;
pub use pategan::pategan_text;
pub use report::{Hints, brief_text, report_text};
pub use row::row;
pub use table::{Align, table};
pub use utility::utility_text;

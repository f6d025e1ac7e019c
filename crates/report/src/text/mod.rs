//! Documents as text, for a person at a terminal.

mod canary_optimization;
mod drawn_sizes;
mod federated_sizes;
mod matrix;
mod one_run_sizes;
mod pate;
mod reproduction;
mod row;
mod table;
mod written;

pub use crate::document::{Align, Hints};
pub use canary_optimization::canary_optimization_text;
pub use drawn_sizes::drawn_sizes_text;
pub use federated_sizes::federated_sizes_text;
pub use matrix::matrix_text;
pub use one_run_sizes::one_run_sizes_text;
pub use pate::pate_text;
pub use reproduction::reproduction_text;
pub use row::row;
pub use table::table;
pub use written::document_text;

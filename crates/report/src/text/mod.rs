//! Documents as text, for a person at a terminal.

mod canary_optimization;
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
pub use federated_sizes::federated_sizes_text;
pub use matrix::matrix_text;
pub use one_run_sizes::one_run_sizes_text;
pub use pate::pate_text;
pub use reproduction::reproduction_text;
pub use row::row;
pub use table::table;
pub use written::document_text;

use crate::document;
use crate::record::{GeneratorReport, OneRunReport, OneShotReport, PateGanReport};

/// The report of one run as text.
#[must_use]
pub fn one_run_text(report: &OneRunReport) -> String {
    document_text(&document::one_run_document(report))
}

/// The report of canaries of a known null distribution as text.
#[must_use]
pub fn one_shot_text(report: &OneShotReport) -> String {
    document_text(&document::one_shot_document(report))
}

/// The report of an audit of PATE-GAN as text.
#[must_use]
pub fn pategan_text(report: &PateGanReport) -> String {
    document_text(&document::pategan_document(report))
}

/// The report of an audit of a user's generator as text.
#[must_use]
pub fn generator_text(report: &GeneratorReport) -> String {
    document_text(&document::generator_document(report))
}

//! Mechanism, detectors and classifiers against plain loops and scikit-learn.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod classifiers;
mod detectors;
mod faults;
mod forest;
mod mechanism;
mod plain_loops;
mod tables;
mod whole_audits;

//! Shared by the whole-system tests: golden data, small statistics, running the program.

pub mod cli;
mod golden;
pub mod simulate;

pub use golden::{Case, Row, Table, cases, relative_change};

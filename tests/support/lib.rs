//! Shared by the whole-system tests: golden data, random draws, running the program.

pub mod cli;
mod draws;
mod golden;
pub mod simulate;

pub use draws::{Draws, z_of_mean};
pub use golden::{Case, Row, Table, cases, relative_change};

//! Shared by the whole-system tests: golden data, random draws, running the program.

pub mod cli;
pub mod deadline;
mod draws;
pub mod golden;
mod oracle_data;
pub mod simulate;
mod uniforms;

pub use draws::{Draws, z_of_mean};
pub use oracle_data::{Case, Row, Table, cases, relative_change};
pub use uniforms::Uniforms;

//! The folder of an audit of a generator of synthetic rows: `manifest.toml`, the data of each world, and
//! one output per run.

mod canaries;
mod columns;
mod data;
mod manifest;
mod output;

pub(crate) use crate::committed::{CANARIES, DATA, MANIFEST};
pub(crate) use canaries::{fresh_canaries, null_rows};
pub(crate) use columns::columns_from_data;
pub(crate) use data::{check_worlds, data_file};
pub(crate) use manifest::{manifest_digest, read_columns, read_manifest, write_manifest};
pub(crate) use output::{RunPlace, SEED_CHECK, read_released, read_rows};

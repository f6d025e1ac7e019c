//! Files against other readers, and bytes that are no files.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod agreement;
mod corpus;
#[allow(unreachable_pub, reason = "public where the fuzz targets call them")]
#[path = "../../../tests/fuzz/src/formats.rs"]
mod formats;
mod numpy;

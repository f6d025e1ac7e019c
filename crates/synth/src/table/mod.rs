//! Tables with public bounds and categories, and their encoding to numbers.

mod encoding;
mod rows;

pub use dpscope_formats::table::{Column, ColumnKind, Rows, Schema, SchemaError};
pub use encoding::{Decoding, Encoding, Scaling};
pub use rows::{Table, TableError, Value};

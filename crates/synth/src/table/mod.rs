//! Tables with public bounds and categories, and their encoding to numbers.

mod column;
mod encoding;
mod rows;

pub use column::{Column, ColumnKind, Schema, SchemaError};
pub use encoding::{Decoding, Encoding, Scaling};
pub use rows::{Rows, Table, TableError, Value};

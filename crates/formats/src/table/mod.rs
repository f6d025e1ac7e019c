//! Tables of numbers and categories: a public schema, and rows that obey it.

mod column;
mod read;
mod rows;

pub use column::{Column, ColumnKind, Schema, SchemaError};
pub use read::{TableFileError, is_parquet, read_column_names, read_table, write_table};
pub use rows::Rows;

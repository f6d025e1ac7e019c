//! Rows with stable identifiers.

use std::collections::BTreeSet;

use dpscope_formats::table::{ColumnKind, Rows, Schema};

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A category.
    Category(String),
}

/// Real rows. Each has an identifier that does not change when other rows are added or removed.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    schema: Schema,
    ids: Vec<u64>,
    rows: Rows,
}

/// Why rows are refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// A row has another number of values than the schema has columns.
    #[error("row {row} has {found} values, and the schema {expected} columns")]
    Width {
        /// Identifier of the row.
        row: u64,
        /// Number of columns.
        expected: usize,
        /// Number of values.
        found: usize,
    },
    /// A value is not of the kind of its column.
    #[error("row {row}, column `{column}`: {value:?} is not {expected}")]
    Value {
        /// Identifier of the row.
        row: u64,
        /// Name of the column.
        column: String,
        /// The value.
        value: Value,
        /// What the column contains.
        expected: &'static str,
    },
    /// Two rows have one identifier.
    #[error("two rows have the identifier {row}")]
    RepeatedRow {
        /// The identifier.
        row: u64,
    },
    /// No row has this identifier.
    #[error("no row has the identifier {row}")]
    NoSuchRow {
        /// The identifier.
        row: u64,
    },
}

impl Table {
    /// A table; numbers beyond their bounds are accepted, and clipped when they are encoded.
    ///
    /// | argument | meaning | shape |
    /// |---|---|---|
    /// | `schema` | public description of the columns | – |
    /// | `rows` | identifier and values of each row | values as many as columns |
    ///
    /// # Errors
    /// [`TableError`] with row and column: a value that is not a finite number, not an integer or
    /// not a listed category; another number of values; a repeated identifier.
    pub fn new(schema: Schema, rows: &[(u64, Vec<Value>)]) -> Result<Self, TableError> {
        let columns = schema.columns();
        let (mut seen, mut values) = (BTreeSet::new(), Vec::new());
        for (row, cells) in rows {
            let row = *row;
            if cells.len() != columns.len() {
                let (expected, found) = (columns.len(), cells.len());
                return Err(TableError::Width { row, expected, found });
            }
            if !seen.insert(row) {
                return Err(TableError::RepeatedRow { row });
            }
            for (column, value) in columns.iter().zip(cells) {
                values.push(number(&column.kind, value).map_err(|expected| TableError::Value {
                    row,
                    column: column.name.clone(),
                    value: value.clone(),
                    expected,
                })?);
            }
        }
        let ids = rows.iter().map(|(id, _)| *id).collect();
        let rows = Rows { columns: columns.len(), values };
        Ok(Table { schema, ids, rows })
    }

    /// A table of rows as [`dpscope_formats::table::read_table`] returns them, categories by position;
    /// each row's identifier is its position, from 0.
    ///
    /// # Errors
    /// As [`Table::new`].
    pub fn numbered(schema: Schema, rows: &Rows) -> Result<Self, TableError> {
        let columns = schema.columns();
        let value = |(at, x): (usize, &f64)| match columns.get(at).map(|column| &column.kind) {
            Some(ColumnKind::Category { names }) if x.fract() == 0.0 && *x >= 0.0 => {
                let name = names.get(*x as usize);
                name.map_or(Value::Number(*x), |name| Value::Category(name.clone()))
            }
            _ => Value::Number(*x),
        };
        let cells = rows.iter().map(|row| row.iter().enumerate().map(value).collect());
        let rows: Vec<(u64, Vec<Value>)> = (0..).zip(cells).collect();
        Table::new(schema, &rows)
    }

    /// The table without a row.
    ///
    /// # Errors
    /// [`TableError::NoSuchRow`].
    pub fn without(&self, row: u64) -> Result<Self, TableError> {
        let at = self.ids.iter().position(|id| *id == row);
        let at = at.ok_or(TableError::NoSuchRow { row })?;
        let mut table = self.clone();
        table.ids.remove(at);
        let columns = self.rows.columns;
        table.rows.values.drain(at * columns..(at + 1) * columns);
        Ok(table)
    }

    /// The rows at these positions, with their identifiers; positions beyond the last are ignored.
    #[must_use]
    pub fn selected(&self, positions: &[usize]) -> Self {
        let columns = self.rows.columns;
        let positions = || positions.iter().filter(|at| **at < self.ids.len());
        let values = positions().flat_map(|at| &self.rows.values[at * columns..(at + 1) * columns]);
        Table {
            schema: self.schema.clone(),
            ids: positions().map(|at| self.ids[*at]).collect(),
            rows: Rows { columns, values: values.copied().collect() },
        }
    }

    /// The public description.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Identifiers, in the order of the rows.
    #[must_use]
    pub fn ids(&self) -> &[u64] {
        &self.ids
    }

    /// The values.
    #[must_use]
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// How often each label occurs; empty without a label.
    #[must_use]
    pub fn label_counts(&self) -> Vec<u64> {
        let Some(label) = self.schema.label() else { return Vec::new() };
        let mut counts = vec![0; self.schema.columns()[label].kind.width()];
        for row in self.rows.iter() {
            counts[row[label] as usize] += 1;
        }
        counts
    }
}

fn number(kind: &ColumnKind, value: &Value) -> Result<f64, &'static str> {
    match (kind, value) {
        (ColumnKind::Category { names }, Value::Category(name)) => {
            let at = names.iter().position(|other| other == name);
            at.map(|at| at as f64).ok_or("a listed category")
        }
        (ColumnKind::Category { .. }, Value::Number(_)) => Err("a category"),
        (_, Value::Number(x)) if !x.is_finite() => Err("a finite number"),
        (ColumnKind::Integer { .. }, Value::Number(x)) if x.fract() != 0.0 => Err("an integer"),
        (_, Value::Number(x)) => Ok(*x),
        (_, Value::Category(_)) => Err("a number"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpscope_formats::table::Column;

    fn schema() -> Schema {
        let names = ["no", "yes"].map(String::from).to_vec();
        let columns = [
            ("age", ColumnKind::Integer { low: 0, high: 120 }),
            ("dose", ColumnKind::Number { low: 0.0, high: 2.5 }),
            ("ill", ColumnKind::Category { names }),
        ];
        let columns = columns.map(|(name, kind)| Column { name: name.to_string(), kind });
        Schema::new(columns.to_vec()).unwrap().with_label("ill").unwrap()
    }

    fn row(age: f64, dose: f64, ill: &str) -> Vec<Value> {
        vec![Value::Number(age), Value::Number(dose), Value::Category(ill.to_string())]
    }

    #[test]
    fn a_row_can_be_removed_and_the_others_keep_their_identifiers() {
        let rows = [(7, row(30.0, 1.0, "no")), (9, row(40.0, 9.0, "yes"))];
        let table = Table::new(schema(), &rows).unwrap();
        assert_eq!(table.rows().values, [30.0, 1.0, 0.0, 40.0, 9.0, 1.0]);
        assert_eq!((table.rows().len(), table.label_counts()), (2, vec![1, 1]));
        let less = table.without(7).unwrap();
        assert_eq!((less.ids(), less.rows().values.as_slice()), (&[9][..], &[40.0, 9.0, 1.0][..]));
        assert_eq!(less.without(7), Err(TableError::NoSuchRow { row: 7 }));
        assert!(less.without(9).unwrap().rows().is_empty());
        assert_eq!((table.selected(&[1, 5]), table.selected(&[0, 1])), (less, table));
    }

    #[test]
    fn rows_of_a_file_have_their_positions_as_identifiers() {
        let rows = |values: &[f64]| Rows { columns: 3, values: values.to_vec() };
        let read = rows(&[30.0, 1.0, 0.0, 40.0, 2.0, 1.0]);
        let table = Table::numbered(schema(), &read).unwrap();
        assert_eq!((table.ids(), table.rows()), (&[0, 1][..], &read));
        for category in [2.0, -1.0, 0.5, f64::NAN] {
            let refused = Table::numbered(schema(), &rows(&[30.0, 1.0, category]));
            assert!(matches!(refused, Err(TableError::Value { row: 0, .. })));
        }
        let narrow = Rows { columns: 2, values: vec![1.0, 1.0] };
        assert!(matches!(Table::numbered(schema(), &narrow), Err(TableError::Width { .. })));
    }

    #[test]
    fn invalid_values_are_refused_with_row_and_column() {
        let error = |cells| Table::new(schema(), &[(3, cells)]).unwrap_err().to_string();
        let message = "row 3, column `age`: Number(30.5) is not an integer";
        assert_eq!(error(row(30.5, 1.0, "no")), message);
        assert!(error(row(30.0, f64::NAN, "no")).contains("`dose`: Number(NaN) is not a finite"));
        assert!(error(row(30.0, 1.0, "maybe")).contains("is not a listed category"));
        let mut cells = row(30.0, 1.0, "no");
        cells.swap(1, 2);
        assert!(error(cells.clone()).contains("`dose`: Category(\"no\") is not a number"));
        cells.pop();
        assert_eq!(error(cells), "row 3 has 2 values, and the schema 3 columns");
        let twice = [(3, row(1.0, 1.0, "no")), (3, row(2.0, 1.0, "no"))];
        let repeated = Table::new(schema(), &twice);
        assert_eq!(repeated, Err(TableError::RepeatedRow { row: 3 }));
    }
}

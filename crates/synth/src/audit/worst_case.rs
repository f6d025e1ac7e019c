//! The table of the worst case.

use super::error::AuditError;
use crate::fault::{Fault, FaultSet};
use crate::table::{Column, ColumnKind, Schema, Table, Value};

/// Identifier of the target row, the last.
pub(super) const TARGET: u64 = 4;

/// Four rows (0, 0, 0) and the target (1, 1, 1); the last column is a label if a fault needs one.
pub(super) fn worst_case(faults: FaultSet) -> Result<Table, AuditError> {
    let has_label = faults.has(Fault::O6);
    let column = |name: &str| {
        let kind = if has_label && name == "c" {
            ColumnKind::Category { names: ["0", "1"].map(String::from).to_vec() }
        } else {
            ColumnKind::Integer { low: 0, high: 1 }
        };
        Column { name: name.to_owned(), kind }
    };
    let schema = Schema::new(["a", "b", "c"].map(column).to_vec())?;
    let schema = if has_label { schema.with_label("c")? } else { schema };
    let row = |id: u64| {
        let value = u8::from(id == TARGET);
        let number = Value::Number(f64::from(value));
        let last = if has_label { Value::Category(value.to_string()) } else { number.clone() };
        (id, vec![number.clone(), number, last])
    };
    Ok(Table::new(schema, &(0..=TARGET).map(row).collect::<Vec<_>>())?)
}

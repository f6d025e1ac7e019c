//! A table for the tests.

use dpscope_synth::table::{Column, ColumnKind, Schema, Table, Value};

/// Three columns and a label, with rows that differ; row 0 is extreme.
pub(crate) fn mixed(rows: u64) -> Table {
    let names = ["no", "yes"].map(String::from).to_vec();
    let columns = [
        ("number", ColumnKind::Number { low: -10.0, high: 10.0 }),
        ("integer", ColumnKind::Integer { low: 0, high: 99 }),
        ("label", ColumnKind::Category { names }),
    ];
    let columns = columns.map(|(name, kind)| Column { name: name.to_string(), kind });
    let schema = Schema::new(columns.to_vec()).unwrap().with_label("label").unwrap();
    let row = |id: u64| {
        let number = if id == 0 { 9.5 } else { (id % 7) as f64 - 3.0 };
        let label = if id.is_multiple_of(3) { "yes" } else { "no" };
        let integer = Value::Number((id * 37 % 90) as f64);
        (id, vec![Value::Number(number), integer, Value::Category(label.to_string())])
    };
    Table::new(schema, &(0..rows).map(row).collect::<Vec<_>>()).unwrap()
}

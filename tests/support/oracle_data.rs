//! Readers of golden data. A broken file is a broken test, so they panic with the place.

use serde_json::Value;

/// A csv file with a header line, without quoting.
#[derive(Debug)]
pub struct Table<'a> {
    columns: Vec<&'a str>,
    rows: Vec<Vec<&'a str>>,
}

/// One row of a [`Table`].
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    table: &'a Table<'a>,
    index: usize,
}

impl<'a> Table<'a> {
    /// Splits the text; every row must have as many cells as the header.
    pub fn parse(text: &'a str) -> Self {
        let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let columns = lines.next().expect("golden csv has a header");
        let rows: Vec<_> = lines.collect();
        for (index, row) in rows.iter().enumerate() {
            assert_eq!(row.len(), columns.len(), "cells in row {index}");
        }
        assert!(!rows.is_empty(), "golden csv has rows");
        Self { columns, rows }
    }

    /// The rows in file order.
    pub fn rows(&'a self) -> impl ExactSizeIterator<Item = Row<'a>> {
        (0..self.rows.len()).map(|index| Row { table: self, index })
    }
}

impl Row<'_> {
    /// The cell in the named column as a float.
    pub fn float(self, column: &str) -> f64 {
        self.text(column).parse().expect("cell is a float")
    }

    /// The cell in the named column as a count.
    pub fn count(self, column: &str) -> u64 {
        self.text(column).parse().expect("cell is a count")
    }

    /// The cell in the named column.
    pub fn text(&self, column: &str) -> &str {
        let place = self.table.columns.iter().position(|name| *name == column);
        let place = place.expect("golden csv has the column");
        self.table.rows[self.index][place]
    }
}

/// One case of a golden JSON file: `{id, group, inputs, expected, tol}`.
#[derive(Debug, Clone)]
pub struct Case(Value);

/// The cases of a group, in file order; at least one.
pub fn cases(text: &str, group: &str) -> Vec<Case> {
    let file: Value = serde_json::from_str(text).expect("golden file is json");
    let all = file.get("cases").unwrap_or(&file).as_array().expect("golden json has cases").clone();
    let of_group: Vec<Case> =
        all.into_iter().filter(|case| case["group"] == group).map(Case).collect();
    assert!(!of_group.is_empty(), "golden json has the group {group}");
    of_group
}

impl Case {
    /// Name of the case.
    pub fn id(&self) -> &str {
        self.0["id"].as_str().expect("case has an id")
    }

    /// A numeric input.
    pub fn input(&self, name: &str) -> f64 {
        number(&self.0["inputs"][name]).expect("case has the input")
    }

    /// An input that is a count.
    pub fn count(&self, name: &str) -> u64 {
        self.0["inputs"][name].as_u64().expect("case has the count")
    }

    /// The expected entry whose key starts with the prefix, if there is one.
    pub fn expected(&self, prefix: &str) -> Option<&Value> {
        let entries = self.0["expected"].as_object().expect("case has expected values");
        entries.iter().find(|(key, _)| key.starts_with(prefix)).map(|(_, value)| value)
    }

    /// The expected entry as a number.
    pub fn expected_float(&self, prefix: &str) -> Option<f64> {
        self.expected(prefix).and_then(number)
    }

    /// The expected entry as a list of numbers.
    pub fn expected_floats(&self, prefix: &str) -> Option<Vec<f64>> {
        self.expected(prefix)?.as_array()?.iter().map(number).collect()
    }

    /// The tolerance with the name.
    pub fn tolerance(&self, name: &str) -> f64 {
        number(&self.0["tol"][name]).expect("case has the tolerance")
    }
}

/// Golden files write infinities as strings.
fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

/// |seen − value| in units of the value; 0 where both are equal, infinite where only the value is 0.
pub fn relative_change(seen: f64, value: f64) -> f64 {
    if seen == value { 0.0 } else { (seen - value).abs() / value.abs() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_tables_and_cases() {
        let table = Table::parse("trials,tail\n10,5e-2\n7,0.5\n");
        let row = table.rows().nth(1).unwrap();
        assert_eq!((row.count("trials"), row.float("tail")), (7, 0.5));
        let text = r#"[{"id": "x-1", "group": "x", "inputs": {"mu": 1, "n": 3},
            "expected": {"peer A": "inf", "ours": [1, 2.5]}, "tol": {"rel": 1e-6}}]"#;
        let case = &cases(text, "x")[0];
        assert_eq!(case.id(), "x-1");
        assert_eq!((case.input("mu"), case.count("n")), (1.0, 3));
        assert_eq!(case.expected_float("peer"), Some(f64::INFINITY));
        assert_eq!(case.expected_floats("ours"), Some(vec![1.0, 2.5]));
        assert_eq!(case.expected_float("absent"), None);
    }

    #[test]
    fn relative_change_never_passes_nan_or_a_missing_zero() {
        assert_eq!(relative_change(0.0, 0.0), 0.0);
        assert_eq!(relative_change(1e-9, 0.0), f64::INFINITY);
        assert!(relative_change(f64::NAN, 1.0).is_nan());
        assert_eq!(relative_change(3.0, 2.0), 0.5);
    }
}

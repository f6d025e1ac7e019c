//! Text files: rows of numbers.

mod cells;

use cells::{Cells, Delimiter};
use dpscope_core::foreign_text::ForeignText;

use crate::error::name_list;
use crate::limits::within;
use crate::number::is_large_integer;
use crate::shape::{element_count, reserve};
use crate::{Array, ArrayName, FormatError, Limits};

/// A table of numbers, and its columns' names if the file has a header line.
#[derive(Debug, Clone, PartialEq)]
pub struct CsvTable {
    /// Names of the columns; `None` without a header line.
    pub columns: Option<Vec<String>>,
    /// All values: shape (rows, columns), or (rows) where there is one column.
    pub values: Array,
}

impl CsvTable {
    /// The values of one column by its name, shape (rows).
    ///
    /// # Errors
    ///
    /// No such column, or two of that name.
    pub fn column(&self, name: &str) -> Result<Array, FormatError> {
        let columns = self.columns.as_deref().unwrap_or_default();
        let mut places = (0..columns.len()).filter(|&place| columns[place] == name);
        let (Some(place), next) = (places.next(), places.next()) else {
            let available = name_list(columns.iter().map(String::as_str));
            return Err(FormatError::NotFound { name: ForeignText::new(name), available });
        };
        if next.is_some() {
            return Err(FormatError::DuplicateName { name: ForeignText::new(name) });
        }
        let rows = self.values.data().len() / columns.len();
        let mut values = reserve(&ArrayName::of(name), rows)?;
        values.extend(self.values.data().iter().skip(place).step_by(columns.len()));
        Ok(Array::from_checked(&[rows as u64], values))
    }
}

/// Reads rows of numbers that are separated by commas, semicolons, tabs or blanks.
///
/// The separator is the first of `;`, `,` and tab that occurs in the first line, else runs of
/// blanks. Everything after a `#` is skipped. An empty line may be a missing value and is refused like an
/// empty cell, except after the last row of several columns; what follows the last line feed is not a
/// line. The first line is a header if none of its cells is a number and not all of them are meant as
/// values, as `n/a` or `1_000` is. Cells may be quoted. Numbers are written as in Rust or Python: `1`,
/// `-0.5`, `2e-3`, `nan`, `inf`; NaN and infinities are preserved. Each number is the nearest `f64`.
///
/// # Errors
///
/// Text that is not UTF-8, an empty line, a cell that is empty or not a number (with its line and column,
/// from 1), a row of another length, no rows, or more than `limits` allow.
///
/// # Numerics
///
/// The crate `csv` is not used: it knows neither runs of blanks nor comments after values, and
/// copies every record. It is the oracle in the tests.
///
/// # Example
///
/// ```
/// use dpscope_formats::{Limits, read_csv};
///
/// let table = read_csv(b"score,member # nats\n-0.5,0\n1.25,1\n", &Limits::default())?;
/// println!("{:?}", table.column("score")?.data()); // [-0.5, 1.25]
/// assert_eq!(table.values.shape(), [2, 2]);
///
/// let text = read_csv(b"1,2\n3,four\n", &Limits::default()).unwrap_err();
/// assert!(text.to_string().starts_with("line 2, column 2: `four` is not a number"));
/// # Ok::<(), dpscope_formats::FormatError>(())
/// ```
pub fn read_csv(bytes: &[u8], limits: &Limits) -> Result<CsvTable, FormatError> {
    read_csv_as(bytes, limits, MissingValues::Refused)
}

/// How empty lines and cells of a text file are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissingValues {
    /// As an error that names the place.
    #[default]
    Refused,
    /// As NaN; an empty line has one in each column, also after the last row: the last runs may have failed.
    Nan,
}

/// Reads a file like [`read_csv`]; `missing` says how empty lines and cells are read.
///
/// # Errors
///
/// As [`read_csv`]. A line before the first row, whose columns are not known yet, must not be empty.
pub fn read_csv_as(
    bytes: &[u8],
    limits: &Limits,
    missing: MissingValues,
) -> Result<CsvTable, FormatError> {
    limits.file(bytes)?;
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text),
        Err(error) => {
            let before = &bytes[..error.valid_up_to()];
            let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count() as u64;
            return Err(FormatError::NotUtf8 { line });
        }
    };
    let mut lines = Lines::new(text);
    let Some((first_line, first)) = lines.next() else { return Err(FormatError::NoRows) };
    if first.trim_ascii().is_empty() {
        return Err(FormatError::EmptyLine { line: first_line });
    }
    let mut rows = Rows {
        delimiter: Delimiter::of(first),
        first_line,
        may_be_header: false,
        columns: 0,
        data: Vec::new(),
        limits,
        missing,
    };
    let columns = rows.header(first)?;
    if columns.is_none() {
        rows.reserve_for(first, text)?;
        rows.push(first_line, first)?;
    }
    let mut empty_line = None;
    for (line, row) in lines {
        if missing == MissingValues::Refused && row.trim_ascii().is_empty() {
            empty_line.get_or_insert(line);
            continue;
        }
        Rows::refuse_empty(empty_line)?;
        rows.push(line, row)?;
    }
    // a missing value of the only column would be an empty line, too
    Rows::refuse_empty(empty_line.filter(|_| rows.columns == 1 && !rows.data.is_empty()))?;
    rows.finish(columns)
}

/// Lines without their comments, numbered from 1; lines that are only comments are skipped.
struct Lines<'t> {
    lines: std::iter::Zip<std::ops::RangeFrom<u64>, std::str::Split<'t, char>>,
    has_comments: bool,
}

impl<'t> Lines<'t> {
    fn new(text: &'t str) -> Self {
        let has_comments = text.as_bytes().contains(&b'#');
        let mut lines = text.strip_suffix('\n').unwrap_or(text).split('\n');
        if text.is_empty() || text == "\n" {
            lines.next();
        }
        Self { lines: (1..).zip(lines), has_comments }
    }
}

impl<'t> Iterator for Lines<'t> {
    type Item = (u64, &'t str);

    fn next(&mut self) -> Option<(u64, &'t str)> {
        for (number, whole) in self.lines.by_ref() {
            let line = if self.has_comments { cells::without_comment(whole) } else { whole };
            if line.len() < whole.len() && line.trim_ascii().is_empty() {
                continue;
            }
            // A tab at either end may delimit an empty cell.
            return Some((number, line.trim_end_matches('\r')));
        }
        None
    }
}

/// Words for a missing value.
const MISSING: [&str; 9] = ["NA", "N/A", "na", "n/a", "NULL", "null", "None", "none", "-"];

/// Words for a truth value.
const TRUTH: [&str; 6] = ["True", "true", "TRUE", "False", "false", "FALSE"];

/// A number with separators of digits or a unit, such as `1_000`.
fn is_grouped(cell: &str) -> bool {
    let bare: String = cell.chars().filter(|c| !"_,' %".contains(*c)).collect();
    bare.len() < cell.len() && !cell.starts_with('_') && bare.parse::<f64>().is_ok()
}

/// Whether a cell is meant as a value, although it is not written as a number.
fn is_meant_as_value(cell: &str) -> bool {
    is_grouped(cell) || MISSING.contains(&cell) || TRUTH.contains(&cell)
}

struct Rows<'l> {
    delimiter: Delimiter,
    first_line: u64,
    /// Whether no cell of the first line is a number.
    may_be_header: bool,
    columns: u64,
    data: Vec<f64>,
    limits: &'l Limits,
    missing: MissingValues,
}

impl Rows<'_> {
    /// The columns' names, unless a cell of the first line is a number, or all are meant as values: the
    /// row would be lost.
    fn header(&mut self, line: &str) -> Result<Option<Vec<String>>, FormatError> {
        let mut names = Vec::new();
        for cell in Cells::new(line, self.delimiter) {
            let cell = cell.map_err(|_| FormatError::OpenQuote { line: self.first_line })?;
            if cell.parse::<f64>().is_ok() {
                return Ok(None);
            }
            self.limits.name(cell)?;
            self.within_columns(names.len() as u64 + 1)?;
            names.push(cell.replace("\"\"", "\""));
        }
        self.may_be_header = true;
        // A lone quoted or blank cell is an empty cell, and no name.
        if names.iter().all(|name| name.is_empty() || is_meant_as_value(name)) {
            return Ok(None);
        }
        self.columns = names.len() as u64;
        Ok(Some(names))
    }

    /// Reserves about as much memory as the file needs if all its lines are like `line`.
    fn reserve_for(&mut self, line: &str, text: &str) -> Result<(), FormatError> {
        let cells = Cells::new(line, self.delimiter).count();
        let guess = text.len() / (line.len() + 1) * cells + cells;
        let most = usize::try_from(self.limits.max_elements).unwrap_or(usize::MAX);
        self.data = reserve(&ArrayName::only(), guess.min(most))?;
        Ok(())
    }

    fn refuse_empty(line: Option<u64>) -> Result<(), FormatError> {
        line.map_or(Ok(()), |line| Err(FormatError::EmptyLine { line }))
    }

    fn push(&mut self, line: u64, row: &str) -> Result<(), FormatError> {
        let mut found = 0;
        let is_nan = self.missing == MissingValues::Nan;
        let is_empty = row.trim_ascii().is_empty();
        if is_empty {
            found = self.columns;
            self.data.extend(std::iter::repeat_n(f64::NAN, found as usize));
        }
        for cell in Cells::new(row, self.delimiter).filter(|_| !is_empty) {
            found += 1;
            let cell = cell.map_err(|_| FormatError::OpenQuote { line })?;
            match cell.parse() {
                _ if cell.is_empty() && is_nan => self.data.push(f64::NAN),
                Ok(value)
                    if cell.len() as u64 <= self.limits.max_cell_bytes
                        && !is_large_integer(cell, value) =>
                {
                    self.data.push(value);
                }
                _ => return Err(self.refuse(line, found, cell)),
            }
        }
        if self.columns == 0 {
            self.columns = found;
            self.within_columns(found)?;
        }
        if found != self.columns {
            let (first_line, expected) = (self.first_line, self.columns);
            let remedy = "give every row the same cells";
            return Err(FormatError::RaggedRow { line, found, first_line, expected, remedy });
        }
        let elements = self.data.len();
        self.limits.elements(&ArrayName::only(), elements as u64)?;
        if self.data.capacity() - elements < found as usize {
            let grown = self.data.try_reserve(elements.max(found as usize));
            grown.map_err(|_| FormatError::OutOfMemory {
                array: ArrayName::only(),
                elements: 2 * elements as u64,
            })?;
        }
        Ok(())
    }

    fn within_columns(&self, columns: u64) -> Result<(), FormatError> {
        let place = format!("line {}", self.first_line);
        within(place, "cells", columns, "max_arrays", self.limits.max_arrays)
    }

    /// Why a cell was refused.
    fn refuse(&self, line: u64, column: u64, cell: &str) -> FormatError {
        if cell.is_empty() {
            return FormatError::EmptyCell { line, column };
        }
        let place = format!("line {line}, column {column}");
        let most = self.limits.max_cell_bytes;
        if let Err(error) = within(place, "bytes", cell.len() as u64, "max_cell_bytes", most) {
            return error;
        }
        let comma = cell.replacen(',', ".", 1);
        let remedy = if cell.parse().is_ok_and(|value| is_large_integer(cell, value)) {
            "write integers up to 2^53: f64 cannot represent every larger integer"
        } else if comma != cell && comma.parse::<f64>().is_ok() {
            "write a decimal point"
        } else if cell.contains('\r') {
            "end lines with a line feed"
        } else if line == self.first_line && self.may_be_header && is_meant_as_value(cell) {
            "start a header line with #, or write values as numbers: nan, 1 for true, 1000 for 1_000"
        } else if MISSING.contains(&cell) {
            "write nan for missing values"
        } else if TRUTH.contains(&cell) {
            "write 1 for true and 0 for false"
        } else if is_grouped(cell) {
            "write digits without separators or units"
        } else if line == self.first_line {
            "start a header line with #, or write no numbers in it"
        } else {
            "remove the column, or write a number"
        };
        FormatError::TextCell { line, column, text: ForeignText::new(cell), remedy }
    }

    fn finish(self, columns: Option<Vec<String>>) -> Result<CsvTable, FormatError> {
        if self.data.is_empty() {
            return Err(FormatError::NoRows);
        }
        let rows = self.data.len() as u64 / self.columns;
        let shape = if self.columns == 1 { vec![rows] } else { vec![rows, self.columns] };
        element_count(&ArrayName::only(), &shape, self.limits)?;
        Ok(CsvTable { columns, values: Array::from_checked(&shape, self.data) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<CsvTable, FormatError> {
        read_csv(text.as_bytes(), &Limits::default())
    }

    fn message(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    #[test]
    fn every_separator_yields_the_same_table() {
        for text in [
            "1,2.5\n-3,4e-3\n",
            "1;2.5\r\n-3;4e-3",
            "1\t2.5\n-3\t4e-3\n",
            "  1   2.5\n -3   4e-3\n",
            "\u{feff}1, 2.5\n-3 , 4e-3\n",
            "# header\n1,2.5 # first\n  # no row\n-3,4e-3",
            "\"1\",\"2.5\"\n\"-3\",4e-3",
        ] {
            let table = read(text).unwrap();
            assert_eq!(table.columns, None, "{text:?}");
            assert_eq!(table.values.shape(), [2, 2], "{text:?}");
            assert_eq!(table.values.data(), [1.0, 2.5, -3.0, 0.004], "{text:?}");
        }
    }

    #[test]
    fn a_tab_at_the_start_of_a_header_names_the_index() {
        let table = read("\tscore\n0\t0.5\n").unwrap();
        assert_eq!(table.columns.as_deref().unwrap(), ["", "score"]);
        assert_eq!(table.values.data(), [0.0, 0.5]);
    }

    #[test]
    fn one_column_has_one_axis() {
        let table = read("score\n1\nnan\n-inf\n").unwrap();
        assert_eq!(table.values.shape(), [3]);
        assert_eq!(table.values.non_finite().unwrap().count, 2);
        assert_eq!(read("1 2 3").unwrap().values.shape(), [1, 3]);
    }

    #[test]
    fn columns_are_found_by_their_header() {
        let names = read("2024-01-01,e1,p_5\n0,1,2\n").unwrap().columns.unwrap();
        assert_eq!(names, ["2024-01-01", "e1", "p_5"]);
        for header in ["null,alternative", "True,score", "_1,_2", "5 %,a"] {
            assert!(read(&format!("{header}\n0,1\n")).unwrap().columns.is_some(), "{header}");
        }
        let table = read(",\"in, out\",σ,σ\n0,1,2,2\n3,4,5,5\n").unwrap();
        assert_eq!(table.columns.as_deref().unwrap(), ["", "in, out", "σ", "σ"]);
        assert_eq!(table.column("in, out").unwrap().data(), [1.0, 4.0]);
        assert!(matches!(table.column("σ"), Err(FormatError::DuplicateName { .. })));
        let error = table.column("x").unwrap_err().to_string();
        assert!(error.ends_with("the file contains ``, `in, out`, `σ`, `σ`"), "{error}");
        assert!(matches!(read("1,2").unwrap().column(""), Err(FormatError::NotFound { .. })));
    }

    #[test]
    fn errors_name_line_column_and_remedy() {
        for (text, expected) in [
            ("1,2\n# 2\n3,x\n", "line 3, column 2: `x` is not a number; remove the column"),
            ("a,1\n2,3", "line 1, column 1: `a` is not a number; start a header line with #"),
            ("1;2\n1,5;2\n", "line 2, column 1: `1,5` is not a number; write a decimal point"),
            ("1,5;2\n", "line 1, column 1: `1,5` is not a number; write a decimal point"),
            ("1,2\r3,4\r", "line 1, column 2: `2\\r3` is not a number; end lines with a line feed"),
            ("1\nNA", "line 2, column 1: `NA` is not a number; write nan"),
            ("1\nTrue", "line 2, column 1: `True` is not a number; write 1 for true"),
            ("1\n1_000", "line 2, column 1: `1_000` is not a number"),
            ("1\n(1+2j)", "line 2, column 1: `(1+2j)` is not a number"),
            ("1,n/a\n2,1", "line 1, column 2: `n/a` is not a number; write nan for missing"),
            (
                "1_000\n2_000",
                "line 1, column 1: `1_000` is not a number; start a header line with #",
            ),
            ("5 %,n/a\n2,1", "line 1, column 1: `5 %` is not a number; start a header line with #"),
            ("n/a\n1\n2", "line 1, column 1: `n/a` is not a number; start a header line with #"),
            ("True\n0\n", "line 1, column 1: `True` is not a number; start a header line with #"),
            ("1,2\n3,\n", "line 2, column 2 is empty; write nan"),
            ("1\t\t2", "line 1, column 2 is empty"),
            ("1\t2\r\n1\t\r\n", "line 2, column 2 is empty"),
            ("1,2\n3,4\n5\n", "line 3 has 1 cells, but line 1 has 2"),
            ("a,b\n1,2,3\n", "line 2 has 3 cells, but line 1 has 2"),
            ("1\n\"2\n", "line 2 opens a quotation mark and does not close it"),
            ("\"\"\n1", "line 1, column 1 is empty"),
            ("", "there are no rows"),
            ("a,b\n", "there are no rows"),
            ("# a\n", "there are no rows"),
            ("\n", "there are no rows"),
            ("# a\n \n", "line 2 is empty; write nan for missing values, or remove the line"),
            ("\n1\n", "line 1 is empty"),
            ("1\n\n3\n", "line 2 is empty"),
            ("score\r\n1\r\n\r\n3\r\n", "line 3 is empty"),
            ("1\n2\n\n", "line 3 is empty"),
            ("1\n2\n  ", "line 3 is empty"),
            ("1,2\n  \n\n3,4\n\n", "line 2 is empty"),
            ("1,2\n \t \n3,4\n", "line 2 is empty"),
            ("1\n\"\"\n", "line 2, column 1 is empty"),
        ] {
            let text = message(text);
            assert!(text.starts_with(expected), "{text}");
        }
        let error = read_csv(b"1\n2\n\xff\n", &Limits::default()).unwrap_err();
        assert_eq!(error, FormatError::NotUtf8 { line: 3 });
    }

    #[test]
    fn empty_lines_after_the_last_row_are_no_rows() {
        for end in ["\n\n", "\n \n\n", "\n\t", "\r\n\r\n", "\n\n# end\n\n"] {
            assert_eq!(read(&format!("1,2\n3,4{end}")).unwrap().values.shape(), [2, 2], "{end:?}");
            assert!(message(&format!("1\n2{end}")).starts_with("line 3 is empty"), "{end:?}");
        }
        assert!(message("a,b\n\n").starts_with("there are no rows"));
    }

    #[test]
    fn missing_values_are_nan_where_they_are_counted() {
        let read =
            |text: &str| read_csv_as(text.as_bytes(), &Limits::default(), MissingValues::Nan);
        for text in ["s\n1\n\n3\n", "s\n1\n\"\"\n3", "1\n \n3\n", "1\nnan\n3"] {
            let table = read(text).unwrap();
            assert_eq!(table.values.shape(), [3], "{text:?}");
            let data = table.values.data();
            assert!(data[1].is_nan() && (data[0], data[2]) == (1.0, 3.0), "{text:?}");
        }
        let table = read("1,2\n\n,4\n\n").unwrap();
        assert_eq!(table.values.shape(), [4, 2]);
        let missing: Vec<bool> = table.values.data().iter().map(|value| value.is_nan()).collect();
        assert_eq!(missing, [false, false, true, true, true, false, true, true]);
        assert_eq!(read("\n1\n"), Err(FormatError::EmptyLine { line: 1 }));
    }

    #[test]
    fn limits_are_enforced() {
        let read = |text: &str, limits: Limits| read_csv(text.as_bytes(), &limits);
        let four = Limits { max_elements: 4, ..Limits::default() };
        assert!(read("1,2\n3,4", four.clone()).is_ok());
        assert!(read("1,2\n3,4\n5,6", four).is_err());
        let two = Limits { max_arrays: 2, ..Limits::default() };
        assert!(read("1,2", two.clone()).is_ok());
        let error = read("1,2,3", two.clone()).unwrap_err().to_string();
        assert!(error.starts_with("line 1 has 3 cells, more than the limit max_arrays"), "{error}");
        assert!(read("a,b,c\n1,2,3", two).is_err());
        let short = Limits { max_cell_bytes: 3, ..Limits::default() };
        assert!(read("1.5", short.clone()).is_ok());
        let error = read("1.5 1.50", short).unwrap_err().to_string();
        assert!(error.starts_with("line 1, column 2 has 4 bytes"), "{error}");
        assert!(read("1,2", Limits { max_bytes: 2, ..Limits::default() }).is_err());
        let huge = format!("1\n{}\n", "9".repeat(100_000));
        assert!(message(&huge).contains("max_cell_bytes"));
        let long = "x".repeat(4000);
        let shown = ForeignText::new(&long);
        let expected = format!(
            "line 2, column 1: `{shown}` is not a number; remove the column, or write a number"
        );
        assert_eq!(message(&format!("1\n{long}\n")), expected);
    }
}

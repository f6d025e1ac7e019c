//! Rows of a schema from csv, and back.

use dpscope_core::foreign_text::ForeignText;

use super::{Column, ColumnKind, Rows, Schema};
use crate::error::foreign_bytes;
use crate::{FormatError, Limits};

/// Why a file is no table of a schema.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TableFileError {
    /// The file, one of its rows or cells is larger than allowed.
    #[error(transparent)]
    Limit(#[from] FormatError),
    /// A Parquet file where csv is expected.
    #[error(
        "it is a Parquet file; write csv, for example with \
         pandas.read_parquet(path).to_csv(out, index=False)"
    )]
    Parquet,
    /// There is not even a line of names.
    #[error("it is empty; write a line of column names, then one row per line")]
    Empty,
    /// The first line does not name the columns of the schema in their order.
    #[error(
        "column {at} is {found}, and the schema has {expected}; write the columns of the schema, in its \
         order"
    )]
    Header {
        /// Position, from 1.
        at: usize,
        /// The name found, or that there is none.
        found: String,
        /// The name expected, or that there is none.
        expected: String,
    },
    /// A row has another number of cells than there are columns.
    #[error("line {line} has {found} cells, and the schema has {expected} columns")]
    Width {
        /// Line of the file, from 1.
        line: u64,
        /// Number of cells.
        found: usize,
        /// Number of columns.
        expected: usize,
    },
    /// An empty line, which may be a missing row.
    #[error("line {line} is empty; remove it, or write its row")]
    EmptyLine {
        /// Line of the file, from 1.
        line: u64,
    },
    /// A cell is not of the kind of its column.
    #[error("line {line}, column `{column}`: `{text}` is not {expected}")]
    Cell {
        /// Line of the file, from 1.
        line: u64,
        /// Name of the column.
        column: ForeignText,
        /// The cell.
        text: ForeignText,
        /// What the column contains.
        expected: String,
    },
    /// A line that is not text.
    #[error("line {line} cannot be read: {reason}")]
    Line {
        /// Line of the file, from 1.
        line: u64,
        /// Why.
        reason: String,
    },
}

/// Reads csv with a line of column names, then one row per line.
///
/// A category becomes its position among the names. A number beyond the bounds of its column is refused:
/// bounds are public.
///
/// | argument | meaning |
/// |---|---|
/// | `bytes` | the file, UTF-8 |
/// | `schema` | columns in the order of the file |
/// | `limits` | on the file, its values and its cells |
///
/// # Errors
/// [`TableFileError`], with line and column.
///
/// # Example
/// ```
/// use dpscope_formats::Limits;
/// use dpscope_formats::table::{Column, ColumnKind, Schema, read_table};
/// let names = ["no", "yes"].map(String::from).to_vec();
/// let columns = [("age", ColumnKind::Integer { low: 0, high: 120 }), ("ill", ColumnKind::Category { names })];
/// let columns = columns.map(|(name, kind)| Column { name: name.to_string(), kind });
/// let schema = Schema::new(columns.to_vec())?;
/// let rows = read_table(b"age,ill\n40,yes\n", &schema, &Limits::default())?;
/// assert_eq!(rows.values, [40.0, 1.0]);
/// let refused = read_table(b"age,ill\n40,maybe\n", &schema, &Limits::default()).unwrap_err();
/// assert_eq!(refused.to_string(), "line 2, column `ill`: `maybe` is not one of the categories no, yes");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_table(bytes: &[u8], schema: &Schema, limits: &Limits) -> Result<Rows, TableFileError> {
    check_start(bytes, limits)?;
    let columns = schema.columns();
    let mut reader =
        ::csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bytes);
    let mut values = Vec::new();
    let mut record = ::csv::ByteRecord::new();
    let mut is_first = true;
    loop {
        let line = reader.position().line();
        check_line(bytes, reader.position(), columns.len())?;
        let unreadable = |error: ::csv::Error| TableFileError::Line {
            line,
            reason: ForeignText::of(error).to_string(),
        };
        if !reader.read_byte_record(&mut record).map_err(unreadable)? {
            break;
        }
        let line = record.position().map_or(line, ::csv::Position::line);
        if is_first {
            check_header(&record, columns)?;
            is_first = false;
            continue;
        }
        if record.len() != columns.len() {
            return Err(TableFileError::Width {
                line,
                found: record.len(),
                expected: columns.len(),
            });
        }
        crate::limits::within(
            "the file",
            "values",
            (values.len() + columns.len()) as u64,
            "max_elements",
            limits.max_elements,
        )?;
        for (column, cell) in columns.iter().zip(&record) {
            values.push(value(column, cell).map_err(|expected| TableFileError::Cell {
                line,
                column: ForeignText::new(&column.name),
                text: foreign_bytes(cell),
                expected,
            })?);
        }
    }
    if is_first {
        return Err(TableFileError::Empty);
    }
    Ok(Rows { columns: columns.len(), values })
}

/// Refuses a line without cells, which the reader skips, except after the last row of several columns: a
/// missing value of the only column would be an empty line, too.
fn check_line(bytes: &[u8], place: &::csv::Position, columns: usize) -> Result<(), TableFileError> {
    let at = usize::try_from(place.byte()).unwrap_or(usize::MAX);
    let (before, rest) = bytes.split_at_checked(at).unwrap_or((bytes, b""));
    // the reader stops between the two characters that end a line
    let ends = |rest: &[u8]| rest.starts_with(b"\n") || rest.starts_with(b"\r");
    let is_within = before.ends_with(b"\r") && rest.starts_with(b"\n");
    let (rest, skipped) = if is_within { (&rest[1..], 1) } else { (rest, 0) };
    let is_after_rows = columns > 1 && rest.iter().all(|byte| b"\r\n".contains(byte));
    match ends(rest) && !is_after_rows {
        true => Err(TableFileError::EmptyLine { line: place.line() + skipped }),
        false => Ok(()),
    }
}

/// The names in the first line of a table.
///
/// # Errors
/// A file that is larger than allowed, empty, or no text.
pub fn read_column_names(bytes: &[u8], limits: &Limits) -> Result<Vec<String>, TableFileError> {
    check_start(bytes, limits)?;
    let unreadable = |reason: String| TableFileError::Line { line: 1, reason };
    let mut reader =
        ::csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bytes);
    let mut record = ::csv::ByteRecord::new();
    if !reader.read_byte_record(&mut record).map_err(|error| unreadable(error.to_string()))? {
        return Err(TableFileError::Empty);
    }
    let names = record.iter().enumerate().map(|(at, cell)| {
        let cell = without_mark(at, cell);
        let name = std::str::from_utf8(cell).map(str::to_owned);
        name.map_err(|_| unreadable("a name is no UTF-8 text".to_owned()))
    });
    names.collect()
}

/// Writes rows as csv that [`read_table`] reads.
///
/// # Guarantee
/// What is read is what was written (`unit::rows_are_read_as_written`).
#[must_use]
pub fn write_table(schema: &Schema, rows: &Rows) -> String {
    let mut text = String::new();
    line(&mut text, schema.columns().iter().map(|column| column.name.clone()));
    for row in rows.iter() {
        let cells = schema.columns().iter().zip(row).map(|(column, value)| match &column.kind {
            ColumnKind::Category { names } => {
                names.get(*value as usize).cloned().unwrap_or_default()
            }
            _ => value.to_string(),
        });
        line(&mut text, cells);
    }
    text
}

fn line(text: &mut String, cells: impl Iterator<Item = String>) {
    let cells: Vec<String> = cells
        .map(|cell| match cell.is_empty() || cell.contains([',', '"', '\n', '\r']) {
            true => format!("\"{}\"", cell.replace('"', "\"\"")),
            false => cell,
        })
        .collect();
    text.push_str(&cells.join(","));
    text.push('\n');
}

/// Whether a file starts as Parquet does: `PAR1`, and binary numbers.
#[must_use]
pub fn is_parquet(bytes: &[u8]) -> bool {
    // csv may name its first column so
    let is_binary = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    bytes.strip_prefix(b"PAR1").and_then(<[u8]>::first).is_some_and(is_binary)
}

fn check_start(bytes: &[u8], limits: &Limits) -> Result<(), TableFileError> {
    limits.file(bytes)?;
    if is_parquet(bytes) {
        return Err(TableFileError::Parquet);
    }
    Ok(())
}

fn check_header(record: &::csv::ByteRecord, columns: &[Column]) -> Result<(), TableFileError> {
    for at in 0..record.len().max(columns.len()) {
        let cell = record.get(at);
        let cell = cell.map(|cell| without_mark(at, cell));
        let column = columns.get(at);
        if cell != column.map(|column| column.name.as_bytes()) {
            return Err(TableFileError::Header {
                at: at + 1,
                found: cell
                    .map_or("missing".to_owned(), |cell| format!("`{}`", foreign_bytes(cell))),
                expected: column.map_or("no such column".to_owned(), |column| {
                    format!("`{}`", ForeignText::new(&column.name))
                }),
            });
        }
    }
    Ok(())
}

/// A byte order mark is no part of a name.
fn without_mark(at: usize, cell: &[u8]) -> &[u8] {
    match at {
        0 => cell.strip_prefix(b"\xef\xbb\xbf").unwrap_or(cell),
        _ => cell,
    }
}

fn value(column: &Column, cell: &[u8]) -> Result<f64, String> {
    let text = std::str::from_utf8(cell).map_err(|_| "UTF-8 text".to_owned())?;
    if let ColumnKind::Category { names } = &column.kind {
        let at = names.iter().position(|name| name == text);
        return at.map(|at| at as f64).ok_or_else(|| {
            let shown: Vec<String> =
                names.iter().take(6).map(|name| ForeignText::new(name).to_string()).collect();
            let rest = if names.len() > shown.len() { ", …" } else { "" };
            format!("one of the categories {}{rest}", shown.join(", "))
        });
    }
    let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    let number = number.ok_or("a finite number")?;
    if matches!(column.kind, ColumnKind::Integer { .. }) && number.fract() != 0.0 {
        return Err("an integer".to_owned());
    }
    match column.kind.bounds() {
        Some([low, high]) if !(low..=high).contains(&number) => {
            Err(format!("within the public bounds {low} to {high}"))
        }
        // −0 and 0 are one value
        _ => Ok(number + 0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Schema {
        let names = ["no", "a,\"b\"", ""].map(String::from).to_vec();
        let columns = [
            ("age", ColumnKind::Integer { low: -5, high: 120 }),
            ("dose, mg", ColumnKind::Number { low: 0.0, high: 2.5 }),
            ("ill", ColumnKind::Category { names }),
        ];
        Schema::new(columns.map(|(name, kind)| Column { name: name.to_string(), kind }).to_vec())
            .unwrap()
    }

    fn read(text: &str) -> Result<Rows, TableFileError> {
        read_table(text.as_bytes(), &schema(), &Limits::default())
    }

    #[test]
    fn rows_are_read_as_written() {
        let rows =
            Rows { columns: 3, values: vec![-5.0, 0.1, 1.0, 120.0, 2.5, 2.0, 0.0, 1e-9, 0.0] };
        assert_eq!(read(&write_table(&schema(), &rows)).unwrap(), rows);
        let none = Rows { columns: 3, values: Vec::new() };
        assert_eq!(read(&write_table(&schema(), &none)).unwrap(), none);
        assert_eq!(
            read("\u{feff}age,\"dose, mg\",ill\r\n 7 , 1e0,no\r\n").unwrap().values,
            [7.0, 1.0, 0.0]
        );
        assert!(read("age,\"dose, mg\",ill\n-0,0,no\n").unwrap().values[0].is_sign_positive());
    }

    #[test]
    fn names_are_those_of_the_first_line() {
        let names = |bytes: &[u8]| read_column_names(bytes, &Limits::default());
        assert_eq!(names("\u{feff}age,\"a,b\"\n1,2\n".as_bytes()).unwrap(), ["age", "a,b"]);
        assert_eq!(names(b""), Err(TableFileError::Empty));
        assert!(names(&[0xff; 4]).unwrap_err().to_string().contains("UTF-8"));
    }

    #[test]
    fn other_files_are_refused_with_the_place() {
        let error = |text: &str| read(text).unwrap_err().to_string();
        let row = |row: &str| error(&format!("age,\"dose, mg\",ill\n1,1,no\n{row}\n"));
        assert!(error("").contains("it is empty"));
        assert!(error("age,ill\n").starts_with("column 2 is `ill`, and the schema has `dose, mg`"));
        assert!(error("age,\"dose, mg\"\n").starts_with("column 3 is missing"));
        assert!(
            error("age,\"dose, mg\",ill,x\n").contains("`x`, and the schema has no such column")
        );
        assert_eq!(row("\n1,1,no"), "line 3 is empty; remove it, or write its row");
        assert_eq!(row("1,1,no\n\n1,1,no"), "line 4 is empty; remove it, or write its row");
        for end in ["", "\n", "\r\n\r\n"] {
            let text = format!("age,\"dose, mg\",ill\n1,1,no\n{end}");
            assert_eq!(read(&text).unwrap().values.len(), 3, "{end:?}");
        }
        assert!(error("\nage,\"dose, mg\",ill\n").starts_with("line 1 is empty"));
        let ends = "age,\"dose, mg\",ill\r\n1,1,no\r\n\r\n2,1,no\r\n";
        assert!(error(ends).starts_with("line 3 is empty"), "{}", error(ends));
        assert_eq!(row("1,1"), "line 3 has 2 cells, and the schema has 3 columns");
        assert!(row("NaN,1,no").starts_with("line 3, column `age`: `NaN` is not a finite number"));
        assert!(row("1.5,1,no").contains("`1.5` is not an integer"));
        assert!(row("1,inf,no").contains("`inf` is not a finite number"));
        assert!(row("121,1,no").ends_with("`121` is not within the public bounds -5 to 120"));
        assert!(row("1,1,maybe").contains("`maybe` is not one of the categories no"));
        let limits = Limits { max_elements: 2, ..Limits::default() };
        let text = b"age,\"dose, mg\",ill\n1,1,no\n";
        assert!(matches!(read_table(text, &schema(), &limits), Err(TableFileError::Limit(_))));
        assert!(read_table(&[0xff; 40], &schema(), &Limits::default()).is_err());
        assert!(error("PAR1\x15\0").contains("it is a Parquet file; write csv"));
        assert!(error("PAR1,x\n").starts_with("column 1 is `PAR1`"));
    }
}

//! The rows of a Parquet file as csv.
//!
//! | column | cell |
//! |---|---|
//! | Boolean | one of two names |
//! | integer | its digits; beyond ±2⁵³ it is refused |
//! | float, double | the shortest decimal that has this value in its own precision |
//! | decimal | all its digits |
//! | string | itself |
//! | date | year-month-day |
//! | null | empty |
//!
//! Columns of other types, nested and repeated ones are refused by name.

use std::borrow::Cow;
use std::io::Write;

use bytes::Bytes;
use dpscope_core::format::excerpt;
use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::schema::types::Type;

use crate::files::limits;

/// Largest integer up to which f64 has every one.
const MOST_INTEGER: u64 = 1 << 53;
/// Decimal digits of a 256-bit integer, the largest decimal that is in use.
const MOST_PRECISION: i32 = 76;

/// Writes the rows of the file as csv.
///
/// # Errors
/// What is not supported, or what is damaged, in one sentence.
///
/// # Panics
/// Parts of some damaged files cause panics, or an exhaustion of memory, in the library that decodes.
pub(super) fn write_csv(
    file: Vec<u8>,
    booleans: [&str; 2],
    output: &mut impl Write,
) -> Result<(), String> {
    let reader = SerializedFileReader::new(Bytes::from(file)).map_err(damaged)?;
    check(reader.metadata())?;
    let mut writer = csv::WriterBuilder::new().from_writer(output);
    let fields = reader.metadata().file_metadata().schema().get_fields();
    writer.write_record(fields.iter().map(|field| field.name())).map_err(unwritten)?;
    let rows = reader.get_row_iter(None).map_err(damaged)?;
    for (at, row) in rows.enumerate() {
        let row = row.map_err(damaged)?;
        for (name, field) in row.get_column_iter() {
            let cell = cell(field, booleans).map_err(|problem| {
                format!("row {at} (counted from 0), column `{}`: {problem}", shown(name))
            })?;
            writer.write_field(cell.as_bytes()).map_err(unwritten)?;
        }
        writer.write_record(None::<&[u8]>).map_err(unwritten)?;
    }
    writer.flush().map_err(|error| error.to_string())
}

/// Checks columns and sizes before anything is decoded.
fn check(metadata: &ParquetMetaData) -> Result<(), String> {
    let limits = limits();
    let fields = metadata.file_metadata().schema().get_fields();
    let columns = fields.len() as u64;
    if columns == 0 {
        return Err("it has no columns".to_string());
    }
    if columns > limits.max_arrays {
        return Err(format!("it has {columns} columns, more than {}", limits.max_arrays));
    }
    fields.iter().try_for_each(|field| check_column(field, limits.max_name_bytes))?;
    let rows = metadata.row_groups().iter().try_fold(0_u64, |sum, group| {
        let rows = u64::try_from(group.num_rows()).ok()?;
        let bytes = u64::try_from(group.total_byte_size()).ok()?;
        (bytes <= limits.max_bytes).then(|| sum.saturating_add(rows))
    });
    let rows = rows.ok_or("the size of a row group is impossible; the file is damaged")?;
    if u64::try_from(metadata.file_metadata().num_rows()) != Ok(rows) {
        return Err("its row groups do not have the stated rows; the file is damaged".to_string());
    }
    if rows.saturating_mul(columns) > limits.max_elements {
        return Err(format!(
            "it has {rows} rows of {columns} columns, more than {} values",
            limits.max_elements
        ));
    }
    Ok(())
}

fn check_column(column: &Type, most_name_bytes: u64) -> Result<(), String> {
    let name = shown(column.name());
    if column.name().len() as u64 > most_name_bytes {
        return Err(format!("the name of column `{name}` is too long"));
    }
    let info = column.get_basic_info();
    if !column.is_primitive() || info.repetition() == Repetition::REPEATED {
        return Err(format!(
            "column `{name}` is nested; write one column of numbers or text per value"
        ));
    }
    let logical = info.logical_type_ref();
    let is_text = matches!(logical, Some(LogicalType::String | LogicalType::Enum));
    let is_plain = match (column.get_physical_type(), info.converted_type()) {
        (_, ConvertedType::DECIMAL) => {
            let digits = column.get_precision();
            (1..=MOST_PRECISION).contains(&digits) && (0..=digits).contains(&column.get_scale())
        }
        (Physical::BOOLEAN | Physical::FLOAT | Physical::DOUBLE, _) => true,
        (Physical::INT32 | Physical::INT64, ConvertedType::NONE) => logical.is_none(),
        (Physical::INT32, converted) => {
            use ConvertedType::{DATE, INT_8, INT_16, INT_32, UINT_8, UINT_16, UINT_32};
            [INT_8, INT_16, INT_32, UINT_8, UINT_16, UINT_32, DATE].contains(&converted)
        }
        (Physical::INT64, converted) => {
            [ConvertedType::INT_64, ConvertedType::UINT_64].contains(&converted)
        }
        (Physical::BYTE_ARRAY, converted) => {
            is_text || [ConvertedType::UTF8, ConvertedType::ENUM].contains(&converted)
        }
        _ => false,
    };
    match is_plain {
        true => Ok(()),
        false => Err(format!(
            "column `{name}` has type {}, which is not supported; write numbers or text",
            type_name(column)
        )),
    }
}

/// As "INT64 (TIMESTAMP_MICROS)".
fn type_name(column: &Type) -> String {
    let info = column.get_basic_info();
    let physical = column.get_physical_type();
    match (info.logical_type_ref(), info.converted_type()) {
        (None, ConvertedType::NONE) if physical == Physical::BYTE_ARRAY => "binary".to_string(),
        (None, ConvertedType::NONE) => physical.to_string(),
        (Some(logical), ConvertedType::NONE) => format!("{physical} ({logical:?})"),
        (_, converted) => format!("{physical} ({converted})"),
    }
}

fn cell<'f>(field: &'f Field, booleans: [&'f str; 2]) -> Result<Cow<'f, str>, String> {
    Ok(match field {
        Field::Null => Cow::from(""),
        Field::Bool(value) => Cow::from(booleans[usize::from(*value)]),
        Field::Byte(value) => Cow::from(value.to_string()),
        Field::Short(value) => Cow::from(value.to_string()),
        Field::Int(value) => Cow::from(value.to_string()),
        Field::UByte(value) => Cow::from(value.to_string()),
        Field::UShort(value) => Cow::from(value.to_string()),
        Field::UInt(value) => Cow::from(value.to_string()),
        Field::Long(value) if value.unsigned_abs() <= MOST_INTEGER => Cow::from(value.to_string()),
        Field::ULong(value) if *value <= MOST_INTEGER => Cow::from(value.to_string()),
        Field::Long(_) | Field::ULong(_) => {
            return Err(format!(
                "{field} is beyond 2^53, where f64 does not have every integer; write smaller ones, or \
                 text for a category"
            ));
        }
        Field::Float(value) => Cow::from(value.to_string()),
        Field::Double(value) => Cow::from(value.to_string()),
        Field::Str(text) => Cow::from(text),
        Field::Bytes(bytes) => std::str::from_utf8(bytes.data())
            .map(Cow::from)
            .map_err(|_| "the text is not UTF-8".to_string())?,
        Field::Decimal(_) => Cow::from(field.to_string().trim_end_matches('.').to_string()),
        Field::Date(_) => Cow::from(field.to_string()),
        _ => return Err("its type is not supported; write numbers or text".to_string()),
    })
}

fn shown(name: &str) -> String {
    excerpt(name, 60)
}

fn damaged(error: ParquetError) -> String {
    format!("it cannot be decoded: {}; write the file again", excerpt(&error.to_string(), 300))
}

fn unwritten(error: csv::Error) -> String {
    error.to_string()
}

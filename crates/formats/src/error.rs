use std::fmt;

use dpscope_core::foreign_text::ForeignText;
use thiserror::Error;

use crate::format::Format;

/// The array that a message is about: a named one, or the only one of its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayName(Option<ForeignText>);

impl ArrayName {
    /// The array called `name`.
    #[must_use]
    pub fn of(name: &str) -> Self {
        Self(Some(ForeignText::new(name)))
    }

    /// The only array of its file.
    #[must_use]
    pub fn only() -> Self {
        Self(None)
    }
}

impl fmt::Display for ArrayName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(name) => write!(f, "array `{name}`"),
            None => f.write_str("the array"),
        }
    }
}

/// Errors of reading and writing files.
///
/// Each message names the place and, if possible, the remedy. Text that comes from
/// the file is escaped and shortened.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message of a variant names its fields")]
pub enum FormatError {
    /// The format is not recognised by the first bytes or the file name extension.
    #[error("`{file_name}` is not an npy, npz, safetensors or csv file: it {found}; {remedy}")]
    UnknownFormat { file_name: ForeignText, found: &'static str, remedy: &'static str },
    /// The file does not start with the signature of its format.
    #[error("not a file of format {format}: it starts with `{found}` instead of `{expected}`")]
    BadMagic { format: Format, found: ForeignText, expected: &'static str },
    /// An unknown npy version.
    #[error(
        "{array}: npy version {major}.{minor} is unknown; versions 1.0, 2.0 and 3.0 are supported"
    )]
    NpyVersion { array: ArrayName, major: u8, minor: u8 },
    /// A malformed npy header.
    #[error("{array}: the npy header is damaged: {reason}; save the array again with np.save")]
    NpyHeader { array: ArrayName, reason: String },
    /// A dtype without real numbers, or with more digits than `f64`.
    #[error("{array}: dtype {dtype} {problem}; {remedy}")]
    Dtype { array: ArrayName, dtype: String, problem: &'static str, remedy: &'static str },
    /// An integer that f64 does not hold exactly.
    #[error(
        "{array}: it has integers beyond 2^53, where f64 does not have every integer; save smaller ones, \
         or convert them to float64 yourself"
    )]
    LargeInteger { array: ArrayName },
    /// Fewer bytes than the header declares.
    #[error(
        "{array}: the header declares {needed_bytes} bytes of data, but at most {present_bytes} \
         are present; the file is truncated: copy or save it again"
    )]
    Truncated { array: ArrayName, needed_bytes: u64, present_bytes: u64 },
    /// More bytes than the header declares.
    #[error(
        "{array}: {bytes} bytes follow its data; save each array in a file of its own, or several \
         with np.savez"
    )]
    TrailingBytes { array: ArrayName, bytes: u64 },
    /// An array of which no part can be read alone.
    #[error("{array}: it is {storage}, so that no part of it can be read alone; {remedy}")]
    NotInParts { array: ArrayName, storage: &'static str, remedy: &'static str },
    /// Bytes that cannot be unpacked, or whose checksum is wrong.
    #[error("{array}: its data cannot be unpacked ({reason}); copy or save the file again")]
    Damaged { array: ArrayName, reason: String },
    /// A shape with an axis of length 0.
    #[error("{array}: shape {shape} has no elements; record at least one value")]
    EmptyArray { array: ArrayName, shape: String },
    /// An impossible shape.
    #[error("{array}: shape {shape} is impossible: {reason}")]
    BadShape { array: ArrayName, shape: String, reason: &'static str },
    /// A shape that does not match the number of values.
    #[error("{array}: shape {shape} needs {needed} elements, got {elements}")]
    ShapeMismatch { array: ArrayName, shape: String, needed: u64, elements: u64 },
    /// More than a [`Limits`](crate::Limits) field allows.
    #[error("{place} has {value} {unit}, more than the limit {setting} = {limit}")]
    LimitExceeded {
        place: String,
        unit: &'static str,
        value: u64,
        setting: &'static str,
        limit: u64,
    },
    /// Content that is too much larger than its compressed form.
    #[error(
        "{place} expands from {packed} to at least {unpacked} bytes, more than {limit} times its \
         compressed size; if that is intended, save it uncompressed"
    )]
    CompressionRatio { place: String, unpacked: u64, packed: u64, limit: u64 },
    /// Not enough memory for an array within the limits.
    #[error(
        "{array}: not enough memory for {elements} elements of 8 bytes; record fewer values per file"
    )]
    OutOfMemory { array: ArrayName, elements: u64 },
    /// A zip archive that cannot be opened.
    #[error("the npz file cannot be opened: {reason}; copy it again, or save it with np.savez")]
    Npz { reason: String },
    /// An entry that is encrypted or uses an unsupported compression.
    #[error("{array}: {problem}; save it again with np.savez or np.savez_compressed")]
    NpzEntry { array: ArrayName, problem: &'static str },
    /// A name that is empty or leads out of its folder.
    #[error("the name `{name}` {problem}; rename the array")]
    BadName { name: ForeignText, problem: &'static str },
    /// One name for two arrays or two columns.
    #[error("two arrays are named `{name}`; rename one")]
    DuplicateName { name: ForeignText },
    /// An archive without arrays.
    #[error("the file contains no arrays of numbers; {remedy}")]
    NoArrays { remedy: &'static str },
    /// No array of that name.
    #[error("there is no array `{name}`; the file contains {available}")]
    NotFound { name: ForeignText, available: String },
    /// Several arrays where one is expected.
    #[error("the file contains several arrays, {available}; name one")]
    SeveralArrays { available: String },
    /// A text file in another encoding.
    #[error("line {line} is not UTF-8 text; save the file as plain csv in UTF-8")]
    NotUtf8 { line: u64 },
    /// A text file without rows of numbers.
    #[error("there are no rows of numbers; write one row per line")]
    NoRows,
    /// A row of another length than those above it.
    #[error("line {line} has {found} cells, but line {first_line} has {expected}; {remedy}")]
    RaggedRow { line: u64, found: u64, first_line: u64, expected: u64, remedy: &'static str },
    /// A cell that is not a number.
    #[error("line {line}, column {column}: `{text}` is not a number; {remedy}")]
    TextCell { line: u64, column: u64, text: ForeignText, remedy: &'static str },
    /// A line without a value, which may be a missing one.
    #[error("line {line} is empty; write nan for missing values, or remove the line")]
    EmptyLine { line: u64 },
    /// An empty cell.
    #[error("line {line}, column {column} is empty; write nan for missing values")]
    EmptyCell { line: u64, column: u64 },
    /// An unclosed quotation mark.
    #[error("line {line} opens a quotation mark and does not close it; remove it")]
    OpenQuote { line: u64 },
    /// A file without the signature of an IDX file.
    #[error(
        "not an IDX file: it starts with `{found}` instead of 00 00, a type and a number of axes; \
         pass the file as published, with or without gzip compression"
    )]
    IdxStart { found: String },
    /// An IDX file of numbers other than unsigned bytes.
    #[error(
        "IDX type 0x{code:02x} ({name}) is not supported; write unsigned bytes (type 0x08), or save the \
         array as npy"
    )]
    IdxType { code: u8, name: &'static str },
    /// More bytes than the header of an IDX file declares.
    #[error(
        "the IDX header declares {needed_bytes} bytes of data, but {present_bytes} follow it; the \
         file is damaged or concatenated: pass the file as published"
    )]
    IdxTrailing { needed_bytes: u64, present_bytes: u64 },
    /// A file whose length is not a multiple of CIFAR-10's record.
    #[error(
        "{bytes} bytes are not whole records of CIFAR-10's binary version (1 label and 3x32x32 \
         pixels, 3073 bytes); the file is truncated or another version: pass data_batch_1.bin \
         or similar files from cifar-10-binary.tar.gz"
    )]
    Cifar10Length { bytes: u64 },
    /// A label that CIFAR-10 does not have.
    #[error(
        "record {record} has label {label}, but CIFAR-10 has 0 to 9; the file is damaged or has \
         another format"
    )]
    Cifar10Label { record: u64, label: u8 },
    /// A gzip file that ends before its data.
    #[error(
        "the gzip file ends after {unpacked_bytes} unpacked bytes, before the end of its data; it \
         is truncated: copy it again"
    )]
    GzipTruncated { unpacked_bytes: u64 },
    /// A gzip file that cannot be unpacked, or whose checksum is wrong.
    #[error(
        "the gzip file is damaged after {unpacked_bytes} unpacked bytes ({reason}); copy it again"
    )]
    GzipDamaged { unpacked_bytes: u64, reason: ForeignText },
    /// Bytes after the end of a gzip file.
    #[error("{bytes} bytes follow the gzip data; copy the file again")]
    GzipTrailing { bytes: u64 },
    /// An inconsistent safetensors header.
    #[error("the safetensors header is damaged: {reason}; save the file again")]
    SafetensorsHeader { reason: String },
}

impl FormatError {
    /// The message for a reader of a web page: what a page cannot hold, the program can.
    #[must_use]
    pub fn in_page(&self) -> String {
        match self {
            Self::LimitExceeded { .. } => format!("{self}; the program reads larger files"),
            _ => self.to_string(),
        }
    }
}

/// Bytes that should be text, for a message.
pub(crate) fn foreign_bytes(bytes: &[u8]) -> ForeignText {
    ForeignText::new(&*String::from_utf8_lossy(bytes))
}

/// The first eight bytes of a file as hexadecimal numbers.
#[cfg(feature = "data-sets")]
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    let shown: Vec<String> = bytes.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    shown.join(" ")
}

/// A list of names for a message: at most ten.
pub(crate) fn name_list<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    let count = names.len();
    if count == 0 {
        return "no named arrays".to_owned();
    }
    let mut shown: Vec<String> =
        names.take(10).map(|name| format!("`{}`", ForeignText::new(name))).collect();
    if count > shown.len() {
        shown.push(format!("and {} more", count - shown.len()));
    }
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_place_and_the_remedy() {
        let error = FormatError::Dtype {
            array: ArrayName::of("target"),
            dtype: "complex128".to_owned(),
            problem: "is not a real number",
            remedy: "save the real part, e.g. np.save(path, x.real)",
        };
        assert_eq!(
            error.to_string(),
            "array `target`: dtype complex128 is not a real number; save the real part, \
             e.g. np.save(path, x.real)"
        );
        let error =
            FormatError::Truncated { array: ArrayName::only(), needed_bytes: 80, present_bytes: 8 };
        assert_eq!(
            error.to_string(),
            "the array: the header declares 80 bytes of data, but at most 8 are present; the file \
             is truncated: copy or save it again"
        );
    }

    #[test]
    fn lists_of_names_end() {
        assert_eq!(name_list([].into_iter()), "no named arrays");
        assert_eq!(name_list(["a", "b"].into_iter()), "`a`, `b`");
        let long = name_list(["a"; 12].into_iter());
        assert!(long.ends_with("`a`, and 2 more"), "{long}");
    }
}

use dpscope_core::foreign_text::ForeignText;
use dpscope_formats::FormatError;
use thiserror::Error;

/// Reasons why a data set cannot be generated or loaded.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message of a variant names its fields")]
pub enum DataError {
    /// Unknown name of a synthetic data set.
    #[error("unknown synthetic data set `{name}`; available: {known}")]
    UnknownSyntheticData { name: ForeignText, known: &'static str },
    /// Number of records out of range.
    #[error("{records} records are requested; 1 to {max} are possible")]
    Records { records: usize, max: usize },
    /// Not enough memory.
    #[error("not enough memory for {records} records of {bytes} bytes; request fewer records")]
    OutOfMemory { records: usize, bytes: usize },
    /// The reader of the file's format rejected the file.
    #[error("{name}: {source}")]
    Format { name: ForeignText, source: FormatError },
    /// Unsupported file format.
    #[error("{name}: {found}; {remedy}")]
    UnknownFormat { name: ForeignText, found: &'static str, remedy: &'static str },
    /// Missing labels.
    #[error("{name} contains {kind} without labels; pass the label file as well ({remedy})")]
    NoLabels { name: ForeignText, kind: &'static str, remedy: &'static str },
    /// A label file was passed for data that include labels.
    #[error("{name} already contains labels; omit the label file {labels}")]
    LabelsTwice { name: ForeignText, labels: ForeignText },
    /// The file has no array of examples.
    #[error(
        "{name}: no array of examples; name it x, images, features or data (the file contains \
         {available})"
    )]
    NoExamples { name: ForeignText, available: String },
    /// Unsupported shape of the examples.
    #[error(
        "{name}: shape {shape} is not supported for examples; use (records, features), (records, height, \
         width), (records, channels, height, width) or channels last"
    )]
    Shape { name: ForeignText, shape: String },
    /// Unsupported shape of the labels.
    #[error(
        "{name}: shape {shape} is not supported for labels; use (records) or (records, classes)"
    )]
    LabelShape { name: ForeignText, shape: String },
    /// The number of labels differs from the number of examples.
    #[error("{name} has {records} records, but there are {labels} labels; pass matching files")]
    LabelCount { name: ForeignText, records: usize, labels: usize },
    /// A label is not a valid class.
    #[error("{name}: record {record} has label {label}; labels must be integers from 0 to {max}")]
    Label { name: ForeignText, record: usize, label: String, max: u32 },
    /// A row of labels is not a one-hot vector.
    #[error("{name}: record {record} of the labels is not one-hot; save one number per record")]
    OneHot { name: ForeignText, record: usize },
    /// A value is NaN, infinite or too large for `f32`.
    #[error(
        "{name}: record {record}, feature {feature} is {value}; correct, rescale or remove the record"
    )]
    NotFinite { name: ForeignText, record: usize, feature: usize, value: String },
    /// Number of features out of range.
    #[error("{name}: {features} features per record; 1 to {max} are supported")]
    Features { name: ForeignText, features: usize, max: usize },
    /// A requested class does not occur.
    #[error("{name}: no record has label {class}; the labels are {available}")]
    NoSuchClass { name: ForeignText, class: u32, available: String },
    /// A class was requested twice.
    #[error("class {class} is listed twice; list each class once")]
    ClassTwice { class: u32 },
    /// Fewer than two classes.
    #[error("{name}: {classes} class is selected; a classifier needs two or more")]
    TooFewClasses { name: ForeignText, classes: usize },
    /// Too many classes.
    #[error("{name}: {classes} classes, more than {max}; select some of them")]
    TooManyClasses { name: ForeignText, classes: usize, max: usize },
    /// More records requested than available.
    #[error(
        "{name}: {requested} records are requested, but {available} are available; request 1 to \
         {available}"
    )]
    TooFewRecords { name: ForeignText, requested: usize, available: usize },
    /// A file without a column of clients.
    #[error(
        "{name} is {found}, and has no column {column} of clients; pass a csv file with a header line, or \
         an npz file with an array of that name"
    )]
    NoClients { name: ForeignText, column: ForeignText, found: &'static str },
    /// Clients that are not one number per record.
    #[error(
        "{name}: the array {column} of clients is not one number per record; save shape (records)"
    )]
    ClientShape { name: ForeignText, column: ForeignText },
    /// The number of clients differs from the number of examples.
    #[error(
        "{name} has {records} records, but {clients} of them have a client; save one per record"
    )]
    ClientsOfRecords { name: ForeignText, records: usize, clients: usize },
    /// A client that is NaN or infinite.
    #[error("{name}: record {record} has {column} {value}; each record needs a client")]
    Client { name: ForeignText, column: ForeignText, record: usize, value: String },
    /// One client, or too many.
    #[error("{name}: the column {column} has {clients} clients; 2 to {max} are supported")]
    ClientCount { name: ForeignText, column: ForeignText, clients: usize, max: usize },
    /// All records of a client have classes that are not selected.
    #[error(
        "{name}: client {client} has no record of the selected classes; select more classes, or remove \
         its records"
    )]
    ClientWithoutRecords { name: ForeignText, client: String },
}

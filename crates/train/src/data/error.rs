use dpscope_core::shown;
use dpscope_formats::FormatError;
use thiserror::Error;

/// Why a data set cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message of a variant names its fields")]
pub enum DataError {
    /// No stand-in of that name.
    #[error("there is no built-in data set `{name}`; the names are {known}")]
    UnknownSyntheticData { name: String, known: &'static str },
    /// More records than a stand-in is made for, or none.
    #[error("records = {records} is outside 1..={most}")]
    Records { records: usize, most: usize },
    /// The memory is not there.
    #[error("no memory for {records} records of {bytes} bytes; ask for fewer records")]
    OutOfMemory { records: usize, bytes: usize },
    /// A file that its format's reader refuses.
    #[error("{name}: {source}")]
    Format { name: String, source: FormatError },
    /// A file of no format that is read here.
    #[error("{name}: {found}; {remedy}")]
    UnknownFormat { name: String, found: &'static str, remedy: &'static str },
    /// Images without labels.
    #[error("{name} holds {kind} and no labels; pass the file of labels too ({remedy})")]
    NoLabels { name: String, kind: &'static str, remedy: &'static str },
    /// Labels given twice.
    #[error("{name} holds labels of its own; leave out the file of labels, {labels}")]
    LabelsTwice { name: String, labels: String },
    /// No array of examples among those of a file.
    #[error(
        "{name}: no array of examples; name it x, images, features or data (the file holds \
         {available})"
    )]
    NoExamples { name: String, available: String },
    /// An array whose axes say nothing about images or rows.
    #[error(
        "{name}: shape {shape} is none of examples; (records, features), (records, height, width), \
         (records, channels, height, width) or channels last is needed"
    )]
    Shape { name: String, shape: String },
    /// An array whose axes say nothing about labels.
    #[error("{name}: shape {shape} is none of labels; (records) or (records, classes) is needed")]
    LabelShape { name: String, shape: String },
    /// Another number of labels than of examples.
    #[error("{name} has {records} records, but there are {labels} labels; pair the right files")]
    LabelCount { name: String, records: usize, labels: usize },
    /// A label that names no class.
    #[error("{name}: record {record} has label {label}; labels are whole numbers from 0 to {most}")]
    Label { name: String, record: usize, label: String, most: u32 },
    /// A row of labels that is not one 1 among zeros.
    #[error(
        "{name}: record {record} of the labels is not one 1 among zeros; save one number a record"
    )]
    OneHot { name: String, record: usize },
    /// A value that is NaN or infinite, or too large for `f32`.
    #[error(
        "{name}: record {record}, feature {feature} is {value}; repair, scale down or remove the record"
    )]
    NotFinite { name: String, record: usize, feature: usize, value: String },
    /// Features of no use.
    #[error("{name}: {features} features a record, but 1 to {most} are read")]
    Features { name: String, features: usize, most: usize },
    /// A class that is asked for and not there.
    #[error("{name}: no record has label {class}; the labels are {available}")]
    NoSuchClass { name: String, class: u32, available: String },
    /// A class that is asked for twice.
    #[error("class {class} is named twice; name each class once")]
    ClassTwice { class: u32 },
    /// Nothing to tell apart.
    #[error("{name}: {classes} class is kept; a classifier needs two or more")]
    TooFewClasses { name: String, classes: usize },
    /// More classes than are read.
    #[error("{name}: {classes} classes, more than {most}; keep some of them")]
    TooManyClasses { name: String, classes: usize, most: usize },
    /// More records asked for than there are.
    #[error(
        "{name}: {asked} records are asked for, but {present} are there; ask for 1 to {present}"
    )]
    TooFewRecords { name: String, asked: usize, present: usize },
}

/// A file's name or another foreign text, fit for a message.
pub(super) fn excerpt(text: &str) -> String {
    shown::excerpt(text, 80)
}

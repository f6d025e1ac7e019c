//! Loads data sets from files.

mod arrays;
mod clients;
mod rows;
mod select;
mod source;
mod summary;

use dpscope_core::foreign_text::ForeignText;
use dpscope_formats::{is_idx, read_cifar10, read_idx, unpack_gzip};

use super::error::DataError;
use super::examples::{Examples, Features};
use crate::model::Shape;

use source::{LabelledRecords, ParsedFile, format_error, has_idx_name, uncompressed_name};

pub use source::{LoadOptions, Source};
pub use summary::LoadSummary;

/// Maximum number of features per record.
const MAX_FEATURES: usize = 1 << 20;

/// Loads a data set.
///
/// | format | content | labels |
/// |---|---|---|
/// | IDX | unsigned bytes: (records, height, width) or (records, features) | a second file |
/// | CIFAR-10, binary | records of 3,073 bytes; files may be concatenated | in each record |
/// | npz | array `x`, `images`, `features`, `data` or `inputs` | array `y`, `labels` or `label`, or a second file |
/// | npy | one array | a second file |
/// | csv | one row per record | the first column, or a second file |
///
/// All files may be gzip-compressed. A label file is IDX, npy, npz or csv; labels are integers or
/// one-hot rows. Features that are all 0 or 1 are stored as bits; bytes are pixels and represent
/// 2·byte/255 − 1; other values are stored as `f32`. Images with axes (records, height, width,
/// channels) and 1, 3 or 4 channels are converted to channels first.
///
/// Published files are often sorted by class, so the selected records are shuffled by a fixed
/// permutation that depends on their number only: the first `records` are used for training, the
/// others are held out. [`Examples::load_summary`] reports what was dropped and how labels were
/// mapped.
///
/// # Guarantee
/// Every selected record is either a training or a held-out record, exactly once and with its own
/// label (`crates/train/src/data/load/tests.rs::each_selected_record_is_in_one_part`).
///
/// # Errors
/// A file that is malformed, has no labels or a wrong number of them; a label that is not an
/// integer from 0 to 65,535; features that are not finite; a requested class that does not occur;
/// fewer than two classes; more training records than selected records.
///
/// # Example
/// ```
/// use dpscope_train::data::{LoadOptions, Source, load};
///
/// let rows = b"3,0,1,1\n7,1,0,1\n3,0,0,1\n7,1,1,1\n";
/// let set = load(Source { name: "rows.csv", bytes: rows }, None, &LoadOptions::default())?;
/// println!("{} {:?} {}", set.len(), set.shape(), set.classes());
/// assert_eq!((set.len(), set.shape().len(), set.classes()), (4, 3, 2));
/// # Ok::<(), dpscope_train::data::DataError>(())
/// ```
pub fn load(
    data: Source<'_>,
    labels: Option<Source<'_>>,
    options: &LoadOptions<'_>,
) -> Result<Examples, DataError> {
    let parsed = parse(data, labels.is_none(), options)?;
    let name = ForeignText::new(data.name);
    let labels = match (parsed.labels, labels) {
        (Some(labels), None) => labels,
        (None, Some(source)) => {
            let labels = arrays::labels(source, &options.limits)?;
            if labels.len() != parsed.records {
                let (records, labels) = (parsed.records, labels.len());
                return Err(DataError::LabelCount { name, records, labels });
            }
            labels
        }
        (Some(_), Some(source)) => {
            return Err(DataError::LabelsTwice { name, labels: ForeignText::new(source.name) });
        }
        (None, None) => {
            let remedy = match parsed.format {
                "IDX" => "such as train-labels-idx1-ubyte.gz",
                _ => "one label per record: npy, npz, csv or IDX",
            };
            return Err(DataError::NoLabels { name, kind: parsed.format, remedy });
        }
    };
    let ParsedFile { format, shape, features, clients, .. } = parsed;
    select::select(
        name.as_str(),
        LabelledRecords { format, shape, features, labels, clients },
        options,
    )
}

/// Parses a file. In text, the first column contains the labels if `labels_first`.
fn parse(
    source: Source<'_>,
    labels_first: bool,
    LoadOptions { client_column, limits, .. }: &LoadOptions<'_>,
) -> Result<ParsedFile, DataError> {
    let invalid = |error| format_error(source, error);
    let bytes = unpack_gzip(source.bytes, limits).map_err(invalid)?;
    let parsed = match kind(&bytes, source.name)? {
        FileKind::Idx => {
            let (shape, data) = read_idx(&bytes, limits).map_err(invalid)?.into_parts();
            let (&records, axes) = shape.split_first().unwrap_or((&0, &[]));
            let shape = arrays::shape_of(source, &shape, axes)?.0;
            let features = Features::Bytes(data);
            ParsedFile { format: "IDX", shape, features, records, labels: None, clients: None }
        }
        FileKind::Cifar10 => {
            let read = read_cifar10(&bytes, limits).map_err(invalid)?;
            let labels: Vec<u32> = read.labels.iter().map(|&label| u32::from(label)).collect();
            let features = Features::Bytes(read.images.into_parts().1);
            let shape = Shape { channels: 3, height: 32, width: 32 };
            let (format, records) = ("CIFAR-10 binary", labels.len());
            ParsedFile { format, shape, features, records, labels: Some(labels), clients: None }
        }
        FileKind::Arrays => {
            arrays::parse(Source { bytes: &bytes, ..source }, *client_column, limits)?
        }
        FileKind::Text => {
            let source = Source { bytes: &bytes, ..source };
            rows::parse(source, labels_first, *client_column, limits)?
        }
    };
    if let (Some(column), None) = (client_column, &parsed.clients) {
        let (name, column, found) =
            (ForeignText::new(source.name), ForeignText::new(column), parsed.format);
        return Err(DataError::NoClients { name, column, found });
    }
    let features = parsed.shape.len();
    if !(1..=MAX_FEATURES).contains(&features) {
        let name = ForeignText::new(source.name);
        return Err(DataError::Features { name, features, max: MAX_FEATURES });
    }
    Ok(parsed)
}

enum FileKind {
    Idx,
    Cifar10,
    /// npz or npy.
    Arrays,
    Text,
}

/// Detects the format of a decompressed file from its first bytes and its name.
fn kind(bytes: &[u8], file_name: &str) -> Result<FileKind, DataError> {
    let name = uncompressed_name(file_name);
    let has_extension = |extensions: &[&str]| extensions.iter().any(|end| name.ends_with(end));
    if bytes.starts_with(b"PK") || bytes.starts_with(b"\x93NUMPY") {
        return Ok(FileKind::Arrays);
    }
    if is_idx(bytes) || has_idx_name(&name) {
        return Ok(FileKind::Idx);
    }
    if has_extension(&[".bin"]) {
        return Ok(FileKind::Cifar10);
    }
    // Purchase-100 is published without a file name extension.
    let is_numeric = |byte: &u8| byte.is_ascii_digit() || b",;\t \r\n.\"-+e".contains(byte);
    if has_extension(&[".csv", ".tsv", ".txt", ".dat"])
        || (!bytes.is_empty() && bytes.iter().take(4096).all(is_numeric))
    {
        return Ok(FileKind::Text);
    }
    let (found, remedy) = match bytes {
        [] => ("the file is empty", "copy it again"),
        [0, 0, 8..=14, 1..=255, ..] => ("it is a truncated IDX file", "copy it again"),
        [0x80, 2..=5, ..] => (
            "Python pickles are not supported",
            "use the binary version of CIFAR-10, or save arrays x and y with np.savez",
        ),
        _ if bytes.get(257..262) == Some(b"ustar") => {
            ("it is a tar archive", "unpack it and pass its files, e.g. data_batch_1.bin")
        }
        _ => (
            "the format is not IDX, CIFAR-10 binary, npz, npy or csv",
            "save arrays x and y with np.savez, or name binary CIFAR-10 files .bin",
        ),
    };
    Err(DataError::UnknownFormat { name: ForeignText::new(file_name), found, remedy })
}

#[cfg(test)]
mod tests;

//! Data sets from files.

mod arrays;
mod rows;
mod select;
mod summary;

use dpscope_formats::{FormatError, Limits, is_idx, read_cifar10, read_idx, unpack_gzip};

use super::error::{DataError, excerpt};
use super::examples::{Examples, Features};
use crate::model::Shape;

pub use summary::LoadSummary;

/// A file: its name, for messages and endings, and its bytes.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The file's name, without its folder.
    pub name: &'a str,
    /// Its content, packed by gzip or not.
    pub bytes: &'a [u8],
}

/// What is taken from a file.
#[derive(Debug, Clone, Default)]
pub struct LoadOptions<'a> {
    /// Records to train on, the first of the fixed order; all others are held out. `None`: all, and
    /// none is held out.
    pub records: Option<usize>,
    /// Labels that are kept; the first becomes class 0, and so on. `None`: all, in ascending order.
    pub classes: Option<&'a [u32]>,
    /// Limits on reading.
    pub limits: Limits,
}

/// All records of a file, as they stand in it.
struct LabelledRecords {
    format: &'static str,
    shape: Shape,
    features: Features,
    labels: Vec<u32>,
}

/// Features without labels, or with them.
struct ParsedFile {
    format: &'static str,
    shape: Shape,
    features: Features,
    records: usize,
    labels: Option<Vec<u32>>,
}

/// Most features of a record.
const MOST_FEATURES: usize = 1 << 20;

/// Largest label.
const MOST_LABEL: u32 = 65_535;

/// Reads a data set.
///
/// | format | content | labels |
/// |---|---|---|
/// | IDX | unsigned bytes: (records, height, width) or (records, features) | a second file |
/// | CIFAR-10, binary | records of 3,073 bytes, files joined end to end | in each record |
/// | npz | array `x`, `images`, `features` or `data` | array `y`, `labels` or `label`, or a second file |
/// | npy | one array | a second file |
/// | csv | one row a record | the first column, or a second file |
///
/// Any of them may be packed by gzip. A second file of labels is IDX, npy, npz or csv. Labels are
/// whole numbers or rows with one 1 among zeros. Features that are all 0 or 1 take a bit each; bytes
/// are pixels and become 2·byte/255 − 1; all others are kept as `f32`. Of axes (records, height,
/// width, channels) with 1, 3 or 4 channels the last is moved to the front.
///
/// Records that are kept are put in a fixed order, a shuffle that depends on their number alone, since
/// published files are often sorted by class: the first `records` of that order are trained on, the
/// others are held out. What is dropped, mapped or moved is told by [`Examples::load_summary`].
///
/// # Guarantee
/// Every kept record is in one part, once, with its own label
/// (`crates/train/src/data/load/tests.rs::each_kept_record_is_in_one_part`).
///
/// # Errors
/// A file that its reader refuses, that has no labels or not one for each record, a label that is no
/// whole number from 0 to 65,535, features that are not finite, classes that are not there, fewer
/// than two classes, and more records than are kept.
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
    let parsed = parse(data, labels.is_none(), &options.limits)?;
    let name = excerpt(data.name);
    let own = parsed.labels;
    let labels = match (own, labels) {
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
            return Err(DataError::LabelsTwice { name, labels: excerpt(source.name) });
        }
        (None, None) => {
            let remedy = match parsed.format {
                "IDX" => "such as train-labels-idx1-ubyte.gz",
                _ => "one label a record: npy, npz, csv or IDX",
            };
            return Err(DataError::NoLabels { name, kind: parsed.format, remedy });
        }
    };
    let ParsedFile { format, shape, features, .. } = parsed;
    select::select(&name, LabelledRecords { format, shape, features, labels }, options)
}

/// Reads features, and labels where the format has them. In text `labels_first` says whether the
/// first column is one.
fn parse(source: Source<'_>, labels_first: bool, limits: &Limits) -> Result<ParsedFile, DataError> {
    let refused = |error| refused(source, error);
    let bytes = unpack_gzip(source.bytes, limits).map_err(refused)?;
    let parsed = match kind(&bytes, source.name)? {
        Kind::Idx => {
            let (shape, data) = read_idx(&bytes, limits).map_err(refused)?.into_parts();
            let (&records, axes) = shape.split_first().unwrap_or((&0, &[]));
            let shape = arrays::shape_of(source, &shape, axes)?.0;
            let features = Features::Bytes(data);
            ParsedFile { format: "IDX", shape, features, records, labels: None }
        }
        Kind::Cifar10 => {
            let read = read_cifar10(&bytes, limits).map_err(refused)?;
            let labels: Vec<u32> = read.labels.iter().map(|&label| u32::from(label)).collect();
            let features = Features::Bytes(read.images.into_parts().1);
            let shape = Shape { channels: 3, height: 32, width: 32 };
            let (format, records) = ("CIFAR-10 binary", labels.len());
            ParsedFile { format, shape, features, records, labels: Some(labels) }
        }
        Kind::Arrays => arrays::parse(Source { bytes: &bytes, ..source }, limits)?,
        Kind::Text => rows::parse(Source { bytes: &bytes, ..source }, labels_first, limits)?,
    };
    let features = parsed.shape.len();
    if !(1..=MOST_FEATURES).contains(&features) {
        let name = excerpt(source.name);
        return Err(DataError::Features { name, features, most: MOST_FEATURES });
    }
    Ok(parsed)
}

enum Kind {
    Idx,
    Cifar10,
    /// npz or npy.
    Arrays,
    Text,
}

/// The format of a file that has been unpacked, by its first bytes and the endings of its name.
fn kind(bytes: &[u8], file_name: &str) -> Result<Kind, DataError> {
    let name = unpacked_name(file_name);
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    if bytes.starts_with(b"PK") || bytes.starts_with(b"\x93NUMPY") {
        return Ok(Kind::Arrays);
    }
    if is_idx(bytes) || named_as_idx(&name) {
        return Ok(Kind::Idx);
    }
    if ends(&[".bin"]) {
        return Ok(Kind::Cifar10);
    }
    // Purchase-100 is published without an ending.
    let text = |byte: &u8| byte.is_ascii_digit() || b",;\t \r\n.\"-+e".contains(byte);
    if ends(&[".csv", ".tsv", ".txt", ".dat"])
        || (!bytes.is_empty() && bytes.iter().take(4096).all(text))
    {
        return Ok(Kind::Text);
    }
    let (found, remedy) = match bytes {
        [] => ("the file is empty", "copy it again"),
        [0, 0, 8..=14, 1..=255, ..] => {
            ("it starts like IDX and is not as long as it says", "it was cut off: copy it again")
        }
        [0x80, 2..=5, ..] => (
            "it is a Python pickle, which is not read",
            "give CIFAR-10's binary version, or save arrays x and y with np.savez",
        ),
        _ if bytes.get(257..262) == Some(b"ustar") => {
            ("it is a tar archive", "unpack it and give the files in it, e.g. data_batch_1.bin")
        }
        _ => (
            "it is not IDX, CIFAR-10 binary, npz, npy or csv",
            "save arrays x and y with np.savez, or name CIFAR-10's records .bin",
        ),
    };
    Err(DataError::UnknownFormat { name: excerpt(file_name), found, remedy })
}

/// A file's name in small letters and without `.gz`.
fn unpacked_name(file_name: &str) -> String {
    let name = file_name.to_ascii_lowercase();
    name.strip_suffix(".gz").map(str::to_owned).unwrap_or(name)
}

/// Whether such a name is that of an IDX file.
fn named_as_idx(name: &str) -> bool {
    name.contains("-idx") || name.ends_with(".idx") || name.ends_with("-ubyte")
}

fn refused(source: Source<'_>, error: FormatError) -> DataError {
    DataError::Format { name: excerpt(source.name), source: error }
}

#[cfg(test)]
mod tests;

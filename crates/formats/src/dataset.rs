use dpscope_core::foreign_text::ForeignText;

use crate::array::ArrayInfo;
use crate::containers::Container;
use crate::error::name_list;
use crate::format::Format;
use crate::shape::shape_text;
use crate::{Array, CsvTable, FormatError, Limits, MissingValues};
use crate::{npy, read_csv_as, read_npy};

/// Detects the format of a file by its first bytes, then by its file name extension.
///
/// ```
/// use dpscope_formats::{Format, sniff};
///
/// assert_eq!(sniff(b"\x93NUMPY\x01\x00", "scores.txt"), Some(Format::Npy));
/// assert_eq!(sniff(b"0.5\n1.5\n", "scores.TXT"), Some(Format::Csv));
/// assert_eq!(sniff(b"0.5\n1.5\n", "scores"), None);
/// ```
#[must_use]
pub fn sniff(bytes: &[u8], file_name: &str) -> Option<Format> {
    if bytes.starts_with(npy::MAGIC) {
        return Some(Format::Npy);
    }
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
        return Some(Format::Npz);
    }
    if let Some((length, rest)) = bytes.split_first_chunk::<8>()
        && rest.first() == Some(&b'{')
        && u64::from_le_bytes(*length) <= rest.len() as u64
    {
        return Some(Format::Safetensors);
    }
    let (_, ending) = file_name.rsplit_once('.')?;
    match ending.to_ascii_lowercase().as_str() {
        "npy" => Some(Format::Npy),
        "npz" => Some(Format::Npz),
        "csv" | "tsv" | "txt" | "dat" => Some(Format::Csv),
        "safetensors" => Some(Format::Safetensors),
        _ => None,
    }
}

/// A file of any supported format.
///
/// ```
/// use dpscope_formats::{Dataset, Limits};
///
/// let dataset = Dataset::open(b"0.5 1.5\n2.5 3.5\n", "outputs.txt", &Limits::default())?;
/// let array = dataset.into_only()?;
/// println!("{:?} {:?}", array.shape(), array.data()); // [2, 2] [0.5, 1.5, 2.5, 3.5]
/// assert_eq!(array.data(), [0.5, 1.5, 2.5, 3.5]);
/// # Ok::<(), dpscope_formats::FormatError>(())
/// ```
#[derive(Debug)]
pub struct Dataset<'a> {
    content: Content<'a>,
}

#[derive(Debug)]
enum Content<'a> {
    Npy(Array),
    Csv(CsvTable),
    Container(Container<'a>),
}

impl<'a> Dataset<'a> {
    /// Opens a file. npy and csv files are read at once, the arrays of other formats on request.
    ///
    /// # Errors
    ///
    /// [`FormatError::UnknownFormat`], and those of the format's reader.
    pub fn open(bytes: &'a [u8], file_name: &str, limits: &Limits) -> Result<Self, FormatError> {
        Self::open_as(bytes, file_name, limits, MissingValues::Refused)
    }

    /// Opens a file; `missing` says how empty lines and cells of a text file are read.
    ///
    /// # Errors
    ///
    /// As [`Dataset::open`].
    pub fn open_as(
        bytes: &'a [u8],
        file_name: &str,
        limits: &Limits,
        missing: MissingValues,
    ) -> Result<Self, FormatError> {
        let content = match sniff(bytes, file_name) {
            Some(Format::Npy) => Content::Npy(read_npy(bytes, limits)?),
            Some(Format::Csv) => Content::Csv(read_csv_as(bytes, limits, missing)?),
            Some(Format::Npz) => Content::Container(Container::npz(bytes, limits)?),
            Some(Format::Safetensors) => Content::Container(Container::safetensors(bytes, limits)?),
            None => return Err(unknown(bytes, file_name)),
        };
        Ok(Self { content })
    }

    /// The detected format.
    #[must_use]
    pub fn format(&self) -> Format {
        match &self.content {
            Content::Npy(_) => Format::Npy,
            Content::Csv(_) => Format::Csv,
            Content::Container(file) => file.format(),
        }
    }

    /// Names of the arrays, or of the columns of a csv file with a header line; none in an npy file.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        match &self.content {
            Content::Npy(_) => Vec::new(),
            Content::Csv(table) => table.columns.iter().flatten().map(String::as_str).collect(),
            Content::Container(file) => file.names(),
        }
    }

    /// Name, dtype and shape of each array.
    ///
    /// # Errors
    ///
    /// An npz entry whose header cannot be read.
    pub fn describe(&self) -> Result<Vec<ArrayInfo>, FormatError> {
        let one = |array: &Array| ArrayInfo {
            name: String::new(),
            dtype: "float64".to_owned(),
            shape: shape_text(&array.shape().iter().map(|&n| n as u64).collect::<Vec<_>>()),
            readable: true,
        };
        match &self.content {
            Content::Npy(array) => Ok(vec![one(array)]),
            Content::Csv(table) => Ok(vec![one(&table.values)]),
            Content::Container(file) => file.describe(),
        }
    }

    /// One array by its name, or one column of a csv file by its header.
    ///
    /// # Errors
    ///
    /// No such name, and those of the format's reader.
    pub fn array(&self, name: &str) -> Result<Array, FormatError> {
        match &self.content {
            Content::Npy(_) => Err(FormatError::NotFound {
                name: ForeignText::new(name),
                available: "one array without a name".to_owned(),
            }),
            Content::Csv(table) => table.column(name),
            Content::Container(file) => file.read(name),
        }
    }

    /// The only array of numbers: that of an npy file, all rows of a csv file, or the one of a
    /// container whose dtype is a number.
    ///
    /// # Errors
    ///
    /// [`FormatError::SeveralArrays`], and those of the format's reader.
    pub fn into_only(self) -> Result<Array, FormatError> {
        let described = self.describe()?;
        match self.content {
            Content::Npy(array) => return Ok(array),
            Content::Csv(table) => return Ok(table.values),
            Content::Container(_) => {}
        }
        let mut readable: Vec<&str> = Vec::new();
        readable.extend(described.iter().filter(|info| info.readable).map(|info| &*info.name));
        match readable.as_slice() {
            [only] => self.array(only),
            // None is readable: report the first one's error.
            [] => self.array(described.first().map_or("", |info| &info.name)),
            _ => Err(FormatError::SeveralArrays { available: name_list(readable.into_iter()) }),
        }
    }
}

/// Error of an unsupported format, which names the format if its signature is known.
fn unknown(bytes: &[u8], file_name: &str) -> FormatError {
    let (found, remedy) = match bytes {
        [] => ("is empty", "save the arrays again"),
        [0x80, 2..=5, ..] => ("is a Python pickle, which is not read", "save with np.savez"),
        [0x89, b'H', b'D', b'F', ..] => ("is HDF5", "save the arrays with np.savez"),
        [b'P', b'A', b'R', b'1', ..] => ("is Parquet", "save the columns with np.savez or as csv"),
        [0x1f, 0x8b, ..] => ("is compressed with gzip", "unpack it first"),
        [b'M', b'A', b'T', b'L', b'A', b'B', ..] => ("is of MATLAB", "save it as csv"),
        _ => ("has no recognised signature", "rename a text file to end in .csv"),
    };
    FormatError::UnknownFormat { file_name: ForeignText::new(file_name), found, remedy }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{write_npy, write_npz};

    fn open<'a>(bytes: &'a [u8], file_name: &str) -> Result<Dataset<'a>, FormatError> {
        Dataset::open(bytes, file_name, &Limits::default())
    }

    #[test]
    fn signatures_override_file_names() {
        let array = Array::new(vec![2], vec![1.0, 2.0]).unwrap();
        let (npy, npz) = (write_npy(&array), write_npz(&[("x", &array)]).unwrap());
        for name in ["a.npy", "a.npz", "a.csv", "a"] {
            assert_eq!(open(&npy, name).unwrap().format(), Format::Npy);
            assert_eq!(open(&npz, name).unwrap().format(), Format::Npz);
        }
        assert_eq!(sniff(b"\x0e\0\0\0\0\0\0\0{\"x\":1}       ", ""), Some(Format::Safetensors));
        assert_eq!(sniff(b"", "a.safetensors"), Some(Format::Safetensors));
        assert_eq!(sniff(b"", "dir.csv/a"), None);
    }

    #[test]
    fn unsupported_formats_are_named() {
        for (bytes, expected) in [
            (&b""[..], "it is empty"),
            (b"\x80\x04\x95", "it is a Python pickle"),
            (b"\x89HDF\r\n", "it is HDF5"),
            (b"PAR1", "it is Parquet"),
            (b"\x1f\x8b", "it is compressed with gzip"),
            (b"1,2", "it has no recognised signature; rename a text file to end in .csv"),
        ] {
            let error = open(bytes, "a.bin").unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn one_array_needs_no_name() {
        let array = Array::new(vec![2], vec![1.0, 2.0]).unwrap();
        let npy = write_npy(&array);
        assert_eq!(open(&npy, "").unwrap().into_only(), Ok(array.clone()));
        assert!(open(&npy, "").unwrap().array("x").is_err());
        let npz = write_npz(&[("x", &array)]).unwrap();
        assert_eq!(open(&npz, "").unwrap().into_only(), Ok(array.clone()));
        let npz = write_npz(&[("x", &array), ("y", &array)]).unwrap();
        assert_eq!(open(&npz, "").unwrap().array("y"), Ok(array.clone()));
        let error = open(&npz, "").unwrap().into_only().unwrap_err().to_string();
        assert_eq!(error, "the file contains several arrays, `x`, `y`; name one");
        let csv = open(b"x,y\n1,0\n2,0\n", "a.csv").unwrap();
        assert_eq!((csv.names(), csv.array("x")), (vec!["x", "y"], Ok(array)));
        assert_eq!(csv.describe().unwrap()[0].shape, "(2, 2)");
    }
}

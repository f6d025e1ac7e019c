//! NumPy's npz files: a zip archive of npy files.

mod until_failure;
mod write;

use std::collections::HashSet;
use std::fmt;
use std::io::{Cursor, Read};

use dpscope_core::foreign_text::ForeignText;
pub use write::{NpzWriter, write_npz};
use zip::{CompressionMethod, ZipArchive};

use crate::array::ArrayInfo;
use crate::error::name_list;
use crate::limits::ratio;
use crate::shape::shape_text;
use crate::{Array, ArrayName, FormatError, Limits, npy};

/// Deflate unpacks a bit pair into at most 258 bytes.
const DEFLATE_RATIO: u64 = 1032;

/// An npz file whose arrays are read one by one.
///
/// One array of text or metadata does not prevent reading the others.
///
/// ```
/// use dpscope_formats::{Array, Limits, Npz, write_npz};
///
/// let scores = Array::new(vec![2], vec![0.5, 1.5])?;
/// let bytes = write_npz(&[("in_scores", &scores), ("out_scores", &scores)])?;
/// let npz = Npz::open(&bytes, &Limits::default())?;
/// println!("{:?}", npz.names().collect::<Vec<_>>()); // ["in_scores", "out_scores"]
/// assert_eq!(npz.read("in_scores")?, scores);
/// # Ok::<(), dpscope_formats::FormatError>(())
/// ```
#[derive(Clone)]
pub struct Npz<'a> {
    bytes: &'a [u8],
    archive: ZipArchive<Cursor<&'a [u8]>>,
    entries: Vec<Entry>,
    limits: Limits,
}

/// One npy file: the array's name and its place in the archive.
#[derive(Debug, Clone)]
struct Entry {
    name: String,
    index: usize,
}

impl fmt::Debug for Npz<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Npz").field("entries", &self.entries).finish_non_exhaustive()
    }
}

impl<'a> Npz<'a> {
    /// Lists the arrays of an npz file. Entries that are no npy files are skipped.
    ///
    /// # Errors
    ///
    /// An archive that is damaged, without npy files, with two entries of one name, with a name
    /// that leads out of its folder, or beyond `limits`.
    pub fn open(bytes: &'a [u8], limits: &Limits) -> Result<Self, FormatError> {
        limits.file(bytes)?;
        let archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| unreadable(&error))?;
        limits.arrays(archive.len() as u64)?;
        if archive.has_duplicate_names() {
            let reason = "two entries have the same name".to_owned();
            return Err(FormatError::Npz { reason });
        }
        let mut entries = Vec::new();
        let mut seen = HashSet::new();
        let mut torch = false;
        for (index, file_name) in archive.file_names().enumerate() {
            let file_name = file_name.map_err(|error| unreadable(&error))?;
            torch |= file_name.ends_with("data.pkl");
            let Some(name) = file_name.strip_suffix(".npy") else { continue };
            limits.name(name)?;
            check_name(name)?;
            if !seen.insert(name.to_owned()) {
                return Err(FormatError::DuplicateName { name: ForeignText::new(name) });
            }
            entries.push(Entry { name: name.to_owned(), index });
        }
        if entries.is_empty() {
            return Err(FormatError::NoArrays {
                remedy: if torch {
                    "it looks like a PyTorch checkpoint: save the arrays with np.savez"
                } else {
                    "save them with np.savez"
                },
            });
        }
        Ok(Self { bytes, archive, entries, limits: limits.clone() })
    }

    /// The arrays' names, in the file's order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.entries.iter().map(|entry| entry.name.as_str())
    }

    /// Reads one array, as [`read_npy`](crate::read_npy) does.
    ///
    /// # Errors
    ///
    /// Errors of [`read_npy`](crate::read_npy), no such name, an encrypted entry, a compression that
    /// NumPy does not write, or a wrong checksum.
    pub fn read(&self, name: &str) -> Result<Array, FormatError> {
        self.read_within(self.entry(name)?, &self.limits)
    }

    /// Name, dtype and shape of each array, without its data.
    ///
    /// # Errors
    ///
    /// The first entry whose header cannot be read.
    pub fn describe(&self) -> Result<Vec<ArrayInfo>, FormatError> {
        let info = |entry: &Entry| {
            let array = ArrayName::of(&entry.name);
            let header = self.with_reader(entry, &self.limits, |reader, _| {
                npy::read_header(&array, reader, &self.limits)
            })?;
            Ok(ArrayInfo {
                name: entry.name.clone(),
                dtype: header.dtype.name(),
                shape: shape_text(&header.shape),
                readable: header.number(&array).is_ok(),
            })
        };
        self.entries.iter().map(info).collect()
    }

    /// Header and bytes of one array, as they are stored.
    #[cfg(feature = "coins")]
    pub(crate) fn stored(&self, name: &str) -> Result<(npy::Header, Vec<u8>), FormatError> {
        let array = ArrayName::of(name);
        self.with_reader(self.entry(name)?, &self.limits, |reader, available_bytes| {
            npy::read_stored(&array, reader, available_bytes, &self.limits)
        })
    }

    fn entry(&self, name: &str) -> Result<&Entry, FormatError> {
        self.entries.iter().find(|entry| entry.name == name).ok_or_else(|| FormatError::NotFound {
            name: ForeignText::new(name),
            available: name_list(self.names()),
        })
    }

    fn read_within(&self, entry: &Entry, limits: &Limits) -> Result<Array, FormatError> {
        let array = ArrayName::of(&entry.name);
        self.with_reader(entry, limits, |reader, available_bytes| {
            npy::read_from(&array, reader, available_bytes, limits)
        })
    }

    /// Calls `read` with the unpacked bytes of an entry, of which there are never more than
    /// `limits` allow, and with a bound on how many there can be.
    fn with_reader<T>(
        &self,
        entry: &Entry,
        limits: &Limits,
        read: impl FnOnce(&mut dyn Read, u64) -> Result<T, FormatError>,
    ) -> Result<T, FormatError> {
        let array = ArrayName::of(&entry.name);
        let problem = |problem| FormatError::NpzEntry { array: array.clone(), problem };
        let damaged = |reason: String| FormatError::Damaged {
            array: array.clone(),
            reason: ForeignText::new(&reason).to_string(),
        };
        // The archive shares its directory between clones.
        let mut archive = self.archive.clone();
        let data = archive.by_index_data(entry.index).map_err(|e| damaged(e.to_string()))?;
        if data.encrypted() {
            return Err(problem("the entry is encrypted"));
        }
        let packed_bytes = data.compressed_size().min(self.bytes.len() as u64);
        ratio(&array, data.size().min(limits.max_bytes), packed_bytes)?;
        let most_bytes = match data.compression() {
            CompressionMethod::Stored => packed_bytes,
            CompressionMethod::Deflated => packed_bytes.saturating_mul(DEFLATE_RATIO),
            _ => return Err(problem("the entry is compressed with a method other than deflate")),
        };
        let available_bytes = most_bytes.min(data.size()).min(limits.max_bytes);
        let file = archive.by_index(entry.index).map_err(|e| damaged(e.to_string()))?;
        // One byte more, to detect data beyond the bound.
        read(&mut file.take(available_bytes.saturating_add(1)), available_bytes)
    }
}

/// Reads all arrays of numbers in an npz file, in the file's order.
///
/// Arrays of another dtype (text, objects, times, …) are metadata and are skipped; use [`Npz`]
/// for the reason why one was.
///
/// # Errors
///
/// Errors of [`Npz::open`] and [`Npz::read`], except for refused dtypes. `max_elements` limits all arrays
/// together. A file without any array of numbers is [`FormatError::NoArrays`].
pub fn read_npz(bytes: &[u8], limits: &Limits) -> Result<Vec<(String, Array)>, FormatError> {
    let npz = Npz::open(bytes, limits)?;
    let mut limits = limits.clone();
    let mut arrays = Vec::new();
    for entry in &npz.entries {
        match npz.read_within(entry, &limits) {
            Ok(array) => {
                limits.max_elements -= array.data().len() as u64;
                arrays.push((entry.name.clone(), array));
            }
            Err(FormatError::Dtype { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    if arrays.is_empty() {
        return Err(FormatError::NoArrays { remedy: "save numbers with np.savez" });
    }
    Ok(arrays)
}

/// NumPy allows `/` in names, and names are never used as paths here; these lead astray elsewhere.
fn check_name(name: &str) -> Result<(), FormatError> {
    let problem = if name.is_empty() {
        "is empty"
    } else if name.contains(char::is_control) {
        "has control characters"
    } else if name.starts_with('/')
        || name.contains('\\')
        || name.split('/').any(|part| part == "..")
    {
        "is a path out of its folder"
    } else {
        return Ok(());
    };
    Err(FormatError::BadName { name: ForeignText::new(name), problem })
}

fn unreadable(error: &zip::result::ZipError) -> FormatError {
    FormatError::Npz { reason: ForeignText::of(error).to_string() }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;
    use crate::write_npy;

    fn array(elements: usize) -> Array {
        Array::new(vec![elements], vec![0.5; elements]).unwrap()
    }

    fn archive(method: CompressionMethod, entries: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::DEFAULT.compression_method(method);
        for (name, bytes) in entries {
            writer.start_file(*name, options).unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    /// Replaces `old` by `new`, of the same length, everywhere.
    fn replaced(bytes: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        let mut found = 0;
        for start in 0..=bytes.len() - old.len() {
            if bytes[start..].starts_with(old) {
                bytes[start..start + old.len()].copy_from_slice(new);
                found += 1;
            }
        }
        assert!(found > 0);
        bytes
    }

    fn message(bytes: &[u8], limits: &Limits) -> String {
        read_npz(bytes, limits).unwrap_err().to_string()
    }

    #[test]
    fn metadata_of_other_dtypes_is_skipped() {
        let text = b"\x93NUMPY\x01\x00\x36\x00{'descr': '<U1', 'fortran_order': False, 'shape': ()}\na\0\0\0";
        let number = write_npy(&array(2));
        let bytes = archive(
            CompressionMethod::Deflated,
            &[("note.npy", text), ("score.npy", &number), ("readme.txt", b"no array")],
        );
        let read = read_npz(&bytes, &Limits::default()).unwrap();
        assert_eq!(read, [("score".to_owned(), array(2))]);
        let npz = Npz::open(&bytes, &Limits::default()).unwrap();
        assert_eq!(npz.names().collect::<Vec<_>>(), ["note", "score"]);
        let error = npz.read("note").unwrap_err().to_string();
        assert!(error.starts_with("array `note`: dtype <U1 contains text"), "{error}");
        let error = npz.read("x").unwrap_err().to_string();
        assert_eq!(error, "there is no array `x`; the file contains `note`, `score`");
        let described = npz.describe().unwrap();
        assert_eq!((&*described[0].dtype, described[0].readable), ("<U1", false));
        assert_eq!((&*described[1].dtype, &*described[1].shape), ("float64", "(2,)"));
    }

    #[test]
    fn bombs_and_false_sizes_are_refused() {
        let bomb = write_npy(&Array::new(vec![1 << 20], vec![0.0; 1 << 20]).unwrap());
        let bytes = archive(CompressionMethod::Deflated, &[("x.npy", &bomb)]);
        assert!(bytes.len() < 20_000);
        assert!(read_npz(&bytes, &Limits::default()).is_ok());
        let limits = Limits { max_elements: 1 << 19, ..Limits::default() };
        assert!(message(&bytes, &limits).contains("max_elements"));
        let limits = Limits { max_bytes: 1 << 20, ..Limits::default() };
        assert!(message(&bytes, &limits).contains("declares 8388608 bytes"));
        // The archive states that the entry is short, so no more of it is decompressed.
        let size = (bomb.len() as u32).to_le_bytes();
        let bytes = replaced(&bytes, &size, &500_u32.to_le_bytes());
        assert!(message(&bytes, &Limits::default()).contains("at most 372 are present"));
    }

    #[test]
    fn sizes_beyond_the_ratio_of_data_are_refused_before_allocation() {
        let mut claim = write_npy(&array(1));
        claim.truncate(128);
        let claim = replaced(&claim, b"(1,), }        ", b"(900000000,), }");
        let bytes = archive(CompressionMethod::Deflated, &[("x.npy", &claim)]);
        let size = (claim.len() as u32).to_le_bytes();
        let bytes = replaced(&bytes, &size, &u32::MAX.to_le_bytes());
        let text = message(&bytes, &Limits::default());
        assert!(text.contains("to at least 4294967295 bytes"), "{text}");
    }

    #[test]
    fn damaged_archives_are_refused() {
        let bytes = write_npz(&[("a", &array(3)), ("b", &array(3))]).unwrap();
        for end in 0..bytes.len() {
            assert!(read_npz(&bytes[..end], &Limits::default()).is_err(), "cut at {end}");
        }
        let flipped = replaced(&bytes, &0.5_f64.to_le_bytes(), &0.75_f64.to_le_bytes());
        let text = message(&flipped, &Limits::default());
        assert!(text.starts_with("array `a`: its data cannot be unpacked"), "{text}");
        let twice = replaced(&bytes, b"b.npy", b"a.npy");
        assert!(message(&twice, &Limits::default()).contains("two entries have the same name"));
        let astray = write_npz(&[("a/bc", &array(3))]).unwrap();
        let astray = replaced(&astray, b"a/bc.npy", b"../a.npy");
        assert!(message(&astray, &Limits::default()).contains("is a path out of its folder"));
        let torch = archive(CompressionMethod::Stored, &[("model/data.pkl", b"x")]);
        assert!(message(&torch, &Limits::default()).contains("PyTorch checkpoint"));
    }

    #[test]
    fn foreign_compression_and_encryption_are_refused() {
        let bytes = write_npz(&[("a", &array(3))]).unwrap();
        // Flags and method are at offset 6 of the local and 8 of the central header.
        let central = bytes.windows(4).position(|window| window == b"PK\x01\x02").unwrap();
        let set = |offset: usize, value: u8| {
            let mut bytes = bytes.clone();
            bytes[6 + offset] |= value;
            bytes[central + 8 + offset] |= value;
            message(&bytes, &Limits::default())
        };
        assert!(set(0, 1).contains("the entry is encrypted"));
        assert!(set(2, 12).contains("a method other than deflate"));
    }

    #[test]
    fn limits_apply_to_all_arrays_together() {
        let bytes = write_npz(&[("a", &array(3)), ("b", &array(3))]).unwrap();
        let elements = |max_elements| Limits { max_elements, ..Limits::default() };
        assert!(read_npz(&bytes, &elements(6)).is_ok());
        assert!(message(&bytes, &elements(5)).starts_with("array `b` has 3 elements"));
        let limits = Limits { max_arrays: 1, ..Limits::default() };
        assert!(message(&bytes, &limits).contains("max_arrays"));
        let limits = Limits { max_name_bytes: 0, ..Limits::default() };
        assert!(message(&bytes, &limits).contains("max_name_bytes"));
    }
}

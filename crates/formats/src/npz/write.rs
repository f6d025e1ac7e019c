use std::collections::HashSet;
use std::io::{Cursor, Error, Result, Seek, Write};

use dpscope_core::foreign_text::ForeignText;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::until_failure::UntilFailure;
use super::{check_name, unreadable};
use crate::npy::header_of;
use crate::{Array, FormatError};

/// An npz file that is written array by array, uncompressed as by `np.savez`. Equal arrays yield
/// equal bytes.
#[derive(Debug)]
pub struct NpzWriter<W: Write + Seek> {
    writer: ZipWriter<UntilFailure<W>>,
    names: HashSet<String>,
    /// Whether the file could not be written; its end is then not written either.
    has_failed: bool,
}

impl<W: Write + Seek> NpzWriter<W> {
    /// Writes to `to`, from its current position.
    pub fn new(to: W) -> Self {
        let writer = ZipWriter::new(UntilFailure::new(to));
        NpzWriter { writer, names: HashSet::new(), has_failed: false }
    }

    /// Starts an array of this shape; its values follow in C order.
    ///
    /// # Errors
    /// A name that is empty, used twice, or a path out of its folder; a file that cannot be written.
    pub fn begin(&mut self, name: &str, shape: &[usize]) -> Result<()> {
        check_name(name).map_err(Error::other)?;
        if !self.names.insert(name.to_owned()) {
            return Err(Error::other(FormatError::DuplicateName { name: ForeignText::new(name) }));
        }
        let header = header_of(shape);
        let values = shape.iter().fold(1_u64, |all, &length| all.saturating_mul(length as u64));
        let bytes = values.saturating_mul(8).saturating_add(header.len() as u64);
        let options = SimpleFileOptions::DEFAULT
            .compression_method(CompressionMethod::Stored)
            .large_file(bytes > u32::MAX.into());
        let started = self.writer.start_file(format!("{name}.npy"), options);
        let written = started.map_err(Error::from).and_then(|()| self.writer.write_all(&header));
        self.has_failed |= written.is_err();
        written
    }

    /// Writes values of the current array.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn values(&mut self, values: &[f64]) -> Result<()> {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let written = self.writer.write_all(&bytes);
        self.has_failed |= written.is_err();
        written
    }

    /// Ends the file.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn finish(self) -> Result<W> {
        if self.has_failed {
            return Err(Error::other("the file could not be written"));
        }
        Ok(self.writer.finish()?.into_inner())
    }
}

/// Writes named arrays as an npz file in memory, as [`NpzWriter`] does.
///
/// # Errors
///
/// A name that is empty, used twice, or a path out of its folder.
pub fn write_npz(arrays: &[(&str, &Array)]) -> std::result::Result<Vec<u8>, FormatError> {
    let mut writer = NpzWriter::new(Cursor::new(Vec::new()));
    let mut written = || -> Result<()> {
        for (name, array) in arrays {
            writer.begin(name, array.shape())?;
            writer.values(array.data())?;
        }
        Ok(())
    };
    let original = |error: Error| match error.downcast::<FormatError>() {
        Ok(error) => error,
        Err(error) => unreadable(&error.into()),
    };
    written().map_err(original)?;
    Ok(writer.finish().map_err(original)?.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, read_npz};

    #[test]
    fn named_arrays_round_trip() {
        let first = Array::new(vec![2, 2], vec![1.0, -0.0, f64::MAX, f64::MIN_POSITIVE]).unwrap();
        let second = Array::new(vec![], vec![2.5]).unwrap();
        let bytes = write_npz(&[("epoch/0", &first), ("σ", &second)]).unwrap();
        assert_eq!(bytes, write_npz(&[("epoch/0", &first), ("σ", &second)]).unwrap());
        let read = read_npz(&bytes, &Limits::default()).unwrap();
        assert_eq!(read, [("epoch/0".to_owned(), first.clone()), ("σ".to_owned(), second)]);

        let mut writer = NpzWriter::new(Cursor::new(Vec::new()));
        writer.begin("epoch/0", &[2, 2]).unwrap();
        first.data().chunks(3).for_each(|some| writer.values(some).unwrap());
        writer.begin("σ", &[]).unwrap();
        writer.values(&[2.5]).unwrap();
        assert_eq!(writer.finish().unwrap().into_inner(), bytes);
    }

    /// Memory in which only so many bytes have room, and what was attempted after the first failure.
    struct Full {
        room: u64,
        has_failed: bool,
        is_used_after: std::rc::Rc<std::cell::Cell<bool>>,
    }

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> Result<usize> {
            self.is_used_after.set(self.is_used_after.get() || self.has_failed);
            self.has_failed |= bytes.len() as u64 > self.room;
            if self.has_failed {
                return Err(Error::other("full"));
            }
            self.room -= bytes.len() as u64;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> Result<()> {
            Ok(())
        }
    }

    impl Seek for Full {
        fn seek(&mut self, _: std::io::SeekFrom) -> Result<u64> {
            Ok(0)
        }
    }

    #[test]
    fn nothing_is_written_after_a_failure() {
        for room in [0, 40, 100, 200, 250] {
            let is_used_after = std::rc::Rc::default();
            let full =
                Full { room, has_failed: false, is_used_after: std::rc::Rc::clone(&is_used_after) };
            let mut writer = NpzWriter::new(full);
            let written = writer.begin("a", &[]).and_then(|()| writer.values(&[2.5]));
            assert!(written.is_err() || room >= 200, "{room}");
            let has_failed = written.is_err();
            let ended = writer.finish();
            assert!(ended.is_err(), "{room}: {has_failed}");
            assert!(!is_used_after.get(), "{room}");
        }
    }

    #[test]
    fn names_that_cannot_be_read_back_are_refused() {
        let array = Array::new(vec![], vec![2.5]).unwrap();
        for name in ["", "/a", "a/../b", "a\\b", "a\nb"] {
            assert!(write_npz(&[(name, &array)]).is_err(), "{name:?}");
        }
        let error = write_npz(&[("a", &array), ("a", &array)]).unwrap_err();
        assert_eq!(error, FormatError::DuplicateName { name: ForeignText::new("a") });
    }
}

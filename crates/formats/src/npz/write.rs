use std::collections::HashSet;
use std::io::{Cursor, Error, Result, Seek, Write};

use dpscope_core::foreign_text::ForeignText;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::{check_name, unreadable};
use crate::npy::header_of;
use crate::{Array, FormatError};

/// An npz file that is written array by array, uncompressed as by `np.savez`. Equal arrays yield
/// equal bytes.
#[derive(Debug)]
pub struct NpzWriter<W: Write + Seek> {
    writer: ZipWriter<W>,
    names: HashSet<String>,
}

impl<W: Write + Seek> NpzWriter<W> {
    /// Writes to `to`, from its current position.
    pub fn new(to: W) -> Self {
        NpzWriter { writer: ZipWriter::new(to), names: HashSet::new() }
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
        self.writer.start_file(format!("{name}.npy"), options)?;
        self.writer.write_all(&header)
    }

    /// Writes values of the current array.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn values(&mut self, values: &[f64]) -> Result<()> {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.writer.write_all(&bytes)
    }

    /// Ends the file.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn finish(self) -> Result<W> {
        Ok(self.writer.finish()?)
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

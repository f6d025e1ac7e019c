use std::collections::HashSet;
use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::{check_name, unreadable};
use crate::error::excerpt;
use crate::{Array, FormatError, write_npy};

/// Writes named arrays as an npz file, uncompressed as `np.savez` does. The same arrays give the
/// same bytes.
///
/// # Errors
///
/// A name that is empty, used twice, or a path out of its folder.
pub fn write_npz(arrays: &[(&str, &Array)]) -> Result<Vec<u8>, FormatError> {
    let mut names = HashSet::new();
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, array) in arrays {
        check_name(name)?;
        if !names.insert(name) {
            return Err(FormatError::DuplicateName { name: excerpt(name) });
        }
        let bytes = write_npy(array);
        let options = SimpleFileOptions::DEFAULT
            .compression_method(CompressionMethod::Stored)
            .large_file(bytes.len() > u32::MAX as usize);
        writer
            .start_file(format!("{name}.npy"), options)
            .and_then(|()| Ok(writer.write_all(&bytes)?))
            .map_err(|error| unreadable(&error))?;
    }
    Ok(writer.finish().map_err(|error| unreadable(&error))?.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, read_npz};

    #[test]
    fn named_arrays_survive() {
        let first = Array::new(vec![2, 2], vec![1.0, -0.0, f64::MAX, f64::MIN_POSITIVE]).unwrap();
        let second = Array::new(vec![], vec![2.5]).unwrap();
        let bytes = write_npz(&[("epoch/0", &first), ("σ", &second)]).unwrap();
        assert_eq!(bytes, write_npz(&[("epoch/0", &first), ("σ", &second)]).unwrap());
        let read = read_npz(&bytes, &Limits::default()).unwrap();
        assert_eq!(read, [("epoch/0".to_owned(), first), ("σ".to_owned(), second)]);
    }

    #[test]
    fn names_that_cannot_be_read_back_are_refused() {
        let array = Array::new(vec![], vec![2.5]).unwrap();
        for name in ["", "/a", "a/../b", "a\\b", "a\nb"] {
            assert!(write_npz(&[(name, &array)]).is_err(), "{name:?}");
        }
        let error = write_npz(&[("a", &array), ("a", &array)]).unwrap_err();
        assert_eq!(error, FormatError::DuplicateName { name: "a".to_owned() });
    }
}

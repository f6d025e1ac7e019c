//! Arrays that are read in parts, from where they are stored.

use std::io::{Read, Seek, SeekFrom};

use crate::number::{ByteOrder, Number};
use crate::shape::element_count;
use crate::{ArrayName, FormatError, Limits};

/// An array in a file, of which parts can be read without the rest.
///
/// ```
/// use std::io::Cursor;
/// use dpscope_formats::{Array, Limits, StoredArray, write_npy};
///
/// let mut file = Cursor::new(write_npy(&Array::new(vec![4], vec![0.5, 1.5, 2.5, 3.5])?));
/// let arrays = StoredArray::all_of(&mut file, "model.npy", &Limits::default())?;
/// assert_eq!(arrays[0].read(&mut file, 1, 2)?, [1.5, 2.5]);
/// # Ok::<(), dpscope_formats::FormatError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredArray {
    name: String,
    shape: Vec<u64>,
    elements: u64,
    /// Position of the first element, in bytes.
    offset: u64,
    number: Number,
    order: ByteOrder,
}

impl StoredArray {
    pub(crate) fn new(
        name: &str,
        shape: Vec<u64>,
        (offset, present_bytes): (u64, u64),
        (number, order): (Number, ByteOrder),
        limits: &Limits,
    ) -> Result<Self, FormatError> {
        let array = array_name(name);
        limits.name(name)?;
        let elements = element_count(&array, &shape, limits)? as u64;
        let needed_bytes = elements * number.bytes() as u64;
        if needed_bytes > present_bytes {
            return Err(FormatError::Truncated { array, needed_bytes, present_bytes });
        }
        if needed_bytes < present_bytes {
            let bytes = present_bytes - needed_bytes;
            return Err(FormatError::TrailingBytes { array, bytes });
        }
        Ok(Self { name: name.to_owned(), shape, elements, offset, number, order })
    }

    /// The array's name; empty in an npy file.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Length of each axis.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Number of elements.
    #[must_use]
    pub const fn elements(&self) -> u64 {
        self.elements
    }

    /// Row `index` of an array with two axes, as an array of its own.
    #[must_use]
    pub fn row(&self, index: u64) -> Option<Self> {
        let &[rows, columns] = &self.shape[..] else { return None };
        (index < rows).then(|| Self {
            shape: vec![columns],
            elements: columns,
            offset: self.offset + index * columns * self.number.bytes() as u64,
            ..self.clone()
        })
    }

    /// Reads elements `first`, `first` + 1, … in C order.
    ///
    /// # Errors
    ///
    /// Elements beyond the last, and a file that was changed or cannot be read.
    pub fn read<F: Read + Seek>(
        &self,
        file: &mut F,
        first: u64,
        count: usize,
    ) -> Result<Vec<f64>, FormatError> {
        let array = array_name(&self.name);
        let bytes = self.number.bytes() as u64;
        let available_bytes = self.elements.saturating_sub(first) * bytes;
        seek(&array, file, SeekFrom::Start(self.offset + first.min(self.elements) * bytes))?;
        self.number.read(self.order, &array, count, available_bytes, file)
    }
}

pub(crate) fn array_name(name: &str) -> ArrayName {
    if name.is_empty() { ArrayName::only() } else { ArrayName::of(name) }
}

pub(crate) fn seek(
    array: &ArrayName,
    file: &mut impl Seek,
    place: SeekFrom,
) -> Result<u64, FormatError> {
    file.seek(place)
        .map_err(|error| FormatError::Damaged { array: array.clone(), reason: error.to_string() })
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use zip::CompressionMethod;

    use super::*;
    use crate::{Array, write_npy, write_npz};

    fn all_of(bytes: &[u8]) -> Result<Vec<StoredArray>, FormatError> {
        StoredArray::all_of(&mut Cursor::new(bytes), "a", &Limits::default())
    }

    fn numbers(first: f64, count: usize, shape: Vec<usize>) -> Array {
        Array::new(shape, (0..count).map(|i| first + i as f64).collect()).unwrap()
    }

    /// By hand: header and data.
    fn safetensors(header: &str, data: &[u8]) -> Vec<u8> {
        [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), data].concat()
    }

    #[test]
    fn parts_are_those_of_the_whole_array() {
        let (a, b) = (numbers(0.0, 6, vec![2, 3]), numbers(100.0, 4, vec![4]));
        let npz = write_npz(&[("b", &b), ("a", &a)]).unwrap();
        let stored = all_of(&npz).unwrap();
        let read = |i: usize, count| stored[i].read(&mut Cursor::new(&npz), 1, count).unwrap();
        assert_eq!((read(0, 5), read(1, 3)), (a.data()[1..].to_vec(), b.data()[1..].to_vec()));
        let npy = write_npy(&a);
        let arrays = all_of(&npy).unwrap();
        let mut file = Cursor::new(&npy);
        assert_eq!(arrays[0].shape(), [2, 3]);
        for first in 0..6 {
            for count in 1..=6 - first {
                let part = arrays[0].read(&mut file, first as u64, count).unwrap();
                assert_eq!(part, a.data()[first..first + count]);
            }
        }
        assert_eq!(arrays[0].row(1).unwrap().read(&mut file, 0, 3).unwrap(), [3.0, 4.0, 5.0]);
        assert_eq!(arrays[0].row(2), None);
        assert!(arrays[0].read(&mut file, 5, 2).is_err());
    }

    #[test]
    fn what_cannot_be_read_in_parts_is_refused_with_the_remedy() {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let deflated = zip::write::SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated);
        zip.start_file("a.npy", deflated).unwrap();
        std::io::Write::write_all(&mut zip, &write_npy(&numbers(0.0, 9, vec![9]))).unwrap();
        let compressed = all_of(&zip.finish().unwrap().into_inner()).unwrap_err().to_string();
        assert!(compressed.contains("np.savez"), "{compressed}");
        let header = "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 2), }";
        let fortran =
            [b"\x93NUMPY\x01\0", &[header.len() as u8, 0][..], header.as_bytes(), &[0; 32]];
        let fortran = all_of(&fortran.concat()).unwrap_err().to_string();
        assert!(fortran.contains("ascontiguousarray"), "{fortran}");
    }

    #[test]
    fn tensors_of_half_precision_are_read_in_the_order_of_names() {
        let header = r#"{"z":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]},
            "a":{"dtype":"F16","shape":[1],"data_offsets":[4,6]}}"#;
        let bytes = safetensors(header, &[0x80, 0x3f, 0x00, 0xc0, 0x00, 0x3c]);
        let arrays = all_of(&bytes).unwrap();
        let names: Vec<&str> = arrays.iter().map(StoredArray::name).collect();
        assert_eq!(names, ["a", "z"]);
        let mut file = Cursor::new(&bytes);
        assert_eq!(arrays[0].read(&mut file, 0, 1).unwrap(), [1.0]);
        assert_eq!(arrays[1].read(&mut file, 1, 1).unwrap(), [-2.0]);
    }

    #[test]
    fn damaged_files_are_refused_before_memory_is_allocated() {
        let npy = write_npy(&numbers(0.0, 4, vec![4]));
        let header = r#"{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
        let tensors = safetensors(header, &[0; 4]);
        for whole in [&npy, &tensors] {
            assert!(all_of(whole).is_ok());
            for end in 0..whole.len() {
                assert!(all_of(&whole[..end]).is_err(), "cut at {end}");
            }
            assert!(all_of(&[&whole[..], &[0]].concat()).is_err());
        }
        let mut claim = tensors.clone();
        claim[..8].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(all_of(&claim).is_err());
        let huge = header.replace("[1]", "[4294967296,4294967296,4]");
        assert!(all_of(&safetensors(&huge, &[0; 4])).is_err());
        let other = header.replace("F32", "F8_E4M3").replace("[0,4]", "[0,1]");
        assert!(all_of(&safetensors(&other, &[0])).unwrap_err().to_string().contains("tensor.to"));
        assert!(all_of(b"0.5,1.5\n").unwrap_err().to_string().contains("np.save"));
    }
}

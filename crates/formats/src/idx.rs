//! IDX files, as MNIST and Fashion-MNIST are published.

use crate::error::hexadecimal;
use crate::gzip::unpack_gzip;
use crate::idx_header::header;
use crate::shape::element_count;
use crate::{ArrayName, FormatError, Limits};

/// Bytes with a shape, in C order: the last index runs fastest.
///
/// Always: the shape's product is the number of bytes, and it is at least 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ByteArray {
    shape: Vec<usize>,
    data: Vec<u8>,
}

impl ByteArray {
    /// For readers, which have tested that `shape` and `data` agree.
    pub(crate) fn from_checked(shape: Vec<usize>, data: Vec<u8>) -> Self {
        debug_assert_eq!(shape.iter().product::<usize>(), data.len());
        Self { shape, data }
    }

    /// Length of each axis.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The bytes.
    #[must_use]
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// Shape and bytes.
    #[must_use]
    pub fn into_parts(self) -> (Vec<usize>, Vec<u8>) {
        (self.shape, self.data)
    }
}

/// Whether a decompressed file has the signature of IDX and the length that its header states.
#[must_use]
pub fn is_idx(bytes: &[u8]) -> bool {
    let Some((elements, data)) = header(bytes) else { return false };
    !data.is_empty() && elements == Some(data.len() as u64)
}

/// Reads an IDX file of unsigned bytes, packed by gzip or not.
///
/// Two zero bytes, the type (0x08), the number of axes, the length of each axis (4 bytes, big
/// endian), and the data in C order.
///
/// # Errors
///
/// Another start, another type than unsigned bytes, an axis of length 0, fewer or more bytes than
/// the header declares, those of [`unpack_gzip`], or more than `limits` allow.
///
/// # Reference
///
/// Y. LeCun, C. Cortes and C. J. C. Burges, "The MNIST database of handwritten digits", section "The
/// IDX file format".
///
/// # Example
///
/// ```
/// use dpscope_formats::{Limits, read_idx};
///
/// let bytes = [&[0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3][..], b"abcdef"].concat();
/// let images = read_idx(&bytes, &Limits::default())?;
/// println!("{:?} {:?}", images.shape(), images.data()); // [2, 3] [97, 98, 99, 100, 101, 102]
///
/// let cut = read_idx(&bytes[..17], &Limits::default()).unwrap_err();
/// assert!(cut.to_string().contains("declares 6 bytes of data, but at most 5 are present"));
/// # Ok::<(), dpscope_formats::FormatError>(())
/// ```
pub fn read_idx(bytes: &[u8], limits: &Limits) -> Result<ByteArray, FormatError> {
    let bytes = unpack_gzip(bytes, limits)?;
    let array = ArrayName::only();
    let start = || FormatError::IdxStart { found: hexadecimal(&bytes) };
    let (&[zero, also_zero, code, axes], rest) = bytes.split_first_chunk().ok_or_else(start)?;
    if (zero, also_zero) != (0, 0) {
        return Err(start());
    }
    if code != 0x08 {
        return Err(type_name(code).map_or_else(start, |name| FormatError::IdxType { code, name }));
    }
    if axes == 0 {
        return Err(start());
    }
    let header_bytes = 4 * usize::from(axes);
    let Some((lengths, data)) = rest.split_at_checked(header_bytes) else {
        let (needed_bytes, present_bytes) = (header_bytes as u64, rest.len() as u64);
        return Err(FormatError::Truncated { array, needed_bytes, present_bytes });
    };
    let lengths = lengths.as_chunks::<4>().0.iter().copied();
    let shape: Vec<u64> = lengths.map(|length| u64::from(u32::from_be_bytes(length))).collect();
    let count = element_count(&array, &shape, limits)?;
    let (needed_bytes, present_bytes) = (count as u64, data.len() as u64);
    if needed_bytes > present_bytes {
        return Err(FormatError::Truncated { array, needed_bytes, present_bytes });
    }
    if needed_bytes < present_bytes {
        return Err(FormatError::IdxTrailing { needed_bytes, present_bytes });
    }
    // The data are there, so the lengths fit in memory.
    let shape = shape.into_iter().map(|length| length as usize).collect();
    Ok(ByteArray::from_checked(shape, data.to_vec()))
}

/// Element type of a type code, if it is valid.
fn type_name(code: u8) -> Option<&'static str> {
    Some(match code {
        0x09 => "signed byte",
        0x0b => "short",
        0x0c => "int",
        0x0d => "float",
        0x0e => "double",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn idx(code: u8, shape: &[u32], data: &[u8]) -> Vec<u8> {
        let lengths = shape.iter().flat_map(|length| length.to_be_bytes());
        let mut bytes = vec![0, 0, code, shape.len() as u8];
        bytes.extend(lengths);
        bytes.extend(data);
        bytes
    }

    fn message(bytes: &[u8]) -> String {
        assert!(!is_idx(bytes));
        read_idx(bytes, &Limits::default()).unwrap_err().to_string()
    }

    #[test]
    fn lengths_are_big_endian_and_data_in_c_order() {
        let data: Vec<u8> = (0..=255).cycle().take(258 * 2).collect();
        let bytes = idx(8, &[258, 2], &data);
        assert!(is_idx(&bytes));
        let read = read_idx(&bytes, &Limits::default()).unwrap();
        assert_eq!((read.shape(), read.data()), (&[258, 2][..], &data[..]));
        assert_eq!(read.into_parts(), (vec![258, 2], data));
    }

    #[test]
    fn invalid_input_is_refused_with_the_reason() {
        for (bytes, expected) in [
            (
                idx(0x0d, &[1], &[0; 4]),
                "IDX type 0x0d (float) is not supported; write unsigned bytes",
            ),
            (idx(0x09, &[1], &[0]), "IDX type 0x09 (signed byte)"),
            (idx(0x07, &[1], &[0]), "it starts with `00 00 07 01 00 00 00 01`"),
            (idx(8, &[], &[]), "it starts with `00 00 08 00`"),
            (b"\x89PNG\r\n\x1a\n12".to_vec(), "it starts with `89 50 4e 47 0d 0a 1a 0a`"),
            (Vec::new(), "it starts with ``"),
            (idx(8, &[2, 0], &[]), "shape (2, 0) has no elements"),
            (idx(8, &[2, 3], &[0; 5]), "declares 6 bytes of data, but at most 5 are present"),
            (idx(8, &[2, 3], &[0; 7]), "declares 6 bytes of data, but 7 follow it"),
            (idx(8, &[u32::MAX; 3], &[0; 7]), "it has more elements than a computer can address"),
            (idx(8, &[u32::MAX], &[0; 7]), "more than the limit max_elements"),
            (idx(8, &[1, 1], &[])[..9].to_vec(), "declares 8 bytes of data, but at most 5"),
        ] {
            let text = message(&bytes);
            assert!(text.contains(expected), "{text}");
        }
    }

    #[test]
    fn limits_are_enforced() {
        let bytes = idx(8, &[3, 3], &[7; 9]);
        let limits =
            |max_elements, max_bytes| Limits { max_elements, max_bytes, ..Limits::default() };
        assert!(read_idx(&bytes, &limits(9, 21)).is_ok());
        assert!(read_idx(&bytes, &limits(8, 21)).is_err());
        assert!(read_idx(&bytes, &limits(9, 20)).is_err());
        let text = read_idx(&idx(8, &[1; 65], &[0]), &Limits::default()).unwrap_err().to_string();
        assert!(text.contains("65 axes, more than the limit max_dimensions = 64"), "{text}");
    }
}

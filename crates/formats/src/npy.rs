//! NumPy's npy files: one array each.

mod dtype;
mod header;
mod write;

use std::io::Read;

pub(crate) use header::Header;
pub(crate) use write::header_of;
#[cfg(feature = "coins")]
pub(crate) use write::header_with;
pub use write::write_npy;

use crate::error::foreign_bytes;
use crate::number::fill;
use crate::shape::{element_count, to_c_order};
use crate::{Array, ArrayName, Format, FormatError, Limits};

pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";

/// Reads an npy file: versions 1.0, 2.0 and 3.0, every numeric dtype and bool in both byte orders,
/// C and Fortran order.
///
/// Values are exact; integers beyond 2⁵³ are refused. NaN and infinities are preserved.
///
/// # Errors
///
/// A dtype without real numbers (complex, object, structured, string, datetime) or with more digits
/// than `f64` (longdouble), an empty array, a damaged header, fewer or more bytes than the header
/// declares, or more than `limits` allow.
///
/// # Reference
///
/// NumPy Enhancement Proposal 1 and the documentation of `numpy.lib.format`. The header is parsed
/// here because npyz 0.9 allocates what a header claims and parses nested literals recursively.
///
/// # Example
///
/// ```
/// use dpscope_formats::{Array, Limits, read_npy, write_npy};
///
/// let bytes = write_npy(&Array::new(vec![3], vec![0.25, -1.0, 8.0])?);
/// assert_eq!(read_npy(&bytes, &Limits::default())?.data(), [0.25, -1.0, 8.0]);
///
/// let cut = read_npy(&bytes[..bytes.len() - 1], &Limits::default()).unwrap_err();
/// println!("{cut}"); // the array: the header declares 24 bytes of data, but at most 23 are present; …
/// # Ok::<(), dpscope_formats::FormatError>(())
/// ```
pub fn read_npy(bytes: &[u8], limits: &Limits) -> Result<Array, FormatError> {
    limits.file(bytes)?;
    read_from(&ArrayName::only(), &mut &*bytes, bytes.len() as u64, limits)
}

/// Reads one npy file to its end. `available_bytes` is the most that `reader` can return.
pub(crate) fn read_from(
    array: &ArrayName,
    reader: &mut dyn Read,
    available_bytes: u64,
    limits: &Limits,
) -> Result<Array, FormatError> {
    let header = read_header(array, reader, limits)?;
    let available_bytes = available_bytes.saturating_sub(header.bytes);
    let (number, order) = header.number(array)?;
    let count = element_count(array, &header.shape, limits)?;
    let data = number.read(order, array, count, available_bytes, reader)?;
    // Reading on to the end also lets a zip entry compare its checksum.
    let mut rest = [0; 4096];
    let trailing = fill(array, reader, &mut rest)? as u64;
    if trailing > 0 {
        let bytes =
            trailing.max(available_bytes.saturating_sub(count as u64 * number.bytes() as u64));
        return Err(FormatError::TrailingBytes { array: array.clone(), bytes });
    }
    let data = if header.fortran_order { to_c_order(array, &header.shape, data)? } else { data };
    Ok(Array::from_checked(&header.shape, data))
}

/// Reads one npy file to its end: the header, and the data as they are stored.
#[cfg(feature = "coins")]
pub(crate) fn read_stored(
    array: &ArrayName,
    reader: &mut dyn Read,
    available_bytes: u64,
    limits: &Limits,
) -> Result<(Header, Vec<u8>), FormatError> {
    let header = read_header(array, reader, limits)?;
    let available_bytes = available_bytes.saturating_sub(header.bytes);
    let (number, _) = header.number(array)?;
    let declared_bytes =
        element_count(array, &header.shape, limits)? as u64 * number.bytes() as u64;
    let mut data = Vec::new();
    let read = reader.take(declared_bytes.min(available_bytes) + 1).read_to_end(&mut data);
    read.map_err(|e| FormatError::Damaged { array: array.clone(), reason: e.to_string() })?;
    if data.len() as u64 == declared_bytes {
        return Ok((header, data));
    }
    Err(FormatError::Damaged {
        array: array.clone(),
        reason: format!("the header declares {declared_bytes} bytes of data, and there are others"),
    })
}

/// Reads an npy file up to its data.
pub(crate) fn read_header(
    array: &ArrayName,
    reader: &mut dyn Read,
    limits: &Limits,
) -> Result<Header, FormatError> {
    let damaged =
        |reason: &str| FormatError::NpyHeader { array: array.clone(), reason: reason.to_owned() };
    let mut start = [0; 8];
    let got = fill(array, reader, &mut start)?;
    if !start[..got].starts_with(MAGIC) {
        let found = foreign_bytes(&start[..got]);
        return Err(FormatError::BadMagic { format: Format::Npy, found, expected: "\\x93NUMPY" });
    }
    if got < start.len() {
        return Err(damaged("it ends before its version"));
    }
    let (major, minor) = (start[6], start[7]);
    let length_bytes = match (major, minor) {
        (1, 0) => 2,
        (2 | 3, 0) => 4,
        _ => return Err(FormatError::NpyVersion { array: array.clone(), major, minor }),
    };
    let mut length = [0; 4];
    if fill(array, reader, &mut length[..length_bytes])? < length_bytes {
        return Err(damaged("it ends before its length"));
    }
    let length = u64::from(u32::from_le_bytes(length));
    limits.header(array, length)?;
    let mut text = Vec::new();
    if let Err(error) = reader.take(length).read_to_end(&mut text) {
        return Err(FormatError::Damaged { array: array.clone(), reason: error.to_string() });
    }
    if (text.len() as u64) < length {
        return Err(damaged("it is shorter than its own length says"));
    }
    Header::parse(&text, 8 + length_bytes as u64 + length).map_err(|reason| damaged(&reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An npy file by hand: version, header text, data.
    fn file(major: u8, header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = [MAGIC, &[major, 0]].concat();
        match major {
            1 => bytes.extend((header.len() as u16).to_le_bytes()),
            _ => bytes.extend((header.len() as u32).to_le_bytes()),
        }
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    fn with(descr: &str, shape: &str, data: &[u8]) -> Result<Array, FormatError> {
        let header =
            format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}    \n");
        read_npy(&file(1, &header, data), &Limits::default())
    }

    fn message(descr: &str, shape: &str, data: &[u8]) -> String {
        with(descr, shape, data).unwrap_err().to_string()
    }

    #[test]
    fn versions_orders_and_layouts_are_read() {
        let header = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 2)}\n";
        for major in 1..=3 {
            let bytes = file(major, header, &[0, 1, 0, 2, 0, 3, 0, 4]);
            let array = read_npy(&bytes, &Limits::default()).unwrap();
            assert_eq!((array.shape(), array.data()), (&[2, 2][..], &[1.0, 3.0, 2.0, 4.0][..]));
        }
        let error = read_npy(&file(4, header, &[0; 8]), &Limits::default()).unwrap_err();
        assert!(error.to_string().contains("npy version 4.0 is unknown"), "{error}");
        assert_eq!(with("'|b1'", "()", &[1]).unwrap().shape(), [0_usize; 0]);
    }

    #[test]
    fn dtypes_without_real_numbers_are_refused_with_the_remedy() {
        for (descr, expected) in [
            ("'<c16'", "dtype complex128 is not a real number; save the real part"),
            ("'|O'", "dtype object contains pickled Python values"),
            ("'<U5'", "dtype <U5 contains text"),
            ("'|S5'", "dtype |S5 contains text"),
            ("'<M8[ns]'", "dtype datetime64[ns] is a time"),
            ("'<f16'", "dtype longdouble (<f16) has more digits than float64"),
            ("'<V2'", "dtype <V2 contains raw bytes, perhaps bfloat16"),
            ("'|V9'", "dtype |V9 contains raw bytes"),
            ("[('a', '<f8'), ('b', '<i4', (2,))]", "dtype with named fields is not one number"),
            ("'<f3'", "dtype <f3 is unknown"),
            ("'|f8'", "dtype |f8 is unknown"),
            ("''", "dtype  is unknown"),
        ] {
            let text = message(descr, "(1,)", &[0; 16]);
            assert!(text.starts_with(&format!("the array: {expected}")), "{descr}: {text}");
        }
    }

    #[test]
    fn absurd_claims_are_refused() {
        let text = message("'|u1'", "(1000000000,)", &[0; 8]);
        assert!(text.contains("declares 1000000000 bytes of data, but at most 8 are"), "{text}");
        let text = message("'<f8'", "(1000000000000000,)", &[0; 8]);
        assert!(text.contains("more than the limit max_elements"), "{text}");
        let text = message("'<f8'", "(4294967296, 4294967296, 2)", &[0; 8]);
        assert!(text.contains("more elements than a computer can address"), "{text}");
        let text = message("'<f8'", "(99999999999999999999,)", &[0; 8]);
        assert!(text.contains("axis `99999999999999999999` is not a length"), "{text}");
        assert!(message("'<f8'", "(-1,)", &[0; 8]).contains("axis `-1` is not a length"));
        assert!(message("'<f8'", "(2, 0)", &[]).contains("shape (2, 0) has no elements"));
        assert!(message("'<f8'", "(1,)", &[0; 9]).contains("1 bytes follow its data"));
        let axes = "1, ".repeat(65);
        assert!(message("'<f8'", &format!("({axes})"), &[0; 8]).contains("max_dimensions = 64"));
    }

    #[test]
    fn damaged_files_are_refused() {
        let whole = file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", &[0; 8]);
        assert!(read_npy(&whole, &Limits::default()).is_ok());
        for end in 0..whole.len() {
            assert!(read_npy(&whole[..end], &Limits::default()).is_err(), "cut at {end}");
        }
        let error = read_npy(b"PK\x03\x04", &Limits::default()).unwrap_err();
        assert!(error.to_string().contains("starts with `PK\\u{3}\\u{4}` instead"), "{error}");
        let mut huge = [MAGIC, &[2, 0]].concat();
        huge.extend(u32::MAX.to_le_bytes());
        let error = read_npy(&huge, &Limits::default()).unwrap_err();
        assert!(error.to_string().contains("max_header_bytes"), "{error}");
    }

    #[test]
    fn limits_are_enforced() {
        let bytes = write_npy(&Array::new(vec![4], vec![0.0; 4]).unwrap());
        let limit = |limits: Limits| read_npy(&bytes, &limits).map(|array| array.data().len());
        assert_eq!(limit(Limits { max_elements: 4, ..Limits::default() }), Ok(4));
        assert!(limit(Limits { max_elements: 3, ..Limits::default() }).is_err());
        assert!(limit(Limits { max_bytes: bytes.len() as u64, ..Limits::default() }).is_ok());
        assert!(limit(Limits { max_bytes: bytes.len() as u64 - 1, ..Limits::default() }).is_err());
        assert!(limit(Limits { max_header_bytes: 10, ..Limits::default() }).is_err());
    }
}

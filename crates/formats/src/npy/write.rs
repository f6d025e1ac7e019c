use super::MAGIC;
use crate::Array;
use crate::shape::shape_text;

/// Writes an array as an npy file: version 1.0, little-endian `float64`, C order.
///
/// ```
/// use dpscope_formats::{Array, write_npy};
///
/// let bytes = write_npy(&Array::new(vec![2], vec![1.0, 2.0])?);
/// println!("{}", bytes.len()); // 144: a header of 128 bytes and 2 numbers
/// assert_eq!(bytes.len(), 144);
/// # Ok::<(), dpscope_formats::FormatError>(())
/// ```
#[must_use]
pub fn write_npy(array: &Array) -> Vec<u8> {
    let mut bytes = header_of(array.shape());
    bytes.reserve_exact(8 * array.data().len());
    bytes.extend(array.data().iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

/// The header: its length is a multiple of 64, as NumPy pads it.
pub(crate) fn header_of(shape: &[usize]) -> Vec<u8> {
    header_with("<f8", shape)
}

/// The header of another dtype.
pub(crate) fn header_with(descr: &str, shape: &[usize]) -> Vec<u8> {
    let shape: Vec<u64> = shape.iter().map(|&length| length as u64).collect();
    let shape = shape_text(&shape);
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let before = MAGIC.len() + 4;
    // NumPy leaves room for the first axis to grow to 21 digits.
    let end = (before + text.len() + 21).next_multiple_of(64);
    text.extend(std::iter::repeat_n(' ', end - before - text.len() - 1));
    text.push('\n');
    // At most 64 axes of 20 digits: far below 2¹⁶.
    let length = (text.len() as u16).to_le_bytes();
    [MAGIC, &[1, 0], &length, text.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, read_npy};

    #[test]
    fn headers_are_aligned_and_read_back() {
        for axes in 0..=64 {
            let array = Array::new(vec![1; axes], vec![0.1]).unwrap();
            let bytes = write_npy(&array);
            assert_eq!(bytes.len() % 64, 8, "{axes} axes");
            assert_eq!(read_npy(&bytes, &Limits::default()), Ok(array));
        }
    }
}

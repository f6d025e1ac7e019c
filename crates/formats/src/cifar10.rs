//! CIFAR-10's binary version.

use crate::gzip::unpack_gzip;
use crate::idx::ByteArray;
use crate::shape::element_count;
use crate::{ArrayName, FormatError, Limits};

const PIXELS: usize = 3 * 32 * 32;
const RECORD_BYTES: usize = 1 + PIXELS;

/// Labelled colour images.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cifar10 {
    /// One label a record, 0 to 9.
    pub labels: Vec<u8>,
    /// Shape (records, 3, 32, 32): red, green and blue planes, row by row from the top.
    pub images: ByteArray,
}

/// Reads records of CIFAR-10's binary version, packed by gzip or not.
///
/// Each record is a label byte and 3,072 bytes: 1,024 of red, of green and of blue. Files can be
/// joined end to end.
///
/// # Errors
///
/// A length that is not whole records, a label above 9, those of [`unpack_gzip`], or more than
/// `limits` allow.
///
/// # Reference
///
/// A. Krizhevsky, "Learning multiple layers of features from tiny images" (2009), and the
/// description of the binary version beside it.
///
/// # Example
///
/// ```
/// use dpscope_formats::{Limits, read_cifar10};
///
/// let mut record = vec![200; 3073];
/// record[0] = 1;
/// let read = read_cifar10(&record, &Limits::default())?;
/// println!("{:?} {:?}", read.labels, read.images.shape()); // [1] [1, 3, 32, 32]
/// assert!(read_cifar10(&record[..3072], &Limits::default()).is_err());
/// # Ok::<(), dpscope_formats::FormatError>(())
/// ```
pub fn read_cifar10(bytes: &[u8], limits: &Limits) -> Result<Cifar10, FormatError> {
    let bytes = unpack_gzip(bytes, limits)?;
    let (records, rest) = bytes.as_chunks::<RECORD_BYTES>();
    if records.is_empty() || !rest.is_empty() {
        return Err(FormatError::Cifar10Length { bytes: bytes.len() as u64 });
    }
    element_count(&ArrayName::only(), &[records.len() as u64, PIXELS as u64], limits)?;
    let labels: Vec<u8> = records.iter().map(|record| record[0]).collect();
    if let Some(record) = labels.iter().position(|&label| label > 9) {
        return Err(FormatError::Cifar10Label { record: record as u64, label: labels[record] });
    }
    let pixels = records.iter().flat_map(|record| &record[1..]).copied().collect();
    let images = ByteArray::from_checked(vec![records.len(), 3, 32, 32], pixels);
    Ok(Cifar10 { labels, images })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(labels: &[u8]) -> Vec<u8> {
        let record = |(i, &label): (usize, &u8)| [vec![label], vec![i as u8; PIXELS]].concat();
        labels.iter().enumerate().flat_map(record).collect()
    }

    fn message(bytes: &[u8]) -> String {
        read_cifar10(bytes, &Limits::default()).unwrap_err().to_string()
    }

    #[test]
    fn labels_and_planes_are_separated() {
        let mut bytes = records(&[9, 0, 3]);
        bytes[RECORD_BYTES + 1 + 1024] = 77; // the first green pixel of record 1
        let read = read_cifar10(&bytes, &Limits::default()).unwrap();
        assert_eq!(read.labels, [9, 0, 3]);
        assert_eq!(read.images.shape(), [3, 3, 32, 32]);
        assert_eq!(read.images.data()[PIXELS + 1024], 77);
        assert_eq!(
            read.images.data().iter().map(|&b| usize::from(b)).sum::<usize>(),
            3 * PIXELS + 76
        );
    }

    #[test]
    fn invalid_input_is_refused_with_the_reason() {
        let bytes = records(&[1, 2]);
        assert!(message(&bytes[..bytes.len() - 1]).starts_with("6145 bytes are not whole records"));
        assert!(message(&[]).starts_with("0 bytes are not whole records"));
        let label = message(&records(&[1, 10]));
        assert!(label.starts_with("record 1 has label 10, but CIFAR-10 has 0 to 9"), "{label}");
        let limits = Limits { max_elements: 2 * 3072 - 1, ..Limits::default() };
        assert!(read_cifar10(&bytes, &limits).is_err());
        assert!(read_cifar10(&bytes[..RECORD_BYTES], &limits).is_ok());
    }
}

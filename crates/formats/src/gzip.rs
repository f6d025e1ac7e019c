//! Files compressed with gzip.

use std::borrow::Cow;
use std::io::{ErrorKind, Read};

use dpscope_core::foreign_text::ForeignText;
use flate2::bufread::GzDecoder;

use crate::idx_header::declared_elements;
use crate::limits::{ratio, within};
use crate::{ArrayName, FormatError, Limits};

/// Whether a file has the signature of gzip.
#[must_use]
pub fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

/// Decompresses a gzip file; returns other files unchanged.
///
/// Members that follow each other, as in the output of `cat a.gz b.gz`, are joined.
///
/// # Errors
///
/// A file that is truncated, damaged (its checksum included) or followed by other bytes, and content
/// beyond `limits.max_bytes`, with an IDX header that declares too many elements, or with a compression
/// ratio that no data have. Nothing beyond these limits is decompressed, whatever size the file states.
///
/// # Reference
///
/// P. Deutsch, "GZIP file format specification version 4.3", RFC 1952 (1996).
///
/// # Example
///
/// ```
/// use dpscope_formats::{Limits, unpack_gzip};
///
/// let packed = b"\x1f\x8b\x08\0\0\0\0\0\0\xff\x4b\x04\0\x43\xbe\xb7\xe8\x01\0\0\0";
/// println!("{:?}", unpack_gzip(packed, &Limits::default())?); // [97]
/// assert_eq!(unpack_gzip(packed, &Limits::default())?, &b"a"[..]);
/// assert_eq!(unpack_gzip(b"plain", &Limits::default())?, &b"plain"[..]);
/// # Ok::<(), dpscope_formats::FormatError>(())
/// ```
pub fn unpack_gzip<'a>(bytes: &'a [u8], limits: &Limits) -> Result<Cow<'a, [u8]>, FormatError> {
    limits.file(bytes)?;
    if !is_gzip(bytes) {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut unpacked = Vec::new();
    let mut rest = bytes;
    while is_gzip(rest) {
        rest = append_member(rest, bytes.len() - rest.len(), limits, &mut unpacked)?;
    }
    // Some writers fill the last block with zeros, and gzip itself passes over them.
    match rest.iter().any(|&byte| byte != 0) {
        false => Ok(Cow::Owned(unpacked)),
        true => Err(FormatError::GzipTrailing { bytes: rest.len() as u64 }),
    }
}

/// Unpacks the member at the start of `bytes` and returns what follows it.
fn append_member<'a>(
    bytes: &'a [u8],
    packed_before: usize,
    limits: &Limits,
    unpacked: &mut Vec<u8>,
) -> Result<&'a [u8], FormatError> {
    let mut decoder = GzDecoder::new(bytes);
    let mut buffer = [0; 1 << 14];
    loop {
        let unpacked_bytes = unpacked.len() as u64;
        let got = match decoder.read(&mut buffer) {
            Ok(0) => return Ok(decoder.into_inner()),
            Ok(got) => got,
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                return Err(FormatError::GzipTruncated { unpacked_bytes });
            }
            Err(error) => {
                let reason = ForeignText::of(&error);
                return Err(FormatError::GzipDamaged { unpacked_bytes, reason });
            }
        };
        let size = unpacked_bytes + got as u64;
        let packed_bytes = (packed_before + bytes.len() - decoder.get_ref().len()) as u64;
        ratio("the unpacked file", size, packed_bytes)?;
        within("the unpacked file", "bytes or more", size, "max_bytes", limits.max_bytes)?;
        if unpacked.is_empty() {
            check_declared_elements(&buffer[..got], limits)?;
        }
        if unpacked.try_reserve(got).is_err() {
            return Err(FormatError::OutOfMemory { array: ArrayName::only(), elements: size / 8 });
        }
        unpacked.extend_from_slice(&buffer[..got]);
    }
}

/// Refuses an IDX file by its header, before its data are decompressed.
fn check_declared_elements(start: &[u8], limits: &Limits) -> Result<(), FormatError> {
    match declared_elements(start) {
        Some(elements) => limits.elements(&ArrayName::only(), elements),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn packed(content: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    fn message(bytes: &[u8], limits: &Limits) -> String {
        unpack_gzip(bytes, limits).unwrap_err().to_string()
    }

    #[test]
    fn members_are_joined_and_trailing_zeros_are_skipped() {
        let two = [packed(b"one, "), packed(b""), packed(b"two"), vec![0; 7]].concat();
        assert_eq!(unpack_gzip(&two, &Limits::default()).unwrap(), &b"one, two"[..]);
        let text = message(&[two, b"?".to_vec()].concat(), &Limits::default());
        assert_eq!(text, "8 bytes follow the gzip data; copy the file again");
    }

    #[test]
    fn cuts_and_changed_bits_are_detected_or_change_no_content() {
        let content: Vec<u8> = (0..2000_u32).map(|i| (i * i % 251) as u8).collect();
        let bytes = packed(&content);
        for end in 2..bytes.len() {
            let text = message(&bytes[..end], &Limits::default());
            assert!(text.contains("it is truncated: copy it again"), "{end}: {text}");
        }
        // Behind the header of 10 bytes all but a few bits of padding is content or checked.
        let mut unnoticed = 0;
        for at in 10..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 4;
            if let Ok(read) = unpack_gzip(&changed, &Limits::default()) {
                assert_eq!(read, &content[..], "byte {at}");
                unnoticed += 1;
            }
        }
        assert!(unnoticed <= 1);
        let mut changed = bytes.clone();
        changed[bytes.len() - 5] ^= 1;
        assert!(message(&changed, &Limits::default()).contains("damaged after 2000 unpacked"));
    }

    #[test]
    fn decompression_stops_at_its_limit() {
        let bomb = packed(&vec![0; 1 << 22]);
        assert!(bomb.len() < 5000);
        let limits = Limits { max_bytes: 1 << 20, ..Limits::default() };
        let text = message(&bomb, &limits);
        assert!(text.starts_with("the unpacked file has 10"), "{text}");
        assert!(text.ends_with("more than the limit max_bytes = 1048576"), "{text}");
        let limits = Limits { max_bytes: 1 << 22, ..Limits::default() };
        assert_eq!(unpack_gzip(&bomb, &limits).unwrap().len(), 1 << 22);
        let limits = Limits { max_bytes: 100, ..Limits::default() };
        assert!(message(&bomb, &limits).starts_with("the file has"));
        // members of 2^24 equal bytes each
        let bomb = packed(&vec![0; 1 << 24]).repeat(5);
        let text = message(&bomb, &Limits::default());
        assert!(text.contains(" to at least 671"), "{text}");
        assert!(text.contains("more than 400 times its compressed size"), "{text}");
    }

    #[test]
    fn elements_of_an_idx_header_are_limited_before_the_data() {
        let start = [&[0, 0, 8, 2][..], &1000_u32.to_be_bytes(), &1000_u32.to_be_bytes()].concat();
        let limits = Limits { max_elements: 999_999, ..Limits::default() };
        // without the data: they are not read
        let text = message(&packed(&start), &limits);
        assert_eq!(
            text,
            "the array has 1000000 elements, more than the limit max_elements = 999999"
        );
    }
}

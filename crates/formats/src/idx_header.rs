//! The header of IDX files, before their data are decompressed.

/// The number of elements that an IDX header at the start of a file declares.
pub(crate) fn declared_elements(start: &[u8]) -> Option<u64> {
    header(start).map(|(elements, _)| elements.unwrap_or(u64::MAX))
}

/// The declared number of elements, none beyond 64 bits, and what follows the header.
pub(crate) fn header(bytes: &[u8]) -> Option<(Option<u64>, &[u8])> {
    let (start, rest) = bytes.split_first_chunk::<4>()?;
    let [0, 0, 0x08, axes @ 1..=255] = *start else { return None };
    let (lengths, data) = rest.split_at_checked(4 * usize::from(axes))?;
    let elements = lengths.as_chunks::<4>().0.iter().try_fold(1_u64, |product, length| {
        product.checked_mul(u64::from(u32::from_be_bytes(*length)))
    });
    Some((elements, data))
}

use crate::{ArrayName, FormatError};

/// What a reader may spend on one file.
///
/// Every limit is tested before the memory is allocated, and sizes that a file declares about
/// itself are never trusted further than its actual bytes bear out. The defaults are generous: a
/// caller who knows how much memory there is passes [`Limits::for_memory`].
///
/// ```
/// use dpscope_formats::Limits;
///
/// let limits = Limits { max_arrays: 16, ..Limits::for_memory(1 << 30) };
/// assert_eq!(limits.max_elements, 1 << 26);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Elements of one array; in `read_npz` and `read_safetensors`, of all arrays together.
    pub max_elements: u64,
    /// Bytes of the file, and of one array once it is decompressed.
    pub max_bytes: u64,
    /// Arrays of one npz or safetensors file; columns of one csv file.
    pub max_arrays: u64,
    /// Bytes of a name: of an array or of a csv column.
    pub max_name_bytes: u64,
    /// Bytes of an npy or safetensors header.
    pub max_header_bytes: u64,
    /// Axes of one array. NumPy's own limit is 64.
    pub max_dimensions: u64,
    /// Bytes of one csv cell.
    pub max_cell_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_elements: 1 << 31,
            max_bytes: 1 << 34,
            max_arrays: 1 << 16,
            max_name_bytes: 1 << 12,
            max_header_bytes: 1 << 24,
            max_dimensions: 64,
            max_cell_bytes: 1 << 12,
        }
    }
}

impl Limits {
    /// Limits under which reading takes at most about `memory_bytes` besides the file's own bytes.
    ///
    /// An element takes 8 bytes, and 8 more while Fortran order is turned into C order.
    #[must_use]
    pub fn for_memory(memory_bytes: u64) -> Self {
        let default = Self::default();
        Self {
            max_elements: default.max_elements.min(memory_bytes / 16),
            max_bytes: default.max_bytes.min(memory_bytes),
            max_header_bytes: default.max_header_bytes.min(memory_bytes / 16),
            ..default
        }
    }

    /// Limits of a web page, a tab of which has little memory: 128 MiB per file, 8 million numbers.
    #[must_use]
    pub fn for_page() -> Self {
        Self { max_arrays: 1 << 10, ..Self::for_memory(128 << 20) }
    }

    pub(crate) fn file(&self, bytes: &[u8]) -> Result<(), FormatError> {
        self.length(bytes.len() as u64)
    }

    pub(crate) fn length(&self, bytes: u64) -> Result<(), FormatError> {
        within("the file", "bytes", bytes, "max_bytes", self.max_bytes)
    }

    pub(crate) fn elements(&self, array: &ArrayName, elements: u64) -> Result<(), FormatError> {
        within(array, "elements", elements, "max_elements", self.max_elements)
    }

    pub(crate) fn name(&self, name: &str) -> Result<(), FormatError> {
        let bytes = name.len() as u64;
        within(
            ArrayName::of(name),
            "bytes in its name",
            bytes,
            "max_name_bytes",
            self.max_name_bytes,
        )
    }

    pub(crate) fn arrays(&self, arrays: u64) -> Result<(), FormatError> {
        within("the file", "arrays", arrays, "max_arrays", self.max_arrays)
    }

    pub(crate) fn header(&self, what: impl ToString, bytes: u64) -> Result<(), FormatError> {
        within(what, "bytes in its header", bytes, "max_header_bytes", self.max_header_bytes)
    }
}

/// Size up to which content may have any compression ratio, bytes.
const PLAIN_BYTES: u64 = 64 << 20;
/// Largest compression ratio of larger content. Deflate reaches 1,032 on equal bytes; data with any
/// information stay far below.
const MAX_RATIO: u64 = 400;

/// Refuses content that is nearly all one byte, before it takes memory: `unpacked` bytes from `packed`.
pub(crate) fn ratio(place: impl ToString, unpacked: u64, packed: u64) -> Result<(), FormatError> {
    if unpacked <= PLAIN_BYTES || unpacked <= packed.saturating_mul(MAX_RATIO) {
        return Ok(());
    }
    let place = place.to_string();
    Err(FormatError::CompressionRatio { place, unpacked, packed, limit: MAX_RATIO })
}

pub(crate) fn within(
    place: impl ToString,
    unit: &'static str,
    value: u64,
    setting: &'static str,
    limit: u64,
) -> Result<(), FormatError> {
    if value <= limit {
        return Ok(());
    }
    Err(FormatError::LimitExceeded { place: place.to_string(), unit, value, setting, limit })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_includes_its_own_value() {
        assert!(within("x", "bytes", 7, "max_bytes", 7).is_ok());
        let error = within("the file", "bytes", 8, "max_bytes", 7).unwrap_err();
        assert_eq!(error.to_string(), "the file has 8 bytes, more than the limit max_bytes = 7");
    }

    #[test]
    fn memory_bounds_elements_and_never_raises_the_defaults() {
        assert_eq!(Limits::for_memory(u64::MAX), Limits::default());
        assert_eq!(Limits::for_memory(1600).max_elements, 100);
        assert_eq!(Limits::for_memory(0).max_bytes, 0);
    }
}

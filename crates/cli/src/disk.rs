//! Whether there is a disk.

/// Whether there are files outside of memory; a page has none.
pub(crate) const HAS_DISK: bool = cfg!(feature = "native");

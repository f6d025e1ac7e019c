//! What a library writes when it is dropped after a failure.

use std::io::{Result, Seek, SeekFrom, Write};

/// A file of which everything after a failure is dropped.
///
/// `ZipWriter` writes the end of its archive when it is dropped, also after a failure, and prints an error
/// if it cannot.
#[derive(Debug)]
pub(super) struct UntilFailure<W> {
    to: W,
    has_failed: bool,
}

impl<W> UntilFailure<W> {
    pub(super) fn new(to: W) -> Self {
        UntilFailure { to, has_failed: false }
    }

    /// The file.
    pub(super) fn into_inner(self) -> W {
        self.to
    }

    /// The result of an operation, or `instead` after a failure.
    fn unless_failed<T>(
        &mut self,
        instead: T,
        operation: impl FnOnce(&mut W) -> Result<T>,
    ) -> Result<T> {
        if self.has_failed {
            return Ok(instead);
        }
        operation(&mut self.to).inspect_err(|error| {
            // writers repeat what was interrupted
            self.has_failed = error.kind() != std::io::ErrorKind::Interrupted;
        })
    }
}

impl<W: Write> Write for UntilFailure<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.unless_failed(bytes.len(), |to| to.write(bytes))
    }

    fn flush(&mut self) -> Result<()> {
        self.unless_failed((), Write::flush)
    }
}

impl<W: Seek> Seek for UntilFailure<W> {
    fn seek(&mut self, place: SeekFrom) -> Result<u64> {
        self.unless_failed(0, |to| to.seek(place))
    }
}

//! Encoded real rows, which nobody reads without leaving their name.

use std::collections::BTreeSet;

use crate::trace::Reader;

/// Encoded rows of a world.
#[derive(Debug, Clone)]
pub(super) struct RealRows {
    width: usize,
    values: Vec<f64>,
}

/// Who read real rows.
#[derive(Debug, Clone, Default)]
pub(super) struct Readers(BTreeSet<Reader>);

impl RealRows {
    pub(super) fn new(width: usize, values: Vec<f64>) -> Self {
        RealRows { width, values }
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.values.len() / self.width
    }

    /// A row, for a reader that is noted.
    pub(super) fn row(&self, row: u32, reader: Reader, readers: &mut Readers) -> &[f64] {
        self.note(reader, readers);
        let at = row as usize * self.width;
        &self.values[at..at + self.width]
    }

    /// Notes a reader of what was derived from rows.
    pub(super) fn note(&self, reader: Reader, readers: &mut Readers) {
        readers.0.insert(reader);
    }
}

impl Readers {
    pub(super) fn list(&self) -> Vec<Reader> {
        self.0.iter().copied().collect()
    }
}

use sha2::{Digest, Sha256};

use super::load::LoadSummary;
use crate::model::Shape;

/// Labelled examples of one shape, in packed form.
///
/// A binary feature takes one bit and a pixel one byte; [`Examples::fill`] unpacks selected
/// records. Held-out examples, if any, are used for accuracy only: no model is trained on them.
#[derive(Debug, Clone, PartialEq)]
pub struct Examples {
    name: String,
    shape: Shape,
    classes: usize,
    labels: Vec<u32>,
    features: Features,
    digest: String,
    /// The record of the file that each record was read from; none if they are the same.
    origins: Option<Vec<u32>>,
    /// The name of the column of clients, and the client of each record.
    clients: Option<(String, Vec<u32>)>,
    held_out: Option<Box<Examples>>,
    summary: Option<LoadSummary>,
}

/// The features of all records, row by row.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Features {
    /// 0 or 1; each row starts at a byte boundary, with its first feature in the lowest bit.
    Bits(Vec<u8>),
    /// Pixels; a byte represents 2·byte/255 − 1.
    Bytes(Vec<u8>),
    /// Unscaled values.
    Floats(Vec<f32>),
}

/// The packed features, for a device that unpacks them itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Packed<'a> {
    /// Binary features; a row takes `row_bytes` bytes, with its first feature in the lowest bit.
    Bits {
        /// Bytes per row.
        row_bytes: usize,
        /// All rows.
        bytes: &'a [u8],
    },
    /// Pixels; a byte represents 2·byte/255 − 1.
    Bytes(&'a [u8]),
    /// Unscaled values.
    Floats(&'a [f32]),
}

impl Features {
    /// Packs rows of 0 and 1.
    pub(super) fn bits(rows: impl Iterator<Item = bool>, features: usize) -> Self {
        let mut packed = Vec::new();
        for (index, value) in rows.enumerate() {
            let place = index % features;
            if place.is_multiple_of(8) {
                packed.push(0);
            }
            if let Some(byte) = packed.last_mut() {
                *byte |= u8::from(value) << (place % 8);
            }
        }
        Self::Bits(packed)
    }

    /// The rows of `records`, in that order.
    pub(super) fn rows(&self, records: &[u32], features: usize) -> Self {
        fn selected<T: Copy>(all: &[T], records: &[u32], row: usize) -> Vec<T> {
            let mut rows = Vec::with_capacity(records.len() * row);
            for &record in records {
                rows.extend_from_slice(&all[record as usize * row..][..row]);
            }
            rows
        }
        match self {
            Self::Bits(all) => Self::Bits(selected(all, records, features.div_ceil(8))),
            Self::Bytes(all) => Self::Bytes(selected(all, records, features)),
            Self::Floats(all) => Self::Floats(selected(all, records, features)),
        }
    }

    fn hash(&self, hasher: &mut Sha256) {
        match self {
            Self::Bits(bytes) => {
                hasher.update(b"bits\n");
                hasher.update(bytes);
            }
            Self::Bytes(bytes) => {
                hasher.update(b"bytes\n");
                hasher.update(bytes);
            }
            Self::Floats(values) => {
                hasher.update(b"floats\n");
                for chunk in values.chunks(1024) {
                    let bytes: Vec<u8> = chunk.iter().flat_map(|v| v.to_le_bytes()).collect();
                    hasher.update(&bytes);
                }
            }
        }
    }
}

/// The value of a pixel, from −1 to 1.
fn pixel(byte: u8) -> f32 {
    (2 * i32::from(byte) - 255) as f32 / 255.0
}

impl Examples {
    /// Examples from as many feature rows as labels; labels are below `classes`.
    pub(super) fn new(
        name: &str,
        shape: Shape,
        classes: usize,
        labels: Vec<u32>,
        features: Features,
    ) -> Self {
        let mut hasher = Sha256::new();
        let Shape { channels, height, width } = shape;
        hasher.update(format!(
            "dpscope.examples/1\n{} {channels} {height} {width} {classes}\n",
            labels.len()
        ));
        hasher.update(labels.iter().flat_map(|label| label.to_le_bytes()).collect::<Vec<u8>>());
        features.hash(&mut hasher);
        let digest = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        let name = name.to_owned();
        let (origins, clients, held_out, summary) = (None, None, None, None);
        Examples {
            name,
            shape,
            classes,
            labels,
            features,
            digest,
            origins,
            clients,
            held_out,
            summary,
        }
    }

    /// These examples under another name.
    pub(crate) fn with_name(self, name: &str) -> Self {
        Examples { name: name.to_owned(), ..self }
    }

    pub(super) fn with_held_out(self, held_out: Option<Examples>) -> Self {
        let held_out = held_out.filter(|part| !part.is_empty()).map(Box::new);
        Examples { held_out, ..self }
    }

    /// With the client of each record, which the digest then covers.
    pub(super) fn with_clients(self, column: &str, of_records: Vec<u32>) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(&self.digest);
        hasher.update(of_records.iter().flat_map(|id| id.to_le_bytes()).collect::<Vec<u8>>());
        let digest = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Examples { digest, clients: Some((column.to_owned(), of_records)), ..self }
    }

    /// The client of each record, from 0, if they were read from a column; each has records.
    #[must_use]
    pub fn clients(&self) -> Option<&[u32]> {
        self.clients.as_ref().map(|(_, of_records)| &of_records[..])
    }

    /// The column that the clients were read from.
    #[must_use]
    pub fn client_column(&self) -> Option<&str> {
        self.clients.as_ref().map(|(column, _)| &column[..])
    }

    pub(super) fn with_load_summary(self, summary: LoadSummary) -> Self {
        Examples { summary: Some(summary), ..self }
    }

    /// Examples with unscaled features, row by row; `None` if the numbers of labels and features do
    /// not match, a label is not below `classes`, or a feature is not finite.
    #[must_use]
    pub fn from_values(
        name: &str,
        shape: Shape,
        classes: usize,
        labels: Vec<u32>,
        values: Vec<f32>,
    ) -> Option<Self> {
        let fits = values.len() == labels.len().checked_mul(shape.len())?
            && labels.iter().all(|&label| (label as usize) < classes)
            && values.iter().all(|value| value.is_finite());
        fits.then(|| Examples::new(name, shape, classes, labels, Features::Floats(values)))
    }

    /// Some of the records, in the given order, without held-out ones; `None` if one does not exist.
    #[must_use]
    pub fn select(&self, name: &str, records: &[u32]) -> Option<Self> {
        let label = |&record: &u32| self.labels.get(record as usize).copied();
        let labels = records.iter().map(label).collect::<Option<Vec<u32>>>()?;
        let features = self.features.rows(records, self.shape.len());
        Some(Examples::new(name, self.shape, self.classes, labels, features))
    }

    /// These records with other labels; `None` if their number differs, or one is not below
    /// [`classes`](Self::classes).
    #[must_use]
    pub fn with_labels(&self, name: &str, labels: Vec<u32>) -> Option<Self> {
        let fits = labels.len() == self.labels.len()
            && labels.iter().all(|&label| (label as usize) < self.classes);
        let features = self.features.clone();
        fits.then(|| Examples::new(name, self.shape, self.classes, labels, features))
    }

    pub(super) fn with_origins(self, origins: Vec<u32>) -> Self {
        Examples { origins: Some(origins), ..self }
    }

    /// Number of the record in its file, from 0; `record` itself for synthetic data.
    #[must_use]
    pub fn origin(&self, record: u32) -> u32 {
        self.origins.as_ref().map_or(record, |origins| origins[record as usize])
    }

    /// Number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are no records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Shape of a record; a flat vector of n features has shape (n, 1, 1).
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Number of classes; all labels are below it.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Name of the synthetic data set or of the file.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Hexadecimal SHA-256 of shape, number of classes, labels and packed features, without the
    /// held-out records.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The label of each record.
    #[must_use]
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// The packed features.
    #[must_use]
    pub fn packed(&self) -> Packed<'_> {
        match &self.features {
            Features::Bits(bytes) => {
                Packed::Bits { row_bytes: self.shape.len().div_ceil(8), bytes }
            }
            Features::Bytes(bytes) => Packed::Bytes(bytes),
            Features::Floats(values) => Packed::Floats(values),
        }
    }

    /// Records that no model is trained on, used for accuracy.
    #[must_use]
    pub fn held_out(&self) -> Option<&Examples> {
        self.held_out.as_deref()
    }

    /// Summary of how a file was loaded; `None` for synthetic data.
    #[must_use]
    pub fn load_summary(&self) -> Option<&LoadSummary> {
        self.summary.as_ref()
    }

    /// Replaces the contents of `examples` and `labels` by the rows of `records`, in that order; a
    /// record may occur more than once.
    ///
    /// Binary features become 0 and 1, pixels 2·byte/255 − 1 (correctly rounded); other values are
    /// unchanged. Every record must be below [`Examples::len`].
    ///
    /// # Guarantee
    /// Unpacking inverts packing bit for bit (`unit::unpacking_inverts_packing`).
    pub fn fill(&self, records: &[u32], examples: &mut Vec<f32>, labels: &mut Vec<u32>) {
        examples.clear();
        examples.reserve(records.len() * self.shape.len());
        labels.clear();
        labels.extend(records.iter().map(|&record| self.append(record, examples)));
    }

    /// Appends the features of a record, as [`Examples::fill`] does, and returns its label.
    pub fn append(&self, record: u32, examples: &mut Vec<f32>) -> u32 {
        let (features, record) = (self.shape.len(), record as usize);
        match &self.features {
            Features::Bits(bytes) => {
                let row_bytes = features.div_ceil(8);
                let end = examples.len() + features;
                for byte in &bytes[record * row_bytes..][..row_bytes] {
                    examples.extend((0..8).map(|bit| f32::from(byte >> bit & 1)));
                }
                examples.truncate(end);
            }
            Features::Bytes(bytes) => {
                let row = &bytes[record * features..][..features];
                examples.extend(row.iter().map(|&byte| pixel(byte)));
            }
            Features::Floats(values) => {
                examples.extend_from_slice(&values[record * features..][..features]);
            }
        }
        self.labels[record]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(set: &Examples, records: &[u32]) -> (Vec<f32>, Vec<u32>) {
        let (mut examples, mut labels) = (vec![7.0; 3], vec![9]);
        set.fill(records, &mut examples, &mut labels);
        (examples, labels)
    }

    fn flat(features: usize) -> Shape {
        Shape { channels: features, height: 1, width: 1 }
    }

    #[test]
    fn unpacking_inverts_packing() {
        for features in [1, 7, 8, 9, 600] {
            let value = |record: usize, feature: usize| (record * 31 + feature * 7) % 5 < 2;
            let all = (0..4 * features).map(|i| value(i / features, i % features));
            let bits = Features::bits(all, features);
            let set = Examples::new("x", flat(features), 2, vec![0, 1, 1, 0], bits);
            let (examples, labels) = filled(&set, &[2, 0, 2]);
            assert_eq!(labels, [1, 0, 1]);
            let expected = [2, 0, 2].into_iter().flat_map(|record| {
                (0..features).map(move |feature| f32::from(u8::from(value(record, feature))))
            });
            assert_eq!(examples, expected.collect::<Vec<f32>>());
            let Packed::Bits { row_bytes, bytes } = set.packed() else { panic!("no bits") };
            assert_eq!((row_bytes, bytes.len()), (features.div_ceil(8), 4 * row_bytes));
        }
        let set =
            Examples::new("x", flat(2), 2, vec![0, 1], Features::Bytes(vec![0, 255, 51, 128]));
        assert_eq!(filled(&set, &[1, 0]).0, [-0.6, 1.0 / 255.0, -1.0, 1.0]);
        let set = Examples::new("x", flat(1), 2, vec![0, 1], Features::Floats(vec![0.25, -3.5]));
        assert_eq!(filled(&set, &[1, 1, 0]).0, [-3.5, -3.5, 0.25]);
        assert_eq!(filled(&set, &[]), (vec![], vec![]));
    }

    #[test]
    fn digests_depend_on_content_only() {
        let set = |shape, classes, labels: &[u32], features| {
            Examples::new("x", shape, classes, labels.to_vec(), features).digest
        };
        let bytes = || Features::Bytes(vec![1, 0]);
        let digests = [
            set(flat(1), 2, &[0, 1], bytes()),
            set(flat(1), 3, &[0, 1], bytes()),
            set(flat(1), 2, &[1, 0], bytes()),
            set(flat(1), 2, &[0, 1], Features::Bits(vec![1, 0])),
            set(flat(1), 2, &[0, 1], Features::Bytes(vec![0, 1])),
            set(flat(1), 2, &[0, 1], Features::Floats(vec![1.0, 0.0])),
            set(flat(2), 2, &[0], bytes()),
        ];
        let distinct: std::collections::BTreeSet<&String> = digests.iter().collect();
        assert_eq!(distinct.len(), digests.len());
        assert!(digests.iter().all(|digest| digest.len() == 64));
        let named = Examples::new("y", flat(1), 2, vec![0, 1], bytes());
        assert_eq!(named.digest(), digests[0], "the name does not enter the digest");
    }
}

//! Where canaries start: records of the data, which are left out of the training.

use dpscope_core::random::{Purpose, Words};

use super::error::OptimizationError;
use crate::data::Examples;
use crate::metagradient::{Records, SparseRecords, SparseRow};

/// Streams of the choice of records and of labels.
const CHOICE: u64 = 0;
const LABELS: u64 = 1;

/// What the labels of canaries are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StartLabels {
    /// The labels of the records.
    #[default]
    Own,
    /// Another class, uniformly.
    Other,
}

/// Canaries at records of the data, and the other records, on which models are trained.
///
/// # Guarantee
/// No record is both (`unit::canaries_are_not_in_the_training_data`).
#[derive(Debug, Clone)]
pub struct CanaryStart<'a> {
    examples: &'a Examples,
    base: Vec<u32>,
    /// The records of `base`, if most features are 0.
    sparse: Option<SparseRecords<f32>>,
    /// The records that canaries start from.
    pub records: Vec<u32>,
    /// Their features.
    pub canaries: Vec<f32>,
    /// Labels of the canaries.
    pub labels: Vec<u32>,
}

impl<'a> CanaryStart<'a> {
    /// Draws `count` canaries, and `base` other records or all of them.
    ///
    /// # Errors
    /// Fewer records than that.
    pub fn draw(
        examples: &'a Examples,
        count: usize,
        base: Option<usize>,
        labels: StartLabels,
        seed: u64,
    ) -> Result<Self, OptimizationError> {
        let records = examples.len();
        let needed = count.saturating_add(base.unwrap_or(1));
        if needed > records {
            return Err(OptimizationError::TooFewExamples { records, count, needed });
        }
        let mut order: Vec<u32> = (0..records as u32).collect();
        Words::new(seed, Purpose::MetaStart, CHOICE).shuffle(&mut order);
        let mut others = order.split_off(count);
        others.truncate(base.unwrap_or(records));
        let mut canaries = Vec::with_capacity(count * examples.shape().len());
        let mut words = Words::new(seed, Purpose::MetaStart, LABELS);
        let classes = examples.classes() as u32;
        let label = |&record: &u32| {
            let own = examples.append(record, &mut canaries);
            match labels {
                StartLabels::Own => own,
                StartLabels::Other => (own + 1 + words.below(classes - 1)) % classes,
            }
        };
        let labels = order.iter().map(label).collect();
        let sparse = None;
        let start =
            CanaryStart { examples, base: others, sparse, records: order, canaries, labels };
        let sparse = SparseRecords::read(&start, start.base_records());
        Ok(CanaryStart { sparse, ..start })
    }

    /// Number of records that models are trained on besides canaries.
    #[must_use]
    pub fn base_records(&self) -> u32 {
        self.base.len() as u32
    }
}

impl Records<f32> for CanaryStart<'_> {
    fn append(&self, record: u32, examples: &mut Vec<f32>) -> u32 {
        self.examples.append(self.base[record as usize], examples)
    }

    fn sparse(&self, record: u32) -> Option<(SparseRow<'_, f32>, u32)> {
        let label = || self.examples.labels()[self.base[record as usize] as usize];
        self.sparse.as_ref().map(|sparse| (sparse.row(record), label()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::SyntheticData;

    #[test]
    fn canaries_are_not_in_the_training_data() {
        let data = SyntheticData::LocationLike.generate(300, 0).unwrap();
        let start = CanaryStart::draw(&data, 40, None, StartLabels::Own, 3).unwrap();
        let mut all: Vec<u32> = start.base.iter().chain(&start.records).copied().collect();
        all.sort_unstable();
        assert_eq!(all, (0..300).collect::<Vec<u32>>());
        let mut row = Vec::new();
        for (place, &record) in start.records.iter().enumerate() {
            row.clear();
            assert_eq!(data.append(record, &mut row), start.labels[place]);
            assert_eq!(row, start.canaries[place * 446..][..446]);
        }
        let few = CanaryStart::draw(&data, 40, Some(50), StartLabels::Other, 3).unwrap();
        assert_eq!((few.base_records(), &few.records), (50, &start.records));
        let differ = few.labels.iter().zip(&start.labels).filter(|(one, other)| one != other);
        assert_eq!(differ.count(), 40, "mislabelled canaries have another label");
        assert!(CanaryStart::draw(&data, 290, Some(11), StartLabels::Own, 3).is_err());
    }
}

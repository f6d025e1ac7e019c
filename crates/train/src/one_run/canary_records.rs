//! Canaries drawn from the records of the data.

use dpscope_core::random::{Purpose, Words};
use serde::{Deserialize, Serialize};

use crate::TrainError;
use crate::data::Examples;

/// Stream of random words of other labels.
const LABELS: u64 = 2;

/// Kinds of canaries from records that nothing else uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CanaryKind {
    /// Records with their own labels.
    Random,
    /// Records with a wrong label, chosen uniformly; easier to detect.
    Mislabelled,
}

impl CanaryKind {
    /// Every kind.
    pub const ALL: [CanaryKind; 2] = [CanaryKind::Random, CanaryKind::Mislabelled];

    /// The name of the canaries in descriptions.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            CanaryKind::Random => "random",
            CanaryKind::Mislabelled => "mislabelled",
        }
    }

    /// The kind of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        CanaryKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The last `count` of the first `needed` records as canaries.
    ///
    /// # Errors
    /// Fewer records; wrong labels of data with one class.
    pub fn last_records(
        self,
        base: &Examples,
        (needed, count): (usize, usize),
        seed: u64,
    ) -> Result<Examples, TrainError> {
        let missing = || TrainError::TooFewCanaryRecords {
            data: base.name().to_owned(),
            found: base.len(),
            needed,
        };
        let whole = u32::try_from(needed).map_err(|_| missing())?;
        let first = needed.checked_sub(count).ok_or_else(missing)?;
        let records: Vec<u32> = (first as u32..whole).collect();
        let canaries = base.select(self.name(), &records).ok_or_else(missing)?;
        if self == CanaryKind::Random {
            return Ok(canaries);
        }
        let others = canaries.classes().saturating_sub(1) as u32;
        if others == 0 {
            return Err(TrainError::OneClass { data: base.name().to_owned() });
        }
        let mut words = Words::new(seed, Purpose::SyntheticData, LABELS);
        let mut other = |label: u32| {
            let other = words.below(others);
            other + u32::from(other >= label)
        };
        let labels = canaries.labels().iter().map(|&label| other(label)).collect();
        canaries.with_labels(self.name(), labels).ok_or_else(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::SyntheticData;

    #[test]
    fn canaries_are_the_last_records_with_their_own_or_another_label() {
        let base = SyntheticData::LocationLike.generate(60, 10).unwrap();
        let own = CanaryKind::Random.last_records(&base, (50, 20), 3).unwrap();
        let wrong = CanaryKind::Mislabelled.last_records(&base, (50, 20), 3).unwrap();
        assert_eq!((own.len(), wrong.len()), (20, 20));
        assert_eq!(own.labels(), &base.labels()[30..50]);
        let differs = own.labels().iter().zip(wrong.labels()).all(|(own, wrong)| own != wrong);
        assert!(differs && wrong.labels().iter().all(|&label| label < 30));
        let other = CanaryKind::Mislabelled.last_records(&base, (50, 20), 4).unwrap();
        assert_ne!(other.labels(), wrong.labels(), "the seed draws the labels");
        let missing = CanaryKind::Random.last_records(&base, (61, 20), 3);
        assert!(matches!(missing, Err(TrainError::TooFewCanaryRecords { needed: 61, .. })));
    }
}

//! Records of which most features are 0.

use super::training::Records;
use crate::gradient::SparseRow;
use crate::layers::Scalar;

/// The features of records other than 0.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseRecords<N> {
    /// Where each record ends.
    ends: Vec<usize>,
    places: Vec<u32>,
    values: Vec<N>,
}

impl<N: Scalar> SparseRecords<N> {
    /// Largest share of features other than 0: beyond it, products with zeros take less time.
    pub const MAX_DENSITY: f64 = 0.25;
    /// Maximum number of features other than 0; they take 8 bytes each in f32.
    pub const MAX_NUMBERS: usize = 1 << 23;

    /// Reads the first `count` records. `None` if too many features are not 0, or some are not
    /// finite.
    pub fn read<R: Records<N> + ?Sized>(records: &R, count: u32) -> Option<Self> {
        let mut found = SparseRecords { ends: Vec::new(), places: Vec::new(), values: Vec::new() };
        let (mut row, mut features) = (Vec::new(), 0);
        for record in 0..count {
            row.clear();
            records.append(record, &mut row);
            features += row.len();
            let is_finite = |value: &N| value.to_f64().is_finite();
            if !row.iter().all(is_finite) || found.values.len() > Self::MAX_NUMBERS {
                return None;
            }
            for (place, &value) in (0..).zip(&row) {
                if value.to_f64() != 0.0 {
                    found.places.push(place);
                    found.values.push(value);
                }
            }
            found.ends.push(found.values.len());
        }
        let is_sparse = found.values.len() as f64 <= Self::MAX_DENSITY * features as f64;
        is_sparse.then_some(found)
    }

    /// A record.
    #[must_use]
    pub fn row(&self, record: u32) -> SparseRow<'_, N> {
        let record = record as usize;
        let start = record.checked_sub(1).map_or(0, |before| self.ends[before]);
        let range = start..self.ends[record];
        SparseRow { places: &self.places[range.clone()], values: &self.values[range] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Rows([[f32; 8]; 3]);

    impl Records<f32> for Rows {
        fn append(&self, record: u32, examples: &mut Vec<f32>) -> u32 {
            examples.extend_from_slice(&self.0[record as usize]);
            0
        }
    }

    #[test]
    fn records_consist_of_their_features_other_than_0() {
        let mut rows = Rows([[0.0; 8]; 3]);
        (rows.0[0][7], rows.0[2][1], rows.0[2][3], rows.0[1][5]) = (1.0, 2.0, -3.0, -0.0);
        let found = SparseRecords::read(&rows, 3).expect("few are not 0");
        assert_eq!(found.row(0), SparseRow { places: &[7], values: &[1.0] });
        assert_eq!(found.row(1), SparseRow { places: &[], values: &[] });
        assert_eq!(found.row(2), SparseRow { places: &[1, 3], values: &[2.0, -3.0] });
        rows.0[1][5] = f32::INFINITY;
        assert_eq!(SparseRecords::read(&rows, 3), None, "0 · ∞ is not 0");
        rows.0[1] = [1.0; 8];
        assert_eq!(SparseRecords::read(&rows, 3), None, "most are not 0");
    }
}

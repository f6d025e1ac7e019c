//! Distances between rows.

use crate::table::{Rows, Schema};

/// Euclidean distance of rows: numbers in units of their public range, 1 for another category.
///
/// # Example
/// ```
/// use dpscope_synth::attack::RowDistance;
/// use dpscope_synth::table::{Column, ColumnKind, Rows, Schema};
/// let names = ["x", "y", "z"].map(String::from).to_vec();
/// let columns = [("a", ColumnKind::Number { low: 0.0, high: 10.0 }), ("b", ColumnKind::Category { names })];
/// let columns = columns.map(|(name, kind)| Column { name: name.to_string(), kind });
/// let distance = RowDistance::new(&Schema::new(columns.to_vec())?);
/// let rows = Rows { columns: 2, values: vec![1.0, 0.0, 9.0, 2.0] };
/// assert_eq!(distance.nearest(&[9.0, 0.0], &rows), 0.8);
/// assert_eq!(distance.within(&[1.0, 0.0], &rows, 0.5), 1);
/// # Ok::<(), dpscope_synth::table::SchemaError>(())
/// ```
#[derive(Debug, Clone)]
pub struct RowDistance {
    /// Width of the range of a number; none for a category.
    ranges: Vec<Option<f64>>,
}

impl RowDistance {
    /// The distance of rows of a schema.
    #[must_use]
    pub fn new(schema: &Schema) -> Self {
        let columns = schema.columns().iter();
        RowDistance {
            ranges: columns.map(|c| c.kind.bounds().map(|[low, high]| high - low)).collect(),
        }
    }

    /// The squared distance of two rows.
    #[must_use]
    pub fn squared(&self, one: &[f64], other: &[f64]) -> f64 {
        let columns = self.ranges.iter().zip(one.iter().zip(other));
        columns
            .map(|(range, (a, b))| match range {
                Some(range) if *range > 0.0 => ((a - b) / range) * ((a - b) / range),
                _ => f64::from(u8::from(a != b)),
            })
            .sum()
    }

    /// The distance to the nearest of these rows; infinite without rows.
    #[must_use]
    pub fn nearest(&self, row: &[f64], rows: &Rows) -> f64 {
        rows.iter().map(|other| self.squared(row, other)).fold(f64::INFINITY, f64::min).sqrt()
    }

    /// The mean distance of a row to its nearest others.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `row` | the row | – |
    /// | `position` | its own position among the rows, which is left out | any |
    /// | `rows` | the rows | – |
    /// | `count` | number of nearest rows, all if there are fewer | at least 1 |
    #[must_use]
    pub fn isolation(&self, row: &[f64], position: usize, rows: &Rows, count: usize) -> f64 {
        let mut nearest: Vec<f64> = Vec::with_capacity(count + 1);
        for (at, other) in rows.iter().enumerate() {
            let squared = self.squared(row, other);
            let is_near = nearest.len() < count || nearest.last().is_some_and(|x| squared < *x);
            if at != position && is_near {
                nearest.insert(nearest.partition_point(|x| *x <= squared), squared);
                nearest.truncate(count);
            }
        }
        nearest.iter().map(|squared| squared.sqrt()).sum::<f64>() / nearest.len().max(1) as f64
    }

    /// How many of these rows are at most this far.
    #[must_use]
    pub fn within(&self, row: &[f64], rows: &Rows, radius: f64) -> u64 {
        rows.iter().filter(|other| self.squared(row, other) <= radius * radius).count() as u64
    }

    /// The largest possible distance.
    #[must_use]
    pub fn diameter(&self) -> f64 {
        (self.ranges.len() as f64).sqrt()
    }
}

/// How near real rows are to synthetic ones. It certifies nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nearness {
    /// Share of the synthetic rows that equal a real one.
    pub copied_share: f64,
    /// Median distance of a real row to its nearest synthetic one.
    pub median: f64,
    /// The smallest such distance.
    pub least: f64,
}

impl Nearness {
    /// The nearness of two tables; none if one has no rows.
    #[must_use]
    pub fn of(distance: &RowDistance, real: &Rows, synthetic: &Rows) -> Option<Self> {
        let mut distances: Vec<f64> =
            real.iter().map(|row| distance.nearest(row, synthetic)).collect();
        distances.sort_unstable_by(f64::total_cmp);
        let least = distances.first().copied().filter(|least| least.is_finite())?;
        let is_copied = |row: &&[f64]| real.iter().any(|other| other == *row);
        let copied = synthetic.iter().filter(is_copied).count();
        Some(Nearness {
            copied_share: copied as f64 / synthetic.len() as f64,
            median: distances[distances.len() / 2],
            least,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Column, ColumnKind};

    #[test]
    fn nearness_is_that_by_hand() {
        let kind = ColumnKind::Integer { low: 0, high: 10 };
        let schema = Schema::new(vec![Column { name: "a".to_string(), kind }]).unwrap();
        let distance = RowDistance::new(&schema);
        let rows = |values: &[f64]| Rows { columns: 1, values: values.to_vec() };
        let found = Nearness::of(&distance, &rows(&[1.0, 5.0, 9.0]), &rows(&[1.0, 1.0, 7.0, 8.0]));
        let expected = Nearness { copied_share: 0.5, median: 0.1, least: 0.0 };
        let found = found.unwrap();
        assert!((found.median - expected.median).abs() < 1e-12);
        assert_eq!(Nearness { median: 0.1, ..found }, expected);
        assert_eq!(Nearness::of(&distance, &rows(&[1.0]), &rows(&[])), None);
        assert!((distance.diameter() - 1.0).abs() < 1e-12);
    }
}

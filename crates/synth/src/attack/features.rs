//! Numbers that describe the released rows of a run.

use crate::table::{ColumnKind, Rows, Schema};

/// Bins of a histogram.
const BINS: usize = 5;
/// Largest domain whose cells are counted.
const MOST_CELLS: usize = 64;
/// Most categories of a column that are counted by name.
const MOST_NAMES: usize = 64;
/// Most columns with correlations of all pairs; of more columns, neighbours alone.
const MOST_PAIRED: usize = 64;

/// Features of released rows.
///
/// Counts of each cell of the domain (if it has at most 64) and of rows outside; per column of numbers
/// minimum, maximum, mean, median, variance and counts of five bins between the public bounds; per
/// column of categories the count of each name, or of the target's name alone if there are more than 64;
/// correlations of columns, where a category is whether it is the target's (of neighbours alone if there
/// are more than 64 columns); the squared distance from the target to the nearest row. All are finite.
#[derive(Debug, Clone)]
pub struct Features {
    /// Bounds of each column, categories by position.
    bounds: Vec<[f64; 2]>,
    /// Number of names of each column; none for numbers.
    names: Vec<Option<usize>>,
    /// Number of values of each column; none if the domain is not small.
    cells: Option<Vec<usize>>,
    target: Vec<f64>,
}

impl Features {
    /// Features of rows of a schema.
    ///
    /// | argument | meaning | shape |
    /// |---|---|---|
    /// | `schema` | public description of the columns | – |
    /// | `target` | the target row, categories by position | one value per column |
    #[must_use]
    pub fn new(schema: &Schema, target: &[f64]) -> Self {
        let columns = schema.columns().iter();
        let bounds: Vec<[f64; 2]> = columns
            .clone()
            .map(|column| {
                let last = column.kind.width().saturating_sub(1) as f64;
                column.kind.bounds().unwrap_or([0.0, last])
            })
            .collect();
        let sizes = columns.zip(&bounds).map(|(column, [low, high])| {
            let is_number = matches!(column.kind, ColumnKind::Number { .. });
            (!is_number && high - low < MOST_CELLS as f64).then(|| (high - low) as usize + 1)
        });
        let sizes: Option<Vec<usize>> = sizes.collect();
        let is_small = |sizes: &Vec<usize>| {
            let cells = sizes.iter().try_fold(1_usize, |all, size| all.checked_mul(*size));
            cells.is_some_and(|cells| cells <= MOST_CELLS)
        };
        let names = schema.columns().iter().map(|column| match &column.kind {
            ColumnKind::Category { names } => Some(names.len()),
            ColumnKind::Number { .. } | ColumnKind::Integer { .. } => None,
        });
        Features {
            bounds,
            names: names.collect(),
            cells: sizes.filter(is_small),
            target: target.to_vec(),
        }
    }

    /// Number of columns of a row.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.bounds.len()
    }

    /// Number of features.
    #[must_use]
    pub fn count(&self) -> usize {
        self.of(&Rows { columns: self.bounds.len(), values: Vec::new() }).len()
    }

    /// The rows of a small domain, in the order in which [`Features::of`] counts them; none of a large
    /// one. Rows outside are counted behind them.
    #[must_use]
    pub fn cells(&self) -> Option<Vec<Vec<f64>>> {
        let sizes = self.cells.as_ref()?;
        let all: usize = sizes.iter().product();
        let row = |cell: usize| {
            let mut rest = cell;
            let mut row: Vec<f64> = Vec::with_capacity(sizes.len());
            for (size, [low, _]) in sizes.iter().zip(&self.bounds).rev() {
                row.push(low + (rest % size) as f64);
                rest /= size;
            }
            row.reverse();
            row
        };
        Some((0..all).map(row).collect())
    }

    /// The target row, categories by position.
    #[must_use]
    pub fn target(&self) -> &[f64] {
        &self.target
    }

    /// The features of a run; a column without rows has zeros.
    #[must_use]
    pub fn of(&self, rows: &Rows) -> Vec<f64> {
        let mut features = self.cells.as_ref().map_or(Vec::new(), |sizes| self.counts(sizes, rows));
        let mut columns: Vec<Vec<f64>> =
            (0..self.bounds.len()).map(|at| rows.iter().map(|row| row[at]).collect()).collect();
        for (at, column) in columns.iter_mut().enumerate() {
            match self.names[at] {
                None => {
                    features.extend(summary(column));
                    features.extend(bins(column, self.bounds[at]));
                }
                Some(names) => {
                    column.iter_mut().for_each(|value| *value = self.is_of_target(at, *value));
                    let own = column.iter().sum();
                    features.extend(match names <= MOST_NAMES {
                        true => name_counts(rows, at, names),
                        false => vec![own],
                    });
                }
            }
        }
        for (at, one) in columns.iter().enumerate() {
            let others = if columns.len() <= MOST_PAIRED { columns.len() } else { at + 2 };
            let others = &columns[at + 1..others.min(columns.len())];
            features.extend(others.iter().map(|other| correlation(one, other)));
        }
        let distance = rows.iter().map(|row| self.distance(row)).fold(f64::INFINITY, f64::min);
        features.push(if distance.is_finite() { distance } else { 0.0 });
        // numbers near the largest one overflow, and a forest cannot split at NaN
        features.iter_mut().filter(|x| !x.is_finite()).for_each(|x| *x = f64::MAX);
        features
    }

    /// 1 for the target's category.
    fn is_of_target(&self, column: usize, value: f64) -> f64 {
        f64::from(u8::from(self.target.get(column) == Some(&value)))
    }

    /// The features of a run that may have failed, and whether it did: a failure is an outcome that an
    /// attacker sees too, equal for all failed runs.
    #[must_use]
    pub fn of_outcome(&self, rows: Option<&Rows>) -> Vec<f64> {
        let none = Rows { columns: self.bounds.len(), values: Vec::new() };
        let mut features = self.of(rows.unwrap_or(&none));
        features.push(if rows.is_none() { 1.0 } else { 0.0 });
        features
    }

    fn counts(&self, sizes: &[usize], rows: &Rows) -> Vec<f64> {
        let all: usize = sizes.iter().product();
        let mut counts = vec![0.0; all + 1];
        for row in rows.iter() {
            let mut cell = Some(0);
            for ((value, [low, high]), size) in row.iter().zip(&self.bounds).zip(sizes) {
                let is_inside = (*low..=*high).contains(value) && value.fract() == 0.0;
                cell = cell.filter(|_| is_inside).map(|cell| cell * size + (value - low) as usize);
            }
            counts[cell.unwrap_or(all)] += 1.0;
        }
        counts
    }

    /// Squared, with columns scaled by their bounds.
    fn distance(&self, row: &[f64]) -> f64 {
        let columns = row.iter().zip(&self.target).zip(&self.bounds).zip(&self.names);
        columns
            .map(|(((value, target), [low, high]), names)| {
                let change = match names {
                    Some(_) => f64::from(u8::from(value != target)),
                    None if high > low => (value - target) / (high - low),
                    None => 0.0,
                };
                change * change
            })
            .sum()
    }
}

fn bins(column: &[f64], [low, high]: [f64; 2]) -> [f64; BINS] {
    let mut bins = [0.0; BINS];
    for value in column {
        let share = (value - low) / (high - low) * BINS as f64;
        bins[(share as usize).min(BINS - 1)] += 1.0;
    }
    bins
}

/// How often each category of a column occurs.
fn name_counts(rows: &Rows, column: usize, names: usize) -> Vec<f64> {
    let mut counts = vec![0.0; names];
    for row in rows.iter() {
        if let Some(count) = counts.get_mut(row[column] as usize) {
            *count += 1.0;
        }
    }
    counts
}

fn mean(column: &[f64]) -> f64 {
    column.iter().sum::<f64>() / column.len().max(1) as f64
}

/// Minimum, maximum, mean, median and variance.
fn summary(column: &[f64]) -> [f64; 5] {
    let mut ordered = column.to_vec();
    ordered.sort_unstable_by(f64::total_cmp);
    let (Some(low), Some(high)) = (ordered.first(), ordered.last()) else { return [0.0; 5] };
    let half = ordered.len() / 2;
    let median = f64::midpoint(ordered[half], ordered[(ordered.len() - 1) / 2]);
    let centre = mean(column);
    let squares: f64 = column.iter().map(|x| (x - centre) * (x - centre)).sum();
    [*low, *high, centre, median, squares / column.len() as f64]
}

/// Pearson's coefficient; 0 where a column is constant.
fn correlation(one: &[f64], other: &[f64]) -> f64 {
    let centres = [mean(one), mean(other)];
    let [mut product, mut first, mut second] = [0.0; 3];
    for (a, b) in one.iter().zip(other) {
        let (a, b) = (a - centres[0], b - centres[1]);
        product += a * b;
        first += a * a;
        second += b * b;
    }
    let scale = (first * second).sqrt();
    if scale > 0.0 { product / scale } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Column;

    #[test]
    fn features_of_few_rows_are_those_by_hand() {
        let kind = ColumnKind::Integer { low: 0, high: 1 };
        let column = |name: &str| Column { name: name.to_string(), kind: kind.clone() };
        let schema = Schema::new(["a", "b"].map(column).to_vec()).unwrap();
        let features = Features::new(&schema, &[1.0, 1.0]);
        let rows = Rows { columns: 2, values: vec![0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.5, 0.0] };
        let found = features.of(&rows);
        let cells = [2.0, 0.0, 1.0, 0.0, 1.0];
        let rows_of_cells = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]].map(Vec::from);
        assert_eq!(features.cells(), Some(rows_of_cells.to_vec()));
        let a = [0.0, 1.0, 0.375, 0.25, 0.171_875, 2.0, 0.0, 1.0, 0.0, 1.0];
        let b = [0.0, 0.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 0.0];
        assert_eq!(found, [&cells[..], &a, &b, &[0.0, 1.0]].concat());
        assert_eq!(features.of(&Rows { columns: 2, values: Vec::new() }).len(), found.len());
        let failed = features.of_outcome(None);
        assert_eq!((failed.len(), failed.last()), (found.len() + 1, Some(&1.0)));
        assert_eq!(features.of_outcome(Some(&rows)), [&found[..], &[0.0]].concat());
    }

    fn category(name: &str, names: usize) -> Column {
        let names = (0..names).map(|at| at.to_string()).collect();
        Column { name: name.to_string(), kind: ColumnKind::Category { names } }
    }

    #[test]
    fn features_of_large_domains_are_few_and_finite() {
        let number = |at: usize| {
            let kind = ColumnKind::Number { low: -1e308, high: 1.7e308 };
            Column { name: format!("x{at}"), kind }
        };
        let wide = |numbers: usize| (0..numbers).map(number).collect::<Vec<_>>();
        let with = |names: usize| [wide(29), vec![category("c", names)]].concat();
        for (columns, expected) in [
            (with(50), 290 + 50 + 435 + 1),
            (with(5000), 290 + 1 + 435 + 1),
            (wide(200), 2000 + 199 + 1),
        ] {
            let width = columns.len();
            let features = Features::new(&Schema::new(columns).unwrap(), &vec![0.0; width]);
            for value in [0.0, 1.7e308, -1e308] {
                let values = (0..3 * width).map(|at| if at % 7 == 0 { value } else { 1.0 });
                let found = features.of(&Rows { columns: width, values: values.collect() });
                assert_eq!(found.len(), expected);
                assert!(found.iter().all(|feature| feature.is_finite()));
            }
        }
    }

    #[test]
    fn categories_have_no_order() {
        let schema = Schema::new(vec![category("a", 50), category("b", 70)]).unwrap();
        let features = Features::new(&schema, &[49.0, 3.0]);
        let rows = |values: &[f64]| Rows { columns: 2, values: values.to_vec() };
        let found = features.of(&rows(&[49.0, 3.0, 0.0, 0.0, 2.0, 1.0]));
        let counts = |at: usize| f64::from(u8::from([0, 2, 49].contains(&at)));
        let counts: Vec<f64> = (0..50).map(counts).collect();
        let expected = [&counts[..], &[1.0]].concat();
        assert_eq!(found[..51], expected);
        assert!((found[51] - 1.0).abs() < 1e-12); // both columns are the target's in one row
        assert_eq!(found[52], 0.0);
        assert_eq!(features.of(&rows(&[48.0, 3.0])).last(), Some(&1.0));
        assert_eq!(features.of(&rows(&[0.0, 2.0])).last(), Some(&2.0));
    }
}

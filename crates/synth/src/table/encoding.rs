//! Rows as numbers between −1 and 1, and back.

use super::{ColumnKind, Rows, Schema, Table};

/// How a column of numbers becomes a number between −1 and 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scaling {
    /// 2(clip(x, low, high) − low)/(high − low) − 1, and 0 if both bounds are equal.
    Bounds {
        /// Lower bound.
        low: f64,
        /// Upper bound.
        high: f64,
    },
    /// Two components: ∓½ + ½ clip((x − mean)/(4 spread), −1, 1) for the nearer mean. It is fitted to
    /// data, so that a faithful mechanism never uses it.
    Mixture {
        /// Means of the components, the smaller first.
        means: [f64; 2],
        /// Their standard deviations, above 0.
        spreads: [f64; 2],
    },
}

impl Scaling {
    fn encode(self, x: f64) -> f64 {
        match self {
            Scaling::Bounds { low, high } if high > low => {
                // halves: the difference of two finite bounds may overflow
                let half = high / 2.0 - low / 2.0;
                (x.clamp(low, high) / 2.0 - low / 2.0) / half * 2.0 - 1.0
            }
            Scaling::Bounds { .. } => 0.0,
            Scaling::Mixture { means, spreads } => {
                let upper = usize::from((x - means[1]).abs() < (x - means[0]).abs());
                let within = ((x - means[upper]) / (4.0 * spreads[upper])).clamp(-1.0, 1.0);
                upper as f64 - 0.5 + within / 2.0
            }
        }
    }

    fn decode(self, y: f64) -> f64 {
        match self {
            Scaling::Bounds { low, high } => {
                let share = (y.clamp(-1.0, 1.0) + 1.0) / 2.0;
                (low * (1.0 - share) + high * share).clamp(low, high)
            }
            Scaling::Mixture { means, spreads } => {
                let upper = usize::from(y >= 0.0);
                means[upper] + (y - (upper as f64 - 0.5)) * 8.0 * spreads[upper]
            }
        }
    }

    fn fitted_bounds(column: &[f64]) -> Self {
        let [low, high] = extremes(column);
        Scaling::Bounds { low, high }
    }

    /// Two means by Lloyd's algorithm from the extremes.
    fn fitted_mixture(column: &[f64]) -> Self {
        let mut means = extremes(column);
        let mut spreads = [1.0; 2];
        for _ in 0..10 {
            let mut sums = [[0.0; 3]; 2];
            for x in column {
                let upper = usize::from((x - means[1]).abs() < (x - means[0]).abs());
                let change = x - means[upper];
                for (sum, term) in sums[upper].iter_mut().zip([1.0, change, change * change]) {
                    *sum += term;
                }
            }
            for (component, [count, sum, squares]) in sums.into_iter().enumerate() {
                if count > 0.0 {
                    let shift = sum / count;
                    means[component] += shift;
                    spreads[component] = (squares / count - shift * shift).max(1e-6).sqrt();
                }
            }
        }
        Scaling::Mixture { means, spreads }
    }
}

/// Minimum and maximum; 0 and 0 of no number.
fn extremes(column: &[f64]) -> [f64; 2] {
    let low = column.iter().copied().fold(f64::INFINITY, f64::min);
    let high = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if low <= high { [low, high] } else { [0.0; 2] }
}

/// How encoded numbers become values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decoding {
    /// Numbers within their bounds; integers are rounded to the nearest.
    Rounded,
    /// Integers are rounded towards zero.
    Truncated,
    /// Numbers stay between −1 and 1.
    Scaled,
}

/// Encoder and decoder of the rows of a schema.
///
/// A number becomes one number, a category one per name: 1 for its own and −1 for the others. The
/// largest of them is decoded.
///
/// # Guarantee
/// Values within public bounds are decoded to themselves, integers and categories exactly
/// (`unit::encoding_is_inverted`).
#[derive(Debug, Clone, PartialEq)]
pub struct Encoding {
    schema: Schema,
    /// One per column; categories ignore theirs.
    scalings: Vec<Scaling>,
}

impl Encoding {
    /// The faithful encoding, from what is public.
    #[must_use]
    pub fn public(schema: &Schema) -> Self {
        let scalings = schema.columns().iter().map(|column| {
            let [low, high] = column.kind.bounds().unwrap_or([0.0, 0.0]);
            Scaling::Bounds { low, high }
        });
        Encoding { schema: schema.clone(), scalings: scalings.collect() }
    }

    /// Bounds that are the extremes of the data.
    pub(crate) fn fitted_to_extremes(table: &Table) -> Self {
        Self::fitted(table, Scaling::fitted_bounds)
    }

    /// Mixtures that are fitted to the data.
    pub(crate) fn fitted_mixtures(table: &Table) -> Self {
        Self::fitted(table, Scaling::fitted_mixture)
    }

    fn fitted(table: &Table, fit: impl Fn(&[f64]) -> Scaling) -> Self {
        let public = Self::public(table.schema());
        let scalings = public.scalings.iter().enumerate().map(|(at, scaling)| {
            let column: Vec<f64> = table.rows().iter().map(|row| row[at]).collect();
            match table.schema().columns()[at].kind {
                ColumnKind::Category { .. } => *scaling,
                ColumnKind::Number { .. } | ColumnKind::Integer { .. } => fit(&column),
            }
        });
        Encoding { scalings: scalings.collect(), ..public }
    }

    /// Numbers of an encoded row.
    pub(crate) fn width(&self) -> usize {
        self.schema.width()
    }

    /// How each column is scaled; that of a category has no effect.
    #[must_use]
    pub fn scalings(&self) -> &[Scaling] {
        &self.scalings
    }

    /// Rows in row-major order, [`Schema::width`] numbers each.
    #[must_use]
    pub fn encode(&self, rows: &Rows) -> Vec<f64> {
        let mut encoded = Vec::with_capacity(rows.len() * self.schema.width());
        for row in rows.iter() {
            for ((column, scaling), x) in self.schema.columns().iter().zip(&self.scalings).zip(row)
            {
                match &column.kind {
                    ColumnKind::Category { names } => {
                        let code = |at: usize| if at as f64 == *x { 1.0 } else { -1.0 };
                        encoded.extend((0..names.len()).map(code));
                    }
                    _ => encoded.push(scaling.encode(*x)),
                }
            }
        }
        encoded
    }

    /// Rows from encoded ones; an incomplete last row is left out.
    #[must_use]
    pub fn decode(&self, encoded: &[f64], decoding: Decoding) -> Rows {
        let mut values = Vec::new();
        for row in encoded.chunks_exact(self.schema.width()) {
            let mut rest = row;
            for (column, scaling) in self.schema.columns().iter().zip(&self.scalings) {
                let (code, tail) = rest.split_at(column.kind.width());
                rest = tail;
                values.push(match (&column.kind, decoding) {
                    (ColumnKind::Category { .. }, _) => largest(code),
                    (_, Decoding::Scaled) => code[0],
                    (ColumnKind::Number { .. }, _) => scaling.decode(code[0]),
                    (ColumnKind::Integer { .. }, Decoding::Rounded) => {
                        scaling.decode(code[0]).round()
                    }
                    (ColumnKind::Integer { .. }, Decoding::Truncated) => {
                        scaling.decode(code[0]).trunc()
                    }
                });
            }
        }
        Rows { columns: self.schema.columns().len(), values }
    }
}

/// Position of the first largest number.
fn largest(code: &[f64]) -> f64 {
    let best = |best: usize, at: usize| if code[at] > code[best] { at } else { best };
    (0..code.len()).fold(0, best) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Column, Value};

    fn table(rows: &[(f64, f64, &str)]) -> Table {
        let names = ["a", "b", "c"].map(String::from).to_vec();
        let columns = [
            ("integer", ColumnKind::Integer { low: -3, high: 9 }),
            ("number", ColumnKind::Number { low: -1e300, high: 1.7e308 }),
            ("constant", ColumnKind::Number { low: 4.0, high: 4.0 }),
            ("category", ColumnKind::Category { names }),
        ];
        let columns = columns.map(|(name, kind)| Column { name: name.to_string(), kind });
        let schema = Schema::new(columns.to_vec()).unwrap();
        let rows = rows.iter().zip(0..).map(|((integer, number, category), id)| {
            let numbers = [*integer, *number, 4.0].map(Value::Number).into_iter();
            (id, numbers.chain([Value::Category(category.to_string())]).collect())
        });
        Table::new(schema, &rows.collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn encoding_is_inverted() {
        let rows =
            (-3..=9).map(|i| (f64::from(i), f64::from(i) * 1e299, ["a", "b", "c"][i as usize % 3]));
        let table = table(&rows.collect::<Vec<_>>());
        let encoding = Encoding::public(table.schema());
        let encoded = encoding.encode(table.rows());
        assert!(encoded.iter().all(|y| (-1.0..=1.0).contains(y)));
        let decoded = encoding.decode(&encoded, Decoding::Rounded);
        for (row, found) in table.rows().iter().zip(decoded.iter()) {
            assert_eq!([row[0], row[2], row[3]], [found[0], found[2], found[3]]);
            assert!((row[1] - found[1]).abs() <= 1e-15 * 1.7e308);
        }
        let truncated = encoding.decode(&encoded, Decoding::Truncated);
        let scaled = encoding.decode(&encoded, Decoding::Scaled);
        assert!(scaled.iter().all(|row| row[0].abs() <= 1.0));
        assert_ne!(truncated, scaled);
    }

    #[test]
    fn numbers_beyond_public_bounds_are_clipped_and_constants_are_zero() {
        let table = table(&[(1000.0, 0.0, "b"), (-1000.0, 0.0, "c")]);
        let encoding = Encoding::public(table.schema());
        let encoded = encoding.encode(table.rows());
        assert_eq!([encoded[0], encoded[2], encoded[6]], [1.0, 0.0, -1.0]);
        assert_eq!(encoded[3..6], [-1.0, 1.0, -1.0]);
        assert_eq!(encoding.decode(&encoded, Decoding::Rounded).values[0], 9.0);
    }

    #[test]
    fn integers_are_rounded_or_truncated() {
        let schema = table(&[]).schema().clone();
        let encoding = Encoding::public(&schema);
        let encoded = [0.8 / 6.0, 0.0, 0.0, 0.0, 0.0, 0.0]; // 3.8
        assert_eq!(encoding.decode(&encoded, Decoding::Rounded).values[0], 4.0);
        assert_eq!(encoding.decode(&encoded, Decoding::Truncated).values[0], 3.0);
    }

    #[test]
    fn fitted_scalings_depend_on_the_data() {
        let rows = [(0.0, -2.0, "a"), (1.0, -1.0, "a"), (8.0, 5.0, "b"), (9.0, 6.0, "b")];
        let (all, less) = (table(&rows), table(&rows[..3]));
        for fit in [Encoding::fitted_to_extremes, Encoding::fitted_mixtures] {
            assert_ne!(fit(&all).scalings(), fit(&less).scalings());
            let back = fit(&all).decode(&fit(&all).encode(all.rows()), Decoding::Rounded);
            for (row, found) in all.rows().iter().zip(back.iter()) {
                assert!((row[1] - found[1]).abs() < 1e-9);
            }
        }
        assert_eq!(Encoding::public(all.schema()), Encoding::public(less.schema()));
        let empty = table(&[]);
        assert!(
            Encoding::fitted_to_extremes(&empty).encode(all.rows()).iter().all(|y| y.is_finite())
        );
    }
}

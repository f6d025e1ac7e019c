//! Products of small matrices whose rows are contiguous: nothing is copied into another order first.
//!
//! A linear layer with a few dozen rows or outputs takes less time than a general product needs to
//! rearrange its factors.

use super::instruction_set::Kernel;
use super::products::{Vector, total};

/// Numbers per sum: their order does not depend on the width of vectors.
const LANES: usize = 16;

/// out(i, j) += Σ_k left(i, k)·right(j, k)
pub(super) struct DotProducts<'a> {
    pub(super) left: &'a [f32],
    pub(super) right: &'a [f32],
    /// Number of terms.
    pub(super) terms: usize,
    /// One row per row of `left`, one column per row of `right`.
    pub(super) out: &'a mut [f32],
}

impl Kernel for DotProducts<'_> {
    #[inline(always)]
    fn run<const WIDTH: usize, const COLUMNS: usize, const FUSED: bool>(mut self) {
        let rows = self.left.len() / self.terms;
        let mut row = 0;
        while row < rows {
            row += match rows - row {
                4.. => self.strip::<4, WIDTH, COLUMNS, FUSED>(row),
                2.. => self.strip::<2, WIDTH, COLUMNS, FUSED>(row),
                _ => self.strip::<1, WIDTH, COLUMNS, FUSED>(row),
            };
        }
    }
}

impl DotProducts<'_> {
    /// `ROWS` rows and all columns; returns `ROWS`.
    #[inline(always)]
    fn strip<const ROWS: usize, const WIDTH: usize, const COLUMNS: usize, const FUSED: bool>(
        &mut self,
        row: usize,
    ) -> usize {
        let columns = self.right.len() / self.terms;
        let whole = columns - columns % COLUMNS;
        for column in (0..whole).step_by(COLUMNS) {
            self.tile::<ROWS, COLUMNS, WIDTH, FUSED>((row, column), columns);
        }
        for column in whole..columns {
            self.tile::<ROWS, 1, WIDTH, FUSED>((row, column), columns);
        }
        ROWS
    }

    #[inline(always)]
    fn tile<const ROWS: usize, const COLUMNS: usize, const WIDTH: usize, const FUSED: bool>(
        &mut self,
        (row, column): (usize, usize),
        columns: usize,
    ) {
        let terms = self.terms;
        let mut left = [&self.left[..0]; ROWS];
        for (at, left) in left.iter_mut().enumerate() {
            *left = &self.left[(row + at) * terms..][..terms];
        }
        let mut right = [&self.right[..0]; COLUMNS];
        for (at, right) in right.iter_mut().enumerate() {
            *right = &self.right[(column + at) * terms..][..terms];
        }
        let whole = terms - terms % LANES;
        let mut lanes = [[[0.0; LANES]; COLUMNS]; ROWS];
        for part in 0..LANES / WIDTH {
            let mut sums = [[Vector::<WIDTH>::zero(); COLUMNS]; ROWS];
            for term in (part * WIDTH..whole).step_by(LANES) {
                let mut of_right = [Vector::<WIDTH>::zero(); COLUMNS];
                for (vector, right) in of_right.iter_mut().zip(&right) {
                    *vector = Vector::of(&right[term..term + WIDTH]);
                }
                for (sums, left) in sums.iter_mut().zip(&left) {
                    let left = Vector::of(&left[term..term + WIDTH]);
                    for (sum, &right) in sums.iter_mut().zip(&of_right) {
                        sum.add_product::<FUSED>(left, right);
                    }
                }
            }
            if whole < terms && terms >= LANES {
                // The last lanes overlap the ones before: terms counted already are 0.
                let (term, counted) = (terms - LANES + part * WIDTH, whole + LANES - terms);
                let counted = counted.saturating_sub(part * WIDTH);
                let mut of_right = [Vector::<WIDTH>::zero(); COLUMNS];
                for (vector, right) in of_right.iter_mut().zip(&right) {
                    *vector = Vector::of(&right[term..term + WIDTH]);
                }
                for (sums, left) in sums.iter_mut().zip(&left) {
                    let left = Vector::of(&left[term..term + WIDTH]).without_first(counted);
                    for (sum, &right) in sums.iter_mut().zip(&of_right) {
                        sum.add_product::<FUSED>(left, right);
                    }
                }
            }
            for (lanes, sums) in lanes.iter_mut().zip(&sums) {
                for (lanes, sum) in lanes.iter_mut().zip(sums) {
                    sum.store(&mut lanes[part * WIDTH..][..WIDTH]);
                }
            }
        }
        for (at, lanes) in lanes.iter().enumerate() {
            for (other, lanes) in lanes.iter().enumerate() {
                let mut sum = total(lanes);
                if terms < LANES {
                    let pairs = left[at].iter().zip(right[other]);
                    pairs.for_each(|(left, right)| sum += left * right);
                }
                self.out[(row + at) * columns + column + other] += sum;
            }
        }
    }
}

/// What products are added to.
#[derive(Clone, Copy)]
pub(super) enum Start<'a> {
    /// The numbers that are there.
    Out,
    /// A row, for every row.
    Row(&'a [f32]),
    Zero,
}

/// out(i, k) = start(i, k) + Σ_t factor(i, t)·rows(t, k)
pub(super) struct WeightedRows<'a> {
    /// factor(i, t) is at i·`steps[0]` + t·`steps[1]`.
    pub(super) factors: &'a [f32],
    pub(super) steps: [usize; 2],
    pub(super) rows: &'a [f32],
    /// Length of a row.
    pub(super) length: usize,
    pub(super) start: Start<'a>,
    pub(super) out: &'a mut [f32],
}

/// [`WeightedRows`] with terms added to the numbers in `out` one after the other, not their sum.
pub(super) struct EachWeightedRow<'a>(pub(super) WeightedRows<'a>);

impl Kernel for WeightedRows<'_> {
    #[inline(always)]
    fn run<const WIDTH: usize, const COLUMNS: usize, const FUSED: bool>(mut self) {
        self.columns::<WIDTH, COLUMNS, FUSED, false>();
    }
}

impl Kernel for EachWeightedRow<'_> {
    #[inline(always)]
    fn run<const WIDTH: usize, const COLUMNS: usize, const FUSED: bool>(mut self) {
        self.0.columns::<WIDTH, COLUMNS, FUSED, true>();
    }
}

impl WeightedRows<'_> {
    #[inline(always)]
    fn columns<const WIDTH: usize, const COLUMNS: usize, const FUSED: bool, const EACH: bool>(
        &mut self,
    ) {
        if self.length < WIDTH {
            for first in 0..self.length {
                self.column::<1, 1, FUSED, EACH>(first);
            }
            return;
        }
        let mut first = 0;
        while first < self.length {
            // The last vector overlaps the one before, in the same tile.
            let vectors = (self.length - first).div_ceil(WIDTH);
            let width = match vectors {
                1 => self.column::<1, WIDTH, FUSED, EACH>(first),
                2 => self.column::<2, WIDTH, FUSED, EACH>(first),
                4 if COLUMNS == 3 => self.column::<2, WIDTH, FUSED, EACH>(first),
                3 | 5 if COLUMNS == 4 => self.column::<3, WIDTH, FUSED, EACH>(first),
                _ => self.column::<COLUMNS, WIDTH, FUSED, EACH>(first),
            };
            first += width;
        }
    }

    /// One column of tiles, which reads a part of the rows that stays in the cache. Returns its width.
    #[inline(always)]
    fn column<const COLUMNS: usize, const WIDTH: usize, const FUSED: bool, const EACH: bool>(
        &mut self,
        first: usize,
    ) -> usize {
        let rows = self.out.len() / self.length;
        let mut row = 0;
        while row < rows {
            row += match rows - row {
                4.. => self.tile::<4, COLUMNS, WIDTH, FUSED, EACH>(row, first),
                2.. => self.tile::<2, COLUMNS, WIDTH, FUSED, EACH>(row, first),
                _ => self.tile::<1, COLUMNS, WIDTH, FUSED, EACH>(row, first),
            };
        }
        COLUMNS * WIDTH
    }

    /// Sums for `COLUMNS` vectors of `ROWS` rows from number `first`; numbers of two vectors have the
    /// same sum in both. Returns `ROWS`.
    #[inline(always)]
    fn tile<
        const ROWS: usize,
        const COLUMNS: usize,
        const WIDTH: usize,
        const FUSED: bool,
        const EACH: bool,
    >(
        &mut self,
        row: usize,
        first: usize,
    ) -> usize {
        let Self { factors, steps: [step, term_step], rows, length, start, .. } = *self;
        let last = (first + (COLUMNS - 1) * WIDTH).min(length - WIDTH);
        let mut sums = [[Vector::<WIDTH>::zero(); COLUMNS]; ROWS];
        if EACH {
            for (at, sums) in sums.iter_mut().enumerate() {
                *sums = load(&self.out[(row + at) * length..][..length], first, last);
            }
        }
        for (term, values) in rows.chunks_exact(length).enumerate() {
            let vectors = load::<COLUMNS, WIDTH>(values, first, last);
            for (at, sums) in sums.iter_mut().enumerate() {
                let factor = Vector::all(factors[(row + at) * step + term * term_step]);
                for (sum, &vector) in sums.iter_mut().zip(&vectors) {
                    sum.add_product::<FUSED>(factor, vector);
                }
            }
        }
        for (at, sums) in sums.iter().enumerate() {
            let out = &mut self.out[(row + at) * length..][..length];
            let mut vectors = match start {
                _ if EACH => *sums,
                Start::Out => load(out, first, last),
                Start::Row(row) => load(row, first, last),
                Start::Zero => [Vector::zero(); COLUMNS],
            };
            for (column, (vector, &sum)) in vectors.iter_mut().zip(sums).enumerate() {
                if !EACH {
                    vector.add(sum);
                }
                let start = if column + 1 < COLUMNS { first + column * WIDTH } else { last };
                vector.store(&mut out[start..start + WIDTH]);
            }
        }
        ROWS
    }
}

/// Consecutive vectors from number `first`; the last one starts at `last`.
#[inline(always)]
fn load<const COLUMNS: usize, const WIDTH: usize>(
    numbers: &[f32],
    first: usize,
    last: usize,
) -> [Vector<WIDTH>; COLUMNS] {
    let mut vectors = [Vector::zero(); COLUMNS];
    for (column, vector) in vectors.iter_mut().enumerate() {
        let start = if column + 1 < COLUMNS { first + column * WIDTH } else { last };
        *vector = Vector::of(&numbers[start..start + WIDTH]);
    }
    vectors
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gradient::instruction_set::InstructionSet;

    fn values(count: usize, seed: usize) -> Vec<f32> {
        (0..count).map(|at| ((at * 37 + seed * 11) % 101) as f32 / 50.0 - 1.0).collect()
    }

    #[test]
    fn products_equal_plain_loops_for_every_size_and_instruction_set() {
        for set in InstructionSet::available() {
            for (rows, columns, terms) in [
                (1, 1, 1),
                (3, 5, 17),
                (10, 32, 64),
                (7, 30, 446),
                (4, 4, 16),
                (6, 70, 31),
                (5, 446, 9),
            ] {
                let (left, right) = (values(rows * terms, 1), values(columns * terms, 2));
                let mut out = values(rows * columns, 3);
                let mut expected = out.clone();
                for (index, expected) in expected.iter_mut().enumerate() {
                    let (row, column) = (index / columns, index % columns);
                    let pairs = left[row * terms..][..terms].iter().zip(&right[column * terms..]);
                    *expected += pairs.map(|(a, b)| a * b).sum::<f32>();
                }
                set.run(DotProducts { left: &left, right: &right, terms, out: &mut out });
                let is_near = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-4 * (1.0 + b.abs());
                assert!(out.iter().zip(&expected).all(is_near), "{set:?} {rows} {columns} {terms}");

                // Σ_t factor(i, t)·rows(t, k), with the factors in both orders
                let b = values(terms * columns, 4);
                for steps in [[terms, 1], [1, rows]] {
                    let factors = values(rows * terms, 5);
                    let mut out = values(rows * columns, 6);
                    let mut expected = out.clone();
                    for (index, expected) in expected.iter_mut().enumerate() {
                        let (row, column) = (index / columns, index % columns);
                        let term = |t: usize| {
                            factors[row * steps[0] + t * steps[1]] * b[t * columns + column]
                        };
                        *expected += (0..terms).map(term).sum::<f32>();
                    }
                    set.run(WeightedRows {
                        factors: &factors,
                        steps,
                        rows: &b,
                        length: columns,
                        start: Start::Out,
                        out: &mut out,
                    });
                    assert!(out.iter().zip(&expected).all(is_near), "{set:?} {steps:?}");

                    // term after term, in any number of parts
                    let (mut whole, mut parts) =
                        (values(rows * columns, 6), values(rows * columns, 6));
                    let (before, after) = b.split_at(terms / 2 * columns);
                    let later = terms / 2 * steps[1];
                    let add = |factors, rows, out: &mut [f32]| {
                        let (length, start) = (columns, Start::Out);
                        let terms = WeightedRows { factors, steps, rows, length, start, out };
                        set.run(EachWeightedRow(terms));
                    };
                    add(&factors, &b, &mut whole);
                    add(&factors, before, &mut parts);
                    add(&factors[later..], after, &mut parts);
                    assert!(whole.iter().zip(&expected).all(is_near), "{set:?} {steps:?}");
                    assert_eq!(whole, parts, "{set:?} {steps:?}");
                }
            }
        }
    }
}

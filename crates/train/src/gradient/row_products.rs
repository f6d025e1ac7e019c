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

/// out(i, k) += Σ_t factor(i, t)·rows(t, k)
pub(super) struct WeightedRows<'a> {
    /// factor(i, t) is at i·`steps[0]` + t·`steps[1]`.
    pub(super) factors: &'a [f32],
    pub(super) steps: [usize; 2],
    pub(super) rows: &'a [f32],
    /// Length of a row.
    pub(super) length: usize,
    pub(super) out: &'a mut [f32],
}

impl Kernel for WeightedRows<'_> {
    #[inline(always)]
    fn run<const WIDTH: usize, const COLUMNS: usize, const FUSED: bool>(mut self) {
        let (length, wide, mut first) = (self.length, WIDTH * COLUMNS, 0);
        while first + wide <= length {
            self.column::<COLUMNS, WIDTH, FUSED>(first, first);
            first += wide;
        }
        // The last tiles overlap those before.
        if first + WIDTH * COLUMNS.div_ceil(2) < length && wide <= length {
            return self.column::<COLUMNS, WIDTH, FUSED>(length - wide, first);
        }
        while first + 2 * WIDTH <= length {
            self.column::<2, WIDTH, FUSED>(first, first);
            first += 2 * WIDTH;
        }
        while first + WIDTH <= length {
            self.column::<1, WIDTH, FUSED>(first, first);
            first += WIDTH;
        }
        if first < length && WIDTH <= length {
            return self.column::<1, WIDTH, FUSED>(length - WIDTH, first);
        }
        for first in first..length {
            self.column::<1, 1, FUSED>(first, first);
        }
    }
}

impl WeightedRows<'_> {
    /// One column of tiles, which reads a part of the rows that stays in the cache.
    #[inline(always)]
    fn column<const COLUMNS: usize, const WIDTH: usize, const FUSED: bool>(
        &mut self,
        first: usize,
        new: usize,
    ) {
        let rows = self.out.len() / self.length;
        let mut row = 0;
        while row < rows {
            row += match rows - row {
                4.. => self.tile::<4, COLUMNS, WIDTH, FUSED>(row, first, new),
                2.. => self.tile::<2, COLUMNS, WIDTH, FUSED>(row, first, new),
                _ => self.tile::<1, COLUMNS, WIDTH, FUSED>(row, first, new),
            };
        }
    }

    /// Sums for `WIDTH * COLUMNS` numbers of `ROWS` rows from `first`; those from `new` are added.
    /// Returns `ROWS`.
    #[inline(always)]
    fn tile<const ROWS: usize, const COLUMNS: usize, const WIDTH: usize, const FUSED: bool>(
        &mut self,
        row: usize,
        first: usize,
        new: usize,
    ) -> usize {
        let Self { factors, steps: [step, term_step], rows, length, .. } = *self;
        let mut sums = [[Vector::<WIDTH>::zero(); COLUMNS]; ROWS];
        for (term, values) in rows.chunks_exact(length).enumerate() {
            let values = &values[first..first + WIDTH * COLUMNS];
            let mut vectors = [Vector::<WIDTH>::zero(); COLUMNS];
            for (vector, values) in vectors.iter_mut().zip(values.chunks_exact(WIDTH)) {
                *vector = Vector::of(values);
            }
            for (at, sums) in sums.iter_mut().enumerate() {
                let factor = Vector::all(factors[(row + at) * step + term * term_step]);
                for (sum, &vector) in sums.iter_mut().zip(&vectors) {
                    sum.add_product::<FUSED>(factor, vector);
                }
            }
        }
        for (at, sums) in sums.iter().enumerate() {
            let out = &mut self.out[(row + at) * length..][first..first + WIDTH * COLUMNS];
            add_vectors(sums, new - first, out);
        }
        ROWS
    }
}

/// Adds vectors to `out`, without the first `counted` numbers.
#[inline(always)]
fn add_vectors<const COLUMNS: usize, const WIDTH: usize>(
    vectors: &[Vector<WIDTH>; COLUMNS],
    counted: usize,
    out: &mut [f32],
) {
    if counted == 0 {
        for (vector, out) in vectors.iter().zip(out.chunks_exact_mut(WIDTH)) {
            let mut sum = Vector::<WIDTH>::of(out);
            sum.add(*vector);
            sum.store(out);
        }
        return;
    }
    // Copied, because vectors at variable indices would not be kept in registers.
    let mut numbers = [[0.0; WIDTH]; COLUMNS];
    numbers.iter_mut().zip(vectors).for_each(|(numbers, vector)| vector.store(numbers));
    let numbers = &numbers.as_flattened()[counted..];
    out[counted..].iter_mut().zip(numbers).for_each(|(out, value)| *out += value);
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
                        out: &mut out,
                    });
                    assert!(out.iter().zip(&expected).all(is_near), "{set:?} {steps:?}");
                }
            }
        }
    }
}

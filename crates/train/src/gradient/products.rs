//! The inner loop of convolutions: tiles of sums of products, lane by lane.

use std::ops::Range;

use super::buffer::{LANES, Lane};
use super::instruction_set::Kernel;

/// A gathered matrix: the lanes at `places[n] + steps[r]` of a slice, for column n and term r.
#[derive(Clone, Copy)]
pub(super) struct Gathered<'a> {
    pub(super) lanes: &'a [Lane],
    pub(super) places: &'a [usize],
    pub(super) steps: &'a [usize],
}

/// A left factor, row by row.
pub(super) trait Left: Copy {
    type Row: Copy;

    fn row(self, row: usize, terms: usize) -> Self::Row;

    /// Part of a lane: `WIDTH` floats.
    fn term<const WIDTH: usize>(self, row: Self::Row, term: usize, part: usize) -> Vector<WIDTH>;
}

/// Weights, row-major and shared by all examples.
#[derive(Clone, Copy)]
pub(super) struct Weights<'a>(pub(super) &'a [f32]);

impl<'a> Left for Weights<'a> {
    type Row = &'a [f32];

    #[inline(always)]
    fn row(self, row: usize, terms: usize) -> Self::Row {
        &self.0[row * terms..][..terms]
    }

    #[inline(always)]
    fn term<const WIDTH: usize>(self, row: Self::Row, term: usize, _: usize) -> Vector<WIDTH> {
        Vector([row[term]; WIDTH])
    }
}

impl Left for Gathered<'_> {
    type Row = usize;

    #[inline(always)]
    fn row(self, row: usize, _: usize) -> Self::Row {
        self.places[row]
    }

    #[inline(always)]
    fn term<const WIDTH: usize>(self, row: usize, term: usize, part: usize) -> Vector<WIDTH> {
        Vector::load(&self.lanes[row + self.steps[term]], part)
    }
}

/// Calls `sink(m, n, Σ_r left(m, r) ∘ right(n, r))` for the rows m in `rows` and all columns n.
pub(super) struct Products<'a, L, F> {
    pub(super) left: L,
    pub(super) rows: Range<usize>,
    pub(super) right: Gathered<'a>,
    pub(super) sink: F,
}

impl<L: Left, F: FnMut(usize, usize, &Lane)> Kernel for Products<'_, L, F> {
    #[inline(always)]
    fn run<const WIDTH: usize, const COLUMNS: usize, const FUSED: bool>(mut self) {
        let Range { mut start, end } = self.rows;
        while start < end {
            start += match end - start {
                4.. => self.strip::<4, WIDTH, COLUMNS, FUSED>(start),
                2.. => self.strip::<2, WIDTH, COLUMNS, FUSED>(start),
                _ => self.strip::<1, WIDTH, COLUMNS, FUSED>(start),
            };
        }
    }
}

impl<L: Left, F: FnMut(usize, usize, &Lane)> Products<'_, L, F> {
    /// `ROWS` rows and all columns; returns `ROWS`.
    #[inline(always)]
    fn strip<const ROWS: usize, const WIDTH: usize, const COLUMNS: usize, const FUSED: bool>(
        &mut self,
        row: usize,
    ) -> usize {
        let columns = self.right.places.len();
        let whole = columns - columns % COLUMNS;
        for column in (0..whole).step_by(COLUMNS) {
            self.tile::<ROWS, COLUMNS, WIDTH, FUSED>(row, column);
        }
        for column in whole..columns {
            self.tile::<ROWS, 1, WIDTH, FUSED>(row, column);
        }
        ROWS
    }

    #[inline(always)]
    fn tile<const ROWS: usize, const COLUMNS: usize, const WIDTH: usize, const FUSED: bool>(
        &mut self,
        row: usize,
        column: usize,
    ) {
        let Gathered { lanes, places, steps } = self.right;
        let mut out = [[[0.0; LANES]; COLUMNS]; ROWS];
        let mut rows = [self.left.row(row, steps.len()); ROWS];
        for (index, place) in rows.iter_mut().enumerate() {
            *place = self.left.row(row + index, steps.len());
        }
        let mut columns = [0; COLUMNS];
        columns.copy_from_slice(&places[column..column + COLUMNS]);
        for part in 0..LANES / WIDTH {
            let mut sums = [[Vector([0.0; WIDTH]); COLUMNS]; ROWS];
            for (term, &step) in steps.iter().enumerate() {
                let mut right = [Vector([0.0; WIDTH]); COLUMNS];
                for (right, place) in right.iter_mut().zip(columns) {
                    *right = Vector::load(&lanes[place + step], part);
                }
                for (sums, &row) in sums.iter_mut().zip(&rows) {
                    let left = self.left.term::<WIDTH>(row, term, part);
                    for (sum, &right) in sums.iter_mut().zip(&right) {
                        sum.add_product::<FUSED>(left, right);
                    }
                }
            }
            for (out, sums) in out.iter_mut().zip(&sums) {
                for (out, sum) in out.iter_mut().zip(sums) {
                    out[part * WIDTH..][..WIDTH].copy_from_slice(&sum.0);
                }
            }
        }
        for (m, out) in out.iter().enumerate() {
            for (n, lane) in out.iter().enumerate() {
                (self.sink)(row + m, column + n, lane);
            }
        }
    }
}

/// A vector register.
#[derive(Clone, Copy)]
pub(super) struct Vector<const WIDTH: usize>([f32; WIDTH]);

impl<const WIDTH: usize> Vector<WIDTH> {
    #[inline(always)]
    pub(super) fn zero() -> Self {
        Vector([0.0; WIDTH])
    }

    #[inline(always)]
    pub(super) fn all(value: f32) -> Self {
        Vector([value; WIDTH])
    }

    #[inline(always)]
    pub(super) fn of(values: &[f32]) -> Self {
        let mut vector = Vector([0.0; WIDTH]);
        vector.0.copy_from_slice(values);
        vector
    }

    /// The first `count` numbers replaced by 0.
    #[inline(always)]
    pub(super) fn without_first(mut self, count: usize) -> Self {
        for (index, number) in self.0.iter_mut().enumerate() {
            *number = if index < count { 0.0 } else { *number };
        }
        self
    }

    #[inline(always)]
    pub(super) fn add(&mut self, other: Self) {
        for (sum, number) in self.0.iter_mut().zip(other.0) {
            *sum += number;
        }
    }

    #[inline(always)]
    pub(super) fn store(&self, out: &mut [f32]) {
        out.copy_from_slice(&self.0);
    }

    #[inline(always)]
    fn load(lane: &Lane, part: usize) -> Self {
        let mut vector = Vector([0.0; WIDTH]);
        for (index, number) in vector.0.iter_mut().enumerate() {
            *number = lane[part * WIDTH + index];
        }
        vector
    }

    #[inline(always)]
    pub(super) fn add_product<const FUSED: bool>(&mut self, left: Self, right: Self) {
        for (index, sum) in self.0.iter_mut().enumerate() {
            *sum = sum_of_product::<FUSED>(left.0[index], right.0[index], *sum);
        }
    }
}

#[inline(always)]
#[allow(clippy::disallowed_methods, reason = "fused only if that is one instruction")]
fn sum_of_product<const FUSED: bool>(left: f32, right: f32, sum: f32) -> f32 {
    if FUSED { left.mul_add(right, sum) } else { left * right + sum }
}

/// The sum over the examples, in a fixed order on every machine.
#[inline(always)]
pub(super) fn total(lane: &Lane) -> f32 {
    let mut sums = *lane;
    let mut width = LANES / 2;
    while width > 0 {
        for index in 0..width {
            sums[index] += sums[index + width];
        }
        width /= 2;
    }
    sums[0]
}

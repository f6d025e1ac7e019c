//! Products with rows of which most numbers are 0: the same sums in the same order, without the
//! terms that are 0.

use super::batch::SparseRow;
use super::instruction_set::{Kernel, kernel};
use super::products::Vector;

/// out(i, j) = start(j) + Σ_k left(i, k)·right(k, j)
///
/// # Guarantee
/// For finite numbers, the bits of [`WeightedRows`](super::row_products::WeightedRows) with the zeros
/// of `left`, except for the sign of a 0 (`unit::sums_equal_those_with_zeros`).
pub(super) struct SparseProducts<'a> {
    pub(super) left: &'a [SparseRow<'a, f32>],
    pub(super) right: &'a [f32],
    pub(super) start: &'a [f32],
    pub(super) out: &'a mut [f32],
}

/// out(k, j) += Σ_i left(i, k)·right(i, j)
///
/// # Guarantee
/// As for [`SparseProducts`], with terms added one after the other
/// (`unit::sums_equal_those_with_zeros`).
pub(super) struct SparseSums<'a> {
    pub(super) left: &'a [SparseRow<'a, f32>],
    pub(super) right: &'a [f32],
    /// Length of a row of `right` and `out`.
    pub(super) length: usize,
    pub(super) out: &'a mut [f32],
}

/// Splits columns into tiles of up to four vectors: the first column of a tile, and the first that is
/// not part of an earlier one.
macro_rules! for_each_tile {
    ($kernel:ident, $length:expr, $width:ident, $fused:ident) => {
        let (length, mut first) = ($length, 0);
        while first < length {
            let vectors = (length - first) / $width;
            first = match vectors {
                4.. => $kernel.tile::<4, $width, $fused>(first, first),
                2.. => $kernel.tile::<2, $width, $fused>(first, first),
                1 => $kernel.tile::<1, $width, $fused>(first, first),
                _ if $width <= length => $kernel.tile::<1, $width, $fused>(length - $width, first),
                _ => $kernel.tile::<1, 1, $fused>(first, first),
            };
        }
    };
}

impl Kernel for SparseProducts<'_> {
    #[inline(always)]
    fn run<const WIDTH: usize, const COLUMNS: usize, const FUSED: bool>(mut self) {
        for_each_tile!(self, self.start.len(), WIDTH, FUSED);
    }
}

impl SparseProducts<'_> {
    /// Sums of the columns from `first`. Returns their end.
    #[inline(always)]
    fn tile<const VECTORS: usize, const WIDTH: usize, const FUSED: bool>(
        &mut self,
        first: usize,
        _new: usize,
    ) -> usize {
        let (length, end) = (self.start.len(), first + VECTORS * WIDTH);
        let matrix = (self.right, length, first);
        // Two rows at a time, whose sums do not wait for each other.
        for (rows, out) in self.left.chunks(2).zip(self.out.chunks_mut(2 * length)) {
            let mut sums = [[Vector::<WIDTH>::zero(); VECTORS]; 2];
            let mut both = 0;
            if let [one, other] = rows {
                both = one.places.len().min(other.places.len());
                let terms = one.places.iter().zip(one.values);
                let terms = terms.zip(other.places.iter().zip(other.values));
                for ((&place, &value), (&other_place, &other_value)) in terms {
                    add_row::<VECTORS, WIDTH, FUSED>(&mut sums[0], matrix, (place, value));
                    add_row::<VECTORS, WIDTH, FUSED>(
                        &mut sums[1],
                        matrix,
                        (other_place, other_value),
                    );
                }
            }
            let (start, [of_one, of_other]) = (&self.start[first..end], sums);
            if let Some(row) = rows.first() {
                let out = &mut out[first..end];
                finish::<VECTORS, WIDTH, FUSED>(of_one, matrix, (row, both), (start, out));
            }
            if let Some(row) = rows.get(1) {
                let out = &mut out[length + first..length + end];
                finish::<VECTORS, WIDTH, FUSED>(of_other, matrix, (row, both), (start, out));
            }
        }
        end
    }
}

/// Adds the terms of a row from number `from`, and the start. Takes sums by value, because they would
/// not be kept in registers at a variable index.
#[inline(always)]
fn finish<const VECTORS: usize, const WIDTH: usize, const FUSED: bool>(
    mut sums: [Vector<WIDTH>; VECTORS],
    matrix: (&[f32], usize, usize),
    (row, from): (&SparseRow<'_, f32>, usize),
    (start, out): (&[f32], &mut [f32]),
) {
    for (&place, &value) in row.places[from..].iter().zip(&row.values[from..]) {
        add_row::<VECTORS, WIDTH, FUSED>(&mut sums, matrix, (place, value));
    }
    let starts = start.chunks_exact(WIDTH);
    for ((sum, start), out) in sums.iter().zip(starts).zip(out.chunks_exact_mut(WIDTH)) {
        let mut start = Vector::<WIDTH>::of(start);
        start.add(*sum);
        start.store(out);
    }
}

/// sums += value · row `place` of a matrix, with rows of a length, from a column.
#[inline(always)]
fn add_row<const VECTORS: usize, const WIDTH: usize, const FUSED: bool>(
    sums: &mut [Vector<WIDTH>; VECTORS],
    (matrix, length, first): (&[f32], usize, usize),
    (place, value): (u32, f32),
) {
    let row = &matrix[place as usize * length + first..][..VECTORS * WIDTH];
    let factor = Vector::all(value);
    for (sum, numbers) in sums.iter_mut().zip(row.chunks_exact(WIDTH)) {
        sum.add_product::<FUSED>(factor, Vector::of(numbers));
    }
}

impl Kernel for SparseSums<'_> {
    #[inline(always)]
    fn run<const WIDTH: usize, const COLUMNS: usize, const FUSED: bool>(mut self) {
        for_each_tile!(self, self.length, WIDTH, FUSED);
    }
}

impl SparseSums<'_> {
    /// Adds to the columns from `new` of a tile from `first`. Returns its end.
    #[inline(always)]
    fn tile<const VECTORS: usize, const WIDTH: usize, const FUSED: bool>(
        &mut self,
        first: usize,
        new: usize,
    ) -> usize {
        let (length, end) = (self.length, first + VECTORS * WIDTH);
        for (row, right) in self.left.iter().zip(self.right.chunks_exact(length)) {
            let mut vectors = [Vector::<WIDTH>::zero(); VECTORS];
            for (vector, right) in vectors.iter_mut().zip(right[first..end].chunks_exact(WIDTH)) {
                *vector = Vector::of(right).without_first(new - first);
            }
            for (&place, &value) in row.places.iter().zip(row.values) {
                let out = &mut self.out[place as usize * length + first..][..VECTORS * WIDTH];
                let factor = Vector::all(value);
                for (out, &vector) in out.chunks_exact_mut(WIDTH).zip(&vectors) {
                    let mut sum = Vector::<WIDTH>::of(out);
                    sum.add_product::<FUSED>(factor, vector);
                    sum.store(out);
                }
            }
        }
        end
    }
}

kernel! {
    /// Whether all numbers are finite.
    AllFinite { values: &'a [f32], is_finite: &'a mut bool } => {
        const EXPONENT: u32 = 0x7f80_0000;
        let beyond = |value: &f32| u32::from(value.to_bits() & EXPONENT == EXPONENT);
        *is_finite = values.iter().fold(0, |any, value| any | beyond(value)) == 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gradient::instruction_set::InstructionSet;
    use crate::gradient::row_products::{EachWeightedRow, Start, WeightedRows};

    fn values(count: usize, seed: usize) -> Vec<f32> {
        (0..count).map(|at| ((at * 37 + seed * 11) % 101) as f32 / 50.0 - 1.0).collect()
    }

    /// Places and values.
    type Row = (Vec<u32>, Vec<f32>);

    /// Rows of which most numbers are 0, some of them −0, with and without these.
    fn rows(count: usize, length: usize) -> (Vec<f32>, Vec<Row>) {
        let value = |at: usize| match at * 7919 % 31 {
            0..4 => (at % 13) as f32 - 6.5,
            4 => -0.0,
            _ => 0.0,
        };
        let dense: Vec<f32> = (0..count * length).map(value).collect();
        let sparse = dense.chunks_exact(length).map(|row| {
            let found = (0..).zip(row).filter(|(_, value)| **value != 0.0);
            found.map(|(place, &value): (u32, _)| (place, value)).unzip()
        });
        let sparse = sparse.collect();
        (dense, sparse)
    }

    fn borrowed(rows: &[Row]) -> Vec<SparseRow<'_, f32>> {
        rows.iter().map(|(places, values)| SparseRow { places, values }).collect()
    }

    fn bits(values: &[f32]) -> Vec<u32> {
        values.iter().map(|value| value.to_bits()).collect()
    }

    /// Products and sums over rows.
    fn sparse(
        set: InstructionSet,
        left: &[SparseRow<'_, f32>],
        sizes: [usize; 2],
    ) -> [Vec<u32>; 2] {
        let [terms, length] = sizes;
        let (right, start) = (values(terms * length, 1), values(length, 2));
        let mut products = vec![0.0; left.len() * length];
        set.run(SparseProducts { left, right: &right, start: &start, out: &mut products });
        let (right, mut sums) = (values(left.len() * length, 3), values(terms * length, 4));
        set.run(SparseSums { left, right: &right, length, out: &mut sums });
        [bits(&products), bits(&sums)]
    }

    /// Products and sums over rows that include their zeros.
    fn dense(set: InstructionSet, left: &[f32], [terms, length]: [usize; 2]) -> [Vec<u32>; 2] {
        let (rows, count) = (values(terms * length, 1), left.len() / terms);
        let mut products = values(length, 2).repeat(count);
        let (factors, start, out) = (left, Start::Out, &mut products);
        set.run(WeightedRows { factors, steps: [terms, 1], rows: &rows, length, start, out });
        let (rows, mut sums) = (values(count * length, 3), values(terms * length, 4));
        let (rows, steps, out) = (&rows[..], [1, terms], &mut sums);
        set.run(EachWeightedRow(WeightedRows { factors, steps, rows, length, start, out }));
        [bits(&products), bits(&sums)]
    }

    #[test]
    fn sums_equal_those_with_zeros() {
        for set in InstructionSet::available() {
            for sizes in [[446, 32], [40, 30], [17, 100], [9, 5], [33, 1]] {
                let (full, found) = rows(7, sizes[0]);
                let expected = dense(set, &full, sizes);
                assert_eq!(sparse(set, &borrowed(&found), sizes), expected, "{set:?} {sizes:?}");
                // A number that is left out, and one in another place.
                let mut broken = found.clone();
                broken[3].0.pop();
                broken[3].1.pop();
                let [products, sums] = sparse(set, &borrowed(&broken), sizes);
                assert!(products != expected[0] && sums != expected[1], "{set:?} {sizes:?}");
                let mut broken = found.clone();
                broken[4].0[0] = u32::from(broken[4].0[0] == 0);
                let [products, sums] = sparse(set, &borrowed(&broken), sizes);
                assert!(products != expected[0] && sums != expected[1], "{set:?} {sizes:?}");
            }
        }
    }

    #[test]
    fn infinite_numbers_are_found() {
        for set in InstructionSet::available() {
            for value in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MAX] {
                let mut numbers = vec![1.0; 50];
                numbers[47] = value;
                let mut is_finite = false;
                set.run(AllFinite { values: &numbers, is_finite: &mut is_finite });
                assert_eq!(is_finite, value.is_finite(), "{set:?} {value}");
            }
        }
    }
}

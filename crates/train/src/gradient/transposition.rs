//! Transposed matrices.

use super::instruction_set::Kernel;

/// Side of a block.
const SIDE: usize = 16;

/// out = fromᵀ
pub(super) struct Transposition<'a> {
    pub(super) from: &'a [f32],
    /// Length of a row of `from`.
    pub(super) columns: usize,
    pub(super) out: &'a mut [f32],
}

impl Kernel for Transposition<'_> {
    #[inline(always)]
    fn run<const WIDTH: usize, const COLUMNS: usize, const FUSED: bool>(self) {
        let Self { from, columns, out } = self;
        let rows = from.len() / columns;
        for top in (0..rows).step_by(SIDE) {
            for left in (0..columns).step_by(SIDE) {
                let (height, width) = (SIDE.min(rows - top), SIDE.min(columns - left));
                #[cfg(target_arch = "x86_64")]
                if WIDTH == SIDE && height == SIDE && width == SIDE {
                    let (from, out) =
                        (&from[top * columns + left..], &mut out[left * rows + top..]);
                    // SAFETY: vectors have 16 numbers only with AVX-512.
                    unsafe { transpose_block((from, columns), (out, rows)) };
                    continue;
                }
                for column in left..left + width {
                    let out = &mut out[column * rows + top..][..height];
                    for (out, row) in out.iter_mut().zip(top..) {
                        *out = from[row * columns + column];
                    }
                }
            }
        }
    }
}

/// A block of side 2⁴, by four perfect shuffles of its rows, which compilers do not find. Each matrix
/// starts at the block; beside it is the length of its rows.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
#[inline]
fn transpose_block((from, columns): (&[f32], usize), (out, rows): (&mut [f32], usize)) {
    use std::arch::x86_64::{
        _mm512_loadu_ps, _mm512_permutex2var_ps, _mm512_setr_epi32, _mm512_setzero_ps,
        _mm512_storeu_ps,
    };
    let low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    let high = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    let mut block = [_mm512_setzero_ps(); SIDE];
    for (at, row) in block.iter_mut().enumerate() {
        let numbers = &from[at * columns..][..SIDE];
        // SAFETY: there are 16 numbers.
        *row = unsafe { _mm512_loadu_ps(numbers.as_ptr()) };
    }
    for _ in 0..4 {
        let mut next = block;
        for at in 0..SIDE / 2 {
            let (upper, lower) = (block[at], block[at + SIDE / 2]);
            next[2 * at] = _mm512_permutex2var_ps(upper, low, lower);
            next[2 * at + 1] = _mm512_permutex2var_ps(upper, high, lower);
        }
        block = next;
    }
    for (at, row) in block.iter().enumerate() {
        let numbers = &mut out[at * rows..][..SIDE];
        // SAFETY: there are 16 numbers.
        unsafe { _mm512_storeu_ps(numbers.as_mut_ptr(), *row) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gradient::instruction_set::InstructionSet;

    #[test]
    fn every_number_has_its_place() {
        for set in InstructionSet::available() {
            for (rows, columns) in [(1, 1), (16, 16), (32, 446), (446, 32), (30, 17), (3, 50)] {
                let from: Vec<f32> = (0..rows * columns).map(|at| at as f32).collect();
                let mut out = vec![0.5; from.len()];
                set.run(Transposition { from: &from, columns, out: &mut out });
                for (at, value) in out.iter().enumerate() {
                    let expected = from[at % rows * columns + at / rows];
                    assert_eq!(*value, expected, "{set:?} {rows} {columns} {at}");
                }
            }
        }
    }
}

//! Twin of `products.wgsl`: running sums of products.

use std::sync::OnceLock;

use crate::lanes::{InstructionSet, lane_fn};

/// Coordinates that are drawn together, as one vector of
/// [`VectorNormals`](crate::random::VectorNormals).
pub const BLOCK: usize = 4096;

/// Running sums of a block.
pub const SUMS: usize = 32;

/// Σ `one`\[i\] · `other`\[i\] over the i that leave the remainder l when divided by 32, for each l, in
/// the order of i; entries after the last whole 32 are left out.
#[must_use]
pub fn running_sums(one: &[f32], other: &[f32]) -> [f32; SUMS] {
    let mut sums = [0.0; SUMS];
    add_running_sums(one, other, &mut sums);
    sums
}

/// Adds to the running sums of what precedes, a multiple of 32 entries.
pub fn add_running_sums(one: &[f32], other: &[f32], sums: &mut [f32; SUMS]) {
    static WIDEST: OnceLock<InstructionSet> = OnceLock::new();
    add_products(*WIDEST.get_or_init(InstructionSet::detect), one, other, sums);
}

lane_fn! {
    fn add_products(one: &[f32], other: &[f32], sums: &mut [f32; SUMS]) = add_products_body
}

#[inline(always)]
fn add_products_body(one: &[f32], other: &[f32], sums: &mut [f32; SUMS]) {
    // a copy that stays in registers
    let mut added = *sums;
    for (a, b) in one.as_chunks::<SUMS>().0.iter().zip(other.as_chunks::<SUMS>().0) {
        for lane in 0..SUMS {
            added[lane] += a[lane] * b[lane];
        }
    }
    *sums = added;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_instruction_set_adds_the_same_bits() {
        let values = |seed: usize| -> Vec<f32> {
            (0..4_099).map(|at| ((at * 37 + seed * 11) % 101) as f32 / 50.3 - 1.0).collect()
        };
        let (one, other) = (values(1), values(2));
        let mut expected = [0.0_f32; SUMS];
        for at in 0..4_096 {
            expected[at % SUMS] += one[at] * other[at];
        }
        for isa in InstructionSet::available() {
            let mut sums = [0.0; SUMS];
            // in two parts
            for part in [0..640, 640..4_099] {
                add_products(isa, &one[part.clone()], &other[part], &mut sums);
            }
            assert_eq!(sums.map(f32::to_bits), expected.map(f32::to_bits), "{isa:?}");
        }
    }
}

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
    let mut sums = [[0.0; SUMS]];
    add_running_sums([one], other, &mut sums);
    let [sums] = sums;
    sums
}

/// Adds to the running sums of what precedes, a multiple of 32 entries, for N lists: additions of one
/// wait for each other.
pub fn add_running_sums<const N: usize>(
    ones: [&[f32]; N],
    other: &[f32],
    sums: &mut [[f32; SUMS]; N],
) {
    static WIDEST: OnceLock<InstructionSet> = OnceLock::new();
    let isa = *WIDEST.get_or_init(InstructionSet::detect);
    if isa == InstructionSet::PORTABLE {
        // its registers hold the sums of one
        for (one, sums) in ones.into_iter().zip(sums) {
            add_products(isa, [one], other, std::array::from_mut(sums));
        }
    } else {
        add_products(isa, ones, other, sums);
    }
}

lane_fn! {
    fn add_products<const N: usize>(
        ones: [&[f32]; N],
        other: &[f32],
        sums: &mut [[f32; SUMS]; N],
    ) = add_products_body
}

#[inline(always)]
fn add_products_body<const N: usize>(
    ones: [&[f32]; N],
    other: &[f32],
    sums: &mut [[f32; SUMS]; N],
) {
    // a copy that stays in registers
    let mut added = *sums;
    let ones = ones.map(|one| one.as_chunks::<SUMS>().0);
    for (at, b) in other.as_chunks::<SUMS>().0.iter().enumerate() {
        for (added, one) in added.iter_mut().zip(ones) {
            for lane in 0..SUMS {
                added[lane] += one[at][lane] * b[lane];
            }
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
            let mut sums = [[0.0; SUMS]; 2];
            // in two parts, beside another list
            for part in [0..640, 640..4_099] {
                let ones = [&other[part.clone()], &one[part.clone()]];
                add_products(isa, ones, &other[part], &mut sums);
            }
            assert_eq!(sums[1].map(f32::to_bits), expected.map(f32::to_bits), "{isa:?}");
        }
        let mut sums = [[0.0; SUMS]; 2];
        add_running_sums([&one, &one], &other, &mut sums);
        assert_eq!(sums, [expected; 2]);
    }
}

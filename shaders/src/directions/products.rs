//! Twin of `products.wgsl`: running sums of products.

/// Coordinates that are drawn together, as one vector of
/// [`VectorNormals`](crate::random::VectorNormals).
pub const BLOCK: usize = 4096;

/// Running sums of a block.
pub const SUMS: usize = 32;

/// Σ `one`\[i\] · `other`\[i\] over the i that leave the remainder l when divided by 32, for each l, in
/// the order of i; entries after the last whole 32 are left out.
#[must_use]
pub fn running_sums(one: &[f32], other: &[f32]) -> [f32; SUMS] {
    let mut sums = [0.0_f32; SUMS];
    for (a, b) in one.as_chunks::<SUMS>().0.iter().zip(other.as_chunks::<SUMS>().0) {
        for lane in 0..SUMS {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums
}

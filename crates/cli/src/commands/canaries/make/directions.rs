//! Orthonormal directions of gradients.

use dpscope_core::random::{Purpose, WideNormals};
use dpscope_formats::Array;

use super::records::array;
use crate::failure::Failure;

/// More numbers take minutes and gigabytes.
const MOST_NUMBERS: u64 = 1 << 27;

/// `count` orthonormal vectors, uniformly distributed: normals made orthogonal by Gram and Schmidt.
pub(super) fn drawn(
    count: u64,
    dimension: u64,
    seed: u64,
) -> Result<Vec<(&'static str, Array)>, Failure> {
    if !(5..=dimension).contains(&count) {
        return Err(Failure::input(format!(
            "--count is {count} and --dimension {dimension}: there must be at least 5 directions, and \
             no more than dimensions"
        )));
    }
    if count.saturating_mul(dimension) > MOST_NUMBERS {
        return Err(Failure::input(format!(
            "--count times --dimension exceeds {MOST_NUMBERS}: use coordinates of the gradient as \
             directions, which need no file"
        )));
    }
    let width = dimension as usize;
    let mut normals = WideNormals::new(seed, Purpose::SyntheticData, 3);
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for _ in 0..count {
        let mut row = vec![0.0; width];
        normals.fill(&mut row);
        // twice, since one pass leaves rounding errors of the first products
        for _ in 0..2 {
            for other in &rows {
                let product = dot(&row, other);
                row.iter_mut().zip(other).for_each(|(value, other)| *value -= product * other);
            }
            let norm = dot(&row, &row).sqrt();
            row.iter_mut().for_each(|value| *value /= norm);
        }
        rows.push(row);
    }
    let shape = vec![rows.len(), width];
    Ok(vec![("inputs", array(shape, rows.concat())?)])
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_are_orthonormal() {
        let arrays = drawn(20, 30, 1).unwrap();
        let rows: Vec<&[f64]> = arrays[0].1.data().chunks(30).collect();
        for (i, one) in rows.iter().enumerate() {
            for (j, other) in rows.iter().enumerate() {
                let expected = f64::from(u8::from(i == j));
                assert!((dot(one, other) - expected).abs() < 1e-14, "{i} {j}");
            }
        }
        assert!(drawn(31, 30, 1).is_err() && drawn(4, 30, 1).is_err());
    }
}

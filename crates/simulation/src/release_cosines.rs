//! Cosines of canaries with several releases, of which one block is in memory at a time.

use std::ops::Range;

#[cfg(not(target_arch = "wasm32"))]
use rayon::prelude::*;

use crate::directions::{BLOCK, CanaryDirections, dot};

/// What a canary is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Compared {
    /// Each of these releases.
    Each(Range<usize>),
    /// The sum of these releases.
    Sum(Vec<usize>),
}

/// Cosines cos(cᵢ, ρₜ) of canary directions with releases that arrive block by block.
///
/// Directions are those of [`CanaryDirections`], drawn once per block: neither k·d nor T·d numbers
/// exist at a time. With one release, the same bits as [`CanaryDirections::cosine`]
/// (`unit::blocks_have_the_bits_of_whole_releases`).
///
/// # Example
/// ```
/// use dpscope_simulation::{CanaryDirections, Compared, ReleaseCosines};
/// let direction = CanaryDirections::new(7, 5_000).direction(3);
/// let release: Vec<f32> = direction.iter().map(|&x| (70.0 * x) as f32).collect();
/// let mut cosines = ReleaseCosines::new(7, 5_000, 1, [(3, Compared::Each(0..1))]);
/// cosines.add(0, &[release[..4_096].to_vec()]);
/// cosines.add(4_096, &[release[4_096..].to_vec()]);
/// assert!((cosines.of(0)[0] - 1.0).abs() < 1e-6);
/// ```
#[derive(Debug)]
pub struct ReleaseCosines {
    seed: u64,
    dimension: usize,
    /// Squared norm ‖ρₜ‖² of each release.
    squares: Vec<f64>,
    canaries: Vec<CanaryProducts>,
}

/// Sums over the blocks so far.
#[derive(Debug)]
struct CanaryProducts {
    canary: u64,
    compared: Compared,
    products: Vec<f64>,
    /// Squared norm ‖y‖² of the canary's normals y.
    square: f64,
    /// Squared norm of the sum of releases.
    sum_square: f64,
}

impl ReleaseCosines {
    /// Coordinates of a block: every block begins at a multiple of it.
    pub const BLOCK: usize = BLOCK;

    /// Canaries of a seed in R^d, each with the releases among `releases` that it is compared with.
    #[must_use]
    pub fn new(
        seed: u64,
        dimension: usize,
        releases: usize,
        canaries: impl IntoIterator<Item = (u64, Compared)>,
    ) -> Self {
        let products = |(canary, compared): (u64, Compared)| {
            let length = match &compared {
                Compared::Each(range) => range.len(),
                Compared::Sum(_) => 1,
            };
            let products = vec![0.0; length];
            CanaryProducts { canary, compared, products, square: 0.0, sum_square: 0.0 }
        };
        let canaries = canaries.into_iter().map(products).collect();
        Self { seed, dimension, squares: vec![0.0; releases], canaries }
    }

    /// Adds coordinates `first`, `first` + 1, … of every release; blocks come in their order, and all
    /// but the last are whole.
    ///
    /// # Panics
    /// If a release is missing, or is shorter than another one.
    pub fn add(&mut self, first: usize, releases: &[Vec<f32>]) {
        debug_assert!(first.is_multiple_of(BLOCK));
        for (square, release) in self.squares.iter_mut().zip(releases) {
            *square = release.iter().fold(*square, |sum, &x| sum + f64::from(x) * f64::from(x));
        }
        let (seed, dimension) = (self.seed, self.dimension);
        let scratch = || (CanaryDirections::new(seed, dimension), vec![0.0; BLOCK]);
        type Scratch = (CanaryDirections, Vec<f32>);
        let add = |(directions, sum): &mut Scratch, canary: &mut CanaryProducts| {
            canary.add(directions, first, releases, sum);
        };
        #[cfg(not(target_arch = "wasm32"))]
        self.canaries.par_iter_mut().for_each_init(scratch, add);
        #[cfg(target_arch = "wasm32")]
        {
            let mut scratch = scratch();
            self.canaries.iter_mut().for_each(|canary| add(&mut scratch, canary));
        }
    }

    /// The cosines of a canary by its place in the list, in the order of its releases, or that with
    /// their sum; NaN for a release or a sum that is 0.
    #[must_use]
    pub fn of(&self, place: usize) -> Vec<f64> {
        let canary = &self.canaries[place];
        let norm = canary.square.sqrt();
        let squares = match &canary.compared {
            Compared::Each(range) => &self.squares[range.clone()],
            Compared::Sum(_) => std::slice::from_ref(&canary.sum_square),
        };
        let cosine = |(product, square): (&f64, &f64)| product / (norm * square.sqrt());
        canary.products.iter().zip(squares).map(cosine).collect()
    }

    /// The norm of the sum of releases that a canary is compared with; 0 for other canaries.
    #[must_use]
    pub fn norm_of_sum(&self, place: usize) -> f64 {
        self.canaries[place].sum_square.sqrt()
    }
}

impl CanaryProducts {
    fn add(
        &mut self,
        directions: &mut CanaryDirections,
        first: usize,
        releases: &[Vec<f32>],
        sum: &mut [f32],
    ) {
        let length = releases.first().map_or(0, Vec::len);
        for start in (0..length).step_by(BLOCK) {
            let part = start..length.min(start + BLOCK);
            let normals = directions.block(self.canary, (first + start) / BLOCK, part.len());
            self.square += dot(normals, normals);
            match &self.compared {
                Compared::Each(range) => {
                    let releases = releases[range.clone()].iter();
                    for (product, release) in self.products.iter_mut().zip(releases) {
                        *product += dot(normals, &release[part.clone()]);
                    }
                }
                Compared::Sum(members) => {
                    let sum = &mut sum[..part.len()];
                    sum.fill(0.0);
                    for &member in members {
                        let release = &releases[member][part.clone()];
                        sum.iter_mut().zip(release).for_each(|(sum, x)| *sum += x);
                    }
                    self.products[0] += dot(normals, sum);
                    let squares = sum.iter().map(|&x| f64::from(x) * f64::from(x));
                    self.sum_square += squares.sum::<f64>();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ModelChange;
    use dpscope_core::math;

    const DIMENSION: usize = 20_001;

    fn releases() -> Vec<Vec<f32>> {
        let entry = |t: usize| move |i: usize| math::sin((i * i + 7 * t) as f64) as f32;
        (0..5).map(|t| (0..DIMENSION).map(entry(t)).collect()).collect()
    }

    fn scored(block: usize, canaries: Vec<(u64, Compared)>) -> ReleaseCosines {
        let releases = releases();
        let mut cosines = ReleaseCosines::new(3, DIMENSION, releases.len(), canaries);
        for first in (0..DIMENSION).step_by(block) {
            let part = first..DIMENSION.min(first + block);
            let part: Vec<Vec<f32>> = releases.iter().map(|r| r[part.clone()].to_vec()).collect();
            cosines.add(first, &part);
        }
        cosines
    }

    #[test]
    fn blocks_have_the_bits_of_whole_releases() {
        for block in [BLOCK, 3 * BLOCK, 8 * BLOCK] {
            let canaries = (0..9).map(|canary| (canary, Compared::Each(0..5))).collect();
            let cosines = scored(block, canaries);
            let mut directions = CanaryDirections::new(3, DIMENSION);
            let changes = releases().into_iter().map(ModelChange::of_sum).collect::<Vec<_>>();
            let mut expected = Vec::new();
            for canary in 0..9 {
                directions.cosines(canary, &changes, &mut expected);
                assert_eq!(cosines.of(canary as usize), expected);
            }
        }
    }

    #[test]
    fn sums_are_those_of_f64_loops() {
        let members = [vec![0], vec![1, 3], vec![0, 1, 2, 3, 4]];
        let compared = |members: &Vec<usize>| Compared::Sum(members.clone());
        let canaries = members.iter().enumerate().map(|(i, m)| (i as u64, compared(m))).collect();
        let cosines = scored(2 * BLOCK, canaries);
        let releases = releases();
        for (canary, members) in members.iter().enumerate() {
            let direction = CanaryDirections::new(3, DIMENSION).direction(canary as u64);
            let entry = |i: usize| members.iter().map(|&t| f64::from(releases[t][i])).sum::<f64>();
            let sum: Vec<f64> = (0..DIMENSION).map(entry).collect();
            let norm = sum.iter().map(|x| x * x).sum::<f64>().sqrt();
            let cosine = direction.iter().zip(&sum).map(|(c, x)| c * x).sum::<f64>() / norm;
            let error = (cosines.of(canary)[0] - cosine).abs() * (DIMENSION as f64).sqrt();
            assert!(error < 1e-4, "{error}");
            assert!((cosines.norm_of_sum(canary) / norm - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn a_release_of_zeros_has_no_cosine() {
        let mut cosines = ReleaseCosines::new(3, 10, 1, [(0, Compared::Each(0..1))]);
        cosines.add(0, &[vec![0.0; 10]]);
        assert!(cosines.of(0)[0].is_nan());
    }
}

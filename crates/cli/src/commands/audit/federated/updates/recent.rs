//! Products of each release with those before it.

use dpscope_core::audit::one_shot::UpdateResidual;
use rayon::prelude::*;

/// Earlier releases that a release is compared with.
const WINDOW: usize = 32;

/// ⟨ρₛ, ρₜ⟩ of releases at most 32 server rounds apart, as they are scaled.
pub(super) struct RecentProducts {
    /// Row t: products with releases t − 32 … t.
    rows: Vec<Vec<f64>>,
}

impl RecentProducts {
    pub(super) fn new(rounds: usize) -> Self {
        Self { rows: (0..rounds).map(|round| vec![0.0; round.min(WINDOW) + 1]).collect() }
    }

    /// Adds a block of all releases.
    pub(super) fn add(&mut self, releases: &[Vec<f32>]) {
        self.rows.par_iter_mut().enumerate().for_each(|(round, row)| {
            let first = round - round.min(WINDOW);
            for (product, other) in row.iter_mut().zip(&releases[first..=round]) {
                let terms = other.iter().zip(&releases[round]);
                *product += terms.map(|(&a, &b)| f64::from(a) * f64::from(b)).sum::<f64>();
            }
        });
    }

    /// What is left of each release after projection on those before it, given the scales.
    pub(super) fn residuals(&self, scale: impl Fn(usize) -> f64) -> Vec<UpdateResidual> {
        let of = |last: usize| {
            let first = last - last.min(WINDOW);
            let product =
                |i: usize, j: usize| self.rows[i][j - (i - i.min(WINDOW))] * scale(i) * scale(j);
            let row = |i: usize| (first..=i).map(|j| product(i, j)).collect();
            let products: Vec<Vec<f64>> = (first..=last).map(row).collect();
            UpdateResidual::of_last(&products)
        };
        (0..self.rows.len()).map(of).collect()
    }

    /// ‖ρₜ‖².
    pub(super) fn square_norms(&self, scale: impl Fn(usize) -> f64) -> Vec<f64> {
        let square = |(round, row): (usize, &Vec<f64>)| {
            row.last().copied().unwrap_or(0.0) * scale(round) * scale(round)
        };
        self.rows.iter().enumerate().map(square).collect()
    }
}

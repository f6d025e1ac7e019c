//! Counts beside their means, standardised.

/// The sum of counts less their means, and its variance; counts of independent epochs add.
#[derive(Debug, Default)]
pub(super) struct Excess {
    pub(super) excess: f64,
    pub(super) variance: f64,
    /// Σ of squared means, which rounding errors of the variance are proportional to.
    squares: f64,
}

impl Excess {
    pub(super) fn add(&mut self, count: usize, mean: f64, variance: f64) {
        self.excess += count as f64 - mean;
        self.variance += variance;
        self.squares += mean * mean;
    }

    /// The excess in standard deviations; none where the count is certain.
    pub(super) fn score(&self) -> Option<f64> {
        // rounding leaves 1e-15 of the squared mean; the least true variance is 1/n of it
        let is_random = self.variance > 1e-12 * self.squares;
        is_random.then(|| self.excess / self.variance.sqrt())
    }
}

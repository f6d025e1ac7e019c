//! Pairs of distributions of two outputs, by quadrature.

use dpscope_core::math::exp;

/// Limit of the quadrature's own error in ε.
pub(crate) const ERROR: f64 = 1e-3;
/// Points a side, and the reach beyond all means in units of σ.
const POINTS: usize = 900;
const REACH: f64 = 9.0;

/// Two distributions on a grid.
pub(crate) struct Pair(Vec<(f64, f64)>);

impl Pair {
    /// Two outputs, of densities that `both` returns for D and D′; means lie in `from` to `to`.
    pub(crate) fn new(
        sigma: f64,
        [from, to]: [f64; 2],
        both: impl Fn([f64; 2]) -> (f64, f64),
    ) -> Pair {
        let width = (to - from + 2.0 * REACH * sigma) / POINTS as f64;
        let point = |place: usize| from - REACH * sigma + (place as f64 + 0.5) * width;
        let cells = (0..POINTS * POINTS).map(|cell| {
            let (p, q) = both([point(cell / POINTS), point(cell % POINTS)]);
            (p * width * width, q * width * width)
        });
        let pair = Pair(cells.collect());
        let total: f64 = pair.0.iter().map(|cell| cell.0).sum();
        assert!((total - 1.0).abs() < 1e-9, "{total}");
        pair
    }

    fn delta_at(&self, epsilon: f64) -> f64 {
        let factor = exp(epsilon);
        self.0.iter().map(|(p, q)| (p - factor * q).max(0.0)).sum()
    }

    pub(crate) fn epsilon_at(&self, delta: f64) -> f64 {
        let (mut low, mut high) = (0.0, 60.0);
        while high - low > 1e-5 {
            let middle = 0.5 * (low + high);
            if self.delta_at(middle) > delta { low = middle } else { high = middle }
        }
        low
    }
}

/// The normal density.
pub(crate) fn normal(x: f64, mean: f64, sigma: f64) -> f64 {
    exp(-0.5 * ((x - mean) / sigma) * ((x - mean) / sigma)) / (sigma * 2.506_628_274_631_000_5)
}

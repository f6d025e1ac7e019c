//! Table 2 of the paper.

pub(super) const DELTA: f64 = 1e-6;

/// Runs per setting.
pub(super) const PUBLISHED_RUNS: u64 = 50;

/// Dimension and canaries, ⌊√d⌋.
pub(super) const SIZES: [(u64, usize); 4] =
    [(10_000, 100), (100_000, 316), (1_000_000, 1_000), (10_000_000, 3_162)];

/// Mean, standard deviation, and half a unit of the last digit of the mean.
pub(super) type Printed = (f64, f64, f64);

/// Table 2 of G. Andrew et al. (2024), arXiv:2302.03098: ε, then its estimates by dimension.
pub(super) const PUBLISHED: [(f64, [Printed; 4]); 3] = [
    (10.0, [(9.89, 0.71, 0.005), (10.1, 0.41, 0.05), (10.0, 0.23, 0.05), (10.0, 0.10, 0.05)]),
    (3.0, [(3.00, 0.46, 0.005), (3.00, 0.31, 0.005), (2.96, 0.15, 0.005), (3.00, 0.08, 0.005)]),
    (1.0, [(0.98, 0.41, 0.005), (1.05, 0.23, 0.005), (0.99, 0.14, 0.005), (1.00, 0.07, 0.005)]),
];

//! Limits of the tests of noise.

use crate::math;
use crate::special::{chi_square, normal};

/// From this dimension on, the normal limits of kurtosis are exact enough.
const NORMAL_KURTOSIS: f64 = 1e6;

/// From this dimension on, the expansion of Cornish and Fisher is exact to 1e-14.
const CORNISH_FISHER: f64 = 1e5;

/// Fewest entries, or pairs, of a test of correlation or kurtosis.
pub(super) const FEWEST: u64 = 256;

/// Chance that noise as stated has a finding, over all tests of a record.
pub(super) const FALSE_ALARM: f64 = 1e-3;

/// Limits that one of several tests of standard normal noise z ∈ ℝᵈ exceeds with probability
/// α = 1e-3 ÷ number of tests.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `dimension` | d | 1 to 1e15 |
/// | `tests` | number of tests | 1 to 1e9 |
///
/// # Guarantee
/// All tests of a record together have a finding with probability at most 1e-3 if the noise is as
/// stated (`crates/core/src/training_check/step/tests/limits_of_noise.rs::correct_noise_rarely_has_a_finding`).
///
/// # Numerics
/// Relative error of `lower` and `upper` below 1e-9 up to d = 10⁵, and 1e-14 beyond.
///
/// # Reference
/// H. Goldberg and H. Levine, "Approximate formulas for the percentage points and normalization of t
/// and χ²", 1946, for d ≥ 10⁵.
///
/// # Example
/// ```
/// let limits = dpscope_core::training_check::step::NoiseLimits::new(2410, 100);
/// println!("{:.1} to {:.1}", limits.lower, limits.upper); // 2115.6 to 2729.1
/// # assert_eq!(format!("{:.1} to {:.1}", limits.lower, limits.upper), "2115.6 to 2729.1");
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoiseLimits {
    /// Least ‖z‖², the α/2-quantile of χ²_d.
    pub lower: f64,
    /// Largest ‖z‖².
    pub upper: f64,
    /// Largest |correlation| of d pairs, z_{α/2}/√d; used from d = 256 on.
    pub correlation: f64,
    /// Largest |excess kurtosis|, z_{α/2}√(24/d); used from d = 10⁶ on, see [`kurtosis_score`].
    pub kurtosis: f64,
}

impl NoiseLimits {
    /// Limits of one of `tests` tests.
    #[must_use]
    pub fn new(dimension: u64, tests: u64) -> Self {
        let (dimension, half) = (dimension.max(1) as f64, half_level(tests));
        let score = -normal::quantile(half);
        let [lower, upper] = chi_square_quantiles(dimension, half);
        NoiseLimits {
            lower,
            upper,
            correlation: score / dimension.sqrt(),
            kurtosis: score * (24.0 / dimension).sqrt(),
        }
    }
}

/// α/2 of one of `tests` tests.
pub(super) fn half_level(tests: u64) -> f64 {
    0.5 * FALSE_ALARM / tests.max(1) as f64
}

/// The quantiles of χ²_d at `half` and 1 − `half`.
pub(super) fn chi_square_quantiles(dimension: f64, half: f64) -> [f64; 2] {
    if dimension < CORNISH_FISHER {
        return [half, 1.0 - half].map(|probability| chi_square::quantile(dimension, probability));
    }
    let score = normal::quantile(half);
    [cornish_fisher(dimension, score), cornish_fisher(dimension, -score)]
}

/// The quantile of χ²_d at Φ(z), to order d^{−3/2}.
fn cornish_fisher(dimension: f64, z: f64) -> f64 {
    let (square, root) = (z * z, (2.0 * dimension).sqrt());
    let terms = [
        root * z,
        2.0 / 3.0 * (square - 1.0),
        z * (square - 7.0) / (9.0 * root),
        -((6.0 * square + 14.0) * square - 32.0) / (405.0 * dimension),
        z * ((9.0 * square + 256.0) * square - 433.0) / (4860.0 * root * dimension),
    ];
    dimension + terms.iter().sum::<f64>()
}

/// The kurtosis of d normal numbers as a standard normal score.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `dimension` | d | 256 to 1e15 |
/// | `kurtosis` | m₄/m₂², with central moments | \[1, d\] |
///
/// Below d = 10⁶ the cube root of Anscombe and Glynn, since the normal approximation accuses correct
/// noise about 100 times too often at 1e-5; from there on (b₂ − 3)/√(24/d).
///
/// # Reference
/// F. J. Anscombe and W. J. Glynn, "Distribution of the kurtosis statistic b₂ for normal samples",
/// 1983.
#[must_use]
pub fn kurtosis_score(dimension: u64, kurtosis: f64) -> f64 {
    let n = dimension as f64;
    if n >= NORMAL_KURTOSIS {
        return (kurtosis - 3.0) / (24.0 / n).sqrt();
    }
    let mean = 3.0 * (n - 1.0) / (n + 1.0);
    let variance =
        24.0 * n * (n - 2.0) * (n - 3.0) / ((n + 1.0) * (n + 1.0) * (n + 3.0) * (n + 5.0));
    let skewness = 6.0 * (n * n - 5.0 * n + 2.0) / ((n + 7.0) * (n + 9.0))
        * (6.0 * (n + 3.0) * (n + 5.0) / (n * (n - 2.0) * (n - 3.0))).sqrt();
    let degrees =
        6.0 + 8.0 / skewness * (2.0 / skewness + (1.0 + 4.0 / (skewness * skewness)).sqrt());
    let standard = (kurtosis - mean) / variance.sqrt();
    let denominator = 1.0 + standard * (2.0 / (degrees - 4.0)).sqrt();
    // a kurtosis far below that of a normal has no such root
    if denominator <= 0.0 {
        return f64::NEG_INFINITY;
    }
    let spread = 2.0 / (9.0 * degrees);
    (1.0 - spread - math::cbrt((1.0 - 2.0 / degrees) / denominator)) / spread.sqrt()
}

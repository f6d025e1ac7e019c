//! Published estimates of one-shot audits beside ours.

use serde::Serialize;

/// The document of `dpscope reproduce one-shot-table-2`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OneShotTableReport {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "dpscope.one_shot_table/1")))]
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// δ of the estimates.
    pub delta: f64,
    /// Runs per setting.
    pub runs: u64,
    /// Runs per setting in the paper.
    pub published_runs: u64,
    /// The device that drew every coordinate of directions, noise and sum; none if cosines were drawn by
    /// their joint distribution.
    pub full_dimension_device: Option<String>,
    /// Decimal digits.
    pub seed: String,
    /// One per ε and dimension.
    pub rows: Vec<OneShotTableRow>,
    /// What runs without any leak show, by dimension.
    pub null_estimates: Vec<OneShotNullEstimates>,
    /// Other numbers of the paper that its own definitions do not yield.
    pub discrepancies: Vec<PaperDiscrepancy>,
    /// Wall-clock time.
    pub elapsed_ms: f64,
}

/// Estimates of one mechanism.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OneShotTableRow {
    /// ε of the mechanism.
    pub epsilon: f64,
    /// Its noise multiplier.
    pub noise_multiplier: f64,
    /// Dimension of the sum.
    pub dimension: u64,
    /// Canaries of a run, ⌊√d⌋.
    pub canaries: u64,
    /// Printed in the paper: mean and standard deviation over its runs.
    pub published: EstimateSpread,
    /// The published algorithm: mean and standard deviation of the cosines are both fitted.
    pub fitted_sd: ComparedEstimate,
    /// The standard deviation is known to be 1/√d: our estimate by the mean score.
    pub known_sd: ComparedEstimate,
}

/// Estimates of a mechanism that leaks nothing: 5 % and 95 % quantile.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OneShotNullEstimates {
    /// Dimension of the sum.
    pub dimension: u64,
    /// Canaries of a run.
    pub canaries: u64,
    /// Estimates by the published algorithm.
    pub fitted_sd: [f64; 2],
    /// Estimates by the mean score.
    pub known_sd: [f64; 2],
}

/// Mean and standard deviation over runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EstimateSpread {
    /// Mean.
    pub mean: f64,
    /// Standard deviation of one run.
    pub sd: f64,
}

/// Our estimates beside the printed mean.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedEstimate {
    /// Ours.
    #[serde(flatten)]
    pub ours: EstimateSpread,
    /// The largest difference of the means that rounding and three standard errors of both explain.
    pub tolerance: f64,
    /// Whether the means differ by more.
    pub is_mismatch: bool,
}

impl ComparedEstimate {
    /// Compares means of so many runs with a printed one, rounded to `half_a_unit`.
    #[must_use]
    pub fn new(
        ours: EstimateSpread,
        published: EstimateSpread,
        half_a_unit: f64,
        [our_runs, published_runs]: [u64; 2],
    ) -> Self {
        let square = ours.sd * ours.sd / our_runs as f64
            + published.sd * published.sd / published_runs as f64;
        let tolerance = half_a_unit + 3.0 * square.sqrt();
        let is_mismatch = !((ours.mean - published.mean).abs() <= tolerance);
        Self { ours, tolerance, is_mismatch }
    }
}

/// A printed number that its own definition does not yield.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PaperDiscrepancy {
    /// Where it stands.
    pub place: &'static str,
    /// As printed.
    pub printed: String,
    /// As computed here.
    pub computed: String,
    /// What that means.
    pub says: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_agree_within_rounding_and_three_standard_errors() {
        let spread = |mean| EstimateSpread { mean, sd: 0.71 };
        let compare = |mean| ComparedEstimate::new(spread(mean), spread(9.89), 0.005, [1_000, 50]);
        assert!(!compare(9.82).is_mismatch && !compare(10.1).is_mismatch);
        assert!(compare(12.2).is_mismatch && compare(f64::NAN).is_mismatch);
    }
}

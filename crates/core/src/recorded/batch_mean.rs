//! The mean of the batches without the target, compared with the one that the threat model assumes.

use super::output_parameter::OutputParameter;

/// Largest deviation, in clip norms, that is no finding: the means of the threat models are 1 or more
/// apart.
const TOLERANCE: f64 = 0.5;

/// The mean output of the batches without the target, by maximum likelihood of it and of the noise, with
/// the contrast and the uses of the threat model that fits.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OtherBatchMean {
    /// The mean found, clip norms.
    pub value: f64,
    /// Lower confidence limit.
    pub lower: f64,
    /// Upper confidence limit.
    pub upper: f64,
    /// b, the mean that the threat model assumes.
    pub expected: f64,
}

impl OtherBatchMean {
    pub(crate) const fn new(found: OutputParameter, expected: f64) -> Self {
        let OutputParameter { value, lower, upper } = found;
        OtherBatchMean { value, lower, upper, expected }
    }

    /// Whether the mean is another than the threat model assumes.
    #[must_use]
    pub fn differs(&self) -> bool {
        self.lower > self.expected + TOLERANCE || self.upper < self.expected - TOLERANCE
    }

    /// Whether it is the mean that another threat model assumes.
    pub(crate) fn is_near(&self, mean: f64) -> bool {
        (self.value - mean).abs() <= TOLERANCE
    }
}

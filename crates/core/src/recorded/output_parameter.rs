//! A parameter of recorded outputs.

/// A parameter of recorded outputs with an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutputParameter {
    /// The value of the largest likelihood.
    pub value: f64,
    /// Lower confidence limit.
    pub lower: f64,
    /// Upper confidence limit.
    pub upper: f64,
}

impl OutputParameter {
    /// A parameter that is known.
    pub(crate) const fn exactly(value: f64) -> Self {
        OutputParameter { value, lower: value, upper: value }
    }

    /// The parameter times a positive factor.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        let OutputParameter { value, lower, upper } = self;
        OutputParameter { value: factor * value, lower: factor * lower, upper: factor * upper }
    }

    /// Whether all of the interval is below or above a range.
    pub(crate) fn is_outside(self, [least, most]: [f64; 2]) -> bool {
        self.upper < least || self.lower > most
    }

    /// Whether two intervals have a value in common.
    pub(crate) fn overlaps(self, other: Self) -> bool {
        self.lower <= other.upper && other.lower <= self.upper
    }

    /// Whether the limits are positive and less than a factor apart.
    pub(crate) fn is_within_factor(self, factor: f64) -> bool {
        self.lower > 0.0 && self.upper < factor * self.lower
    }
}

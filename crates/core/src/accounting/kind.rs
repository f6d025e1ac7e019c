//! Kinds of values and methods of computation.

/// On which side of the exact value a computed one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Kind {
    /// Not below the exact value.
    Upper,
    /// Not above the exact value.
    Lower,
    /// Near the exact value, on either side.
    Estimate,
}

impl Kind {
    /// The sign between a quantity and its value.
    #[must_use]
    pub const fn sign(self) -> char {
        match self {
            Kind::Upper => '≤',
            Kind::Lower => '≥',
            Kind::Estimate => '≈',
        }
    }

    /// The name in documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Upper => "upper",
            Kind::Lower => "lower",
            Kind::Estimate => "estimate",
        }
    }
}

/// How a value was computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Method {
    /// A closed formula of the Gaussian mechanism.
    Analytic,
    /// A privacy loss distribution, composed by Fourier transforms.
    PrivacyLossDistribution,
    /// The slices of max_t x_t.
    MaxSlice,
    /// The sum of an epoch's outputs.
    Sum,
    /// Importance sampling of the pair.
    ImportanceSampling,
    /// The sampled loss distribution of one epoch, composed: an estimate, never a bound.
    PlugIn,
}

//! What may be behind recorded outputs.

/// What may be behind recorded outputs: which of the stated parameters b, κ, σ and p differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Explanation {
    /// Everything as stated; b is free, as in every explanation but the two factors.
    Stated,
    /// Another σ.
    Noise,
    /// Another number of uses per epoch.
    Uses,
    /// Another κ in D alone: another size of the target's gradient.
    Size,
    /// All outputs times a factor.
    Scaled,
    /// b and κ times a factor: gradients that are not clipped.
    Unclipped,
    /// −κ, and b near the negated one.
    Negated,
    /// The outputs of D are those of D′, and the reverse.
    Swapped,
    /// Another σ in each world.
    NoiseByWorld,
    /// Another κ, σ and number of uses.
    All,
}

impl Explanation {
    /// Every explanation of outputs that are not as stated.
    pub const FAULTS: [Explanation; 9] = [
        Explanation::Noise,
        Explanation::Uses,
        Explanation::Size,
        Explanation::Scaled,
        Explanation::Unclipped,
        Explanation::Negated,
        Explanation::Swapped,
        Explanation::NoiseByWorld,
        Explanation::All,
    ];

    /// Explanations that contain the stated parameters, so that their likelihood ratio tests these.
    pub const TESTED: [Explanation; 5] = [
        Explanation::Noise,
        Explanation::Uses,
        Explanation::Size,
        Explanation::NoiseByWorld,
        Explanation::All,
    ];

    /// Number of free parameters.
    #[must_use]
    pub const fn parameters(self) -> usize {
        match self {
            Explanation::Stated
            | Explanation::Scaled
            | Explanation::Unclipped
            | Explanation::Negated
            | Explanation::Swapped => 1,
            Explanation::Noise | Explanation::Uses | Explanation::Size => 2,
            Explanation::NoiseByWorld => 3,
            Explanation::All => 4,
        }
    }

    /// Whether a parameter is a mean of outputs.
    pub(super) fn is_mean(self, index: usize) -> bool {
        match self {
            Explanation::Scaled | Explanation::Unclipped => false,
            Explanation::Size | Explanation::All => index < 2,
            _ => index == 0,
        }
    }

    /// The parameter that is the logit of p.
    pub(super) const fn logit_index(self) -> Option<usize> {
        match self {
            Explanation::Uses => Some(1),
            Explanation::All => Some(3),
            _ => None,
        }
    }
}

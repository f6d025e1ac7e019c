//! What an observation's score depends on, and nothing more: the input of every score kernel.

/// The law of one observation's score, reduced to the entries that the score looks at.
///
/// All values are in units of the clip norm. An *entry* is one noisy output, centred on the mean
/// `a` that the target's batch has in D: with x = o − a, an entry is N(0, σ²) at the target's slot
/// in D, N(−1, σ²) there in D′ (every threat model has a − c = 1), and N(−`gap`, σ²) elsewhere in
/// both worlds.
///
/// Persistent shuffle and deterministic batching are reduced here: sums over epochs are sufficient
/// for them, so they are one epoch at σ/√E.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreLaw {
    /// Noise standard deviation ÷ clip norm, after reduction; finite, > 0.
    pub noise_multiplier: f64,
    /// Independent epochs, whose scores add; ≥ 1.
    pub epochs: u32,
    /// Entries of one epoch that the score looks at; ≥ 1. Entry index is epoch-major.
    pub entries: u32,
    /// How the score is formed.
    pub kind: LawKind,
}

/// How the entries of an epoch are drawn and scored.
#[derive(Debug, Clone, PartialEq)]
pub enum LawKind {
    /// The target's batch falls in exactly one slot of each epoch.
    ///
    /// Score of an epoch, with g = `gap`, w = the slot weights and any centre m:
    ///
    /// (m + ½)/σ² + ln Σ w_t·exp(g(x_t − m)/σ²) − ln Σ w_t·exp((g − 1)(x_t − m)/σ²)
    OneSlot {
        /// a − b: 2 (worst case, partially informed), 1 (target canary, balls-in-bins) or 2B
        /// (batch-then-shuffle).
        gap: f64,
        /// Where the target's batch falls.
        weights: SlotWeights,
    },
    /// The target is in each step independently (E·T of them; `entries` = T). Score of a step,
    /// with o = x + 1 (so that o is N(1, σ²) where the target is in, N(0, σ²) elsewhere and
    /// everywhere in D′): log1p(q·expm1((2o − 1)/(2σ²))).
    Poisson {
        /// Inclusion probability q, in (0, 1].
        sampling_rate: f64,
    },
}

/// The law of the target's slot within an epoch.
#[derive(Debug, Clone, PartialEq)]
pub enum SlotWeights {
    /// Uniform over the entries; by symmetry a simulation keeps the target at entry 0.
    Uniform,
    /// One probability an entry, each > 0, of total ≤ 1; with the rest of the probability the
    /// target falls in a slot that the score does not look at. A simulation draws the slot.
    Weighted(Vec<f64>),
}

//! Known bounds in words.

use dpscope_core::accounting::KnownBound;

/// What a known bound is called where a program or a page shows it.
#[derive(Debug, Clone, Copy)]
pub struct BoundWords {
    /// Name in the documents of `compare` and `sweep`.
    pub record: &'static str,
    /// Name in the table of `compare`.
    pub name: &'static str,
    /// Heading of its column in the table of `sweep`.
    pub column: &'static str,
    /// What the heading stands for.
    pub meaning: &'static str,
    /// Name in the table of the page.
    pub title: &'static str,
    /// What it is, below that name.
    pub says: &'static str,
}

impl BoundWords {
    /// A bound that `sweep` does not show.
    const fn compared(record: &'static str, name: &'static str) -> Self {
        BoundWords { record, name, column: name, meaning: name, title: name, says: "" }
    }

    const fn swept(self, column: &'static str, meaning: &'static str) -> Self {
        BoundWords { column, meaning, ..self }
    }

    const fn explored(self, title: &'static str, says: &'static str) -> Self {
        BoundWords { title, says, ..self }
    }
}

const WORST_KNOWN: &str = "of the worst known data set";
const EVERY: &str = "for every data set";

/// The words of a known bound.
#[must_use]
pub const fn bound_words(bound: KnownBound) -> BoundWords {
    let compared = BoundWords::compared;
    match bound {
        KnownBound::Poisson => compared("poisson", "Poisson accounting")
            .swept("Poisson ≤", "claim of Poisson accounting")
            .explored("Poisson accounting", "the usual claim"),
        KnownBound::BallsInBins => compared("balls_in_bins", "balls-in-bins")
            .swept("bins ≤", "upper bound for balls-in-bins batches, proven")
            .explored("Balls-in-bins", "a sampler with fixed steps"),
        KnownBound::ShuffleBest => compared("shuffle_lower", "shuffle")
            .swept("shuffle ≥", "lower bound for shuffled batches, proven"),
        KnownBound::ShuffleSum => compared("shuffle_sum", "shuffle, sum")
            .explored("Shuffled, sum", "from the sum of outputs"),
        KnownBound::ShuffleMaxSlice => compared("shuffle_max_slice", "shuffle, max-slice")
            .explored("Shuffled, max-slice", "from the largest output"),
        KnownBound::PersistentShuffle => compared("persistent_shuffle", "persistent shuffle")
            .explored("Persistently shuffled", "one order for all epochs"),
        KnownBound::PairLower => compared("pair_lower", "pair, limit")
            .swept(
                "limit ≥",
                "lower limit from draws of the exact pair, or the proven bound if that is larger",
            )
            .explored("Worst-case pair", "simulated, best available"),
        KnownBound::PairEstimate => compared("pair_estimate", "pair, estimate")
            .swept("pair ≈", "estimate for the exact pair")
            .explored("Worst-case pair", "simulated estimate"),
        KnownBound::FixedSizeLower => compared("fixed_size_lower", "fixed-size, at least")
            .explored("Fixed size, at least", WORST_KNOWN),
        KnownBound::FixedSize => compared("fixed_size", "fixed-size")
            .swept("fixed ≤", "upper bound for batches of fixed size, proven")
            .explored("Fixed size, at most", EVERY),
        KnownBound::RandomAllocationLower => {
            compared("random_allocation_lower", "random allocation, at least")
                .explored("Random allocation, at least", "of a sum over the steps")
        }
        KnownBound::RandomAllocation => compared("random_allocation", "random allocation")
            .explored("Random allocation, at most", "from balls in bins"),
        KnownBound::TruncatedPoissonLower => {
            compared("truncated_poisson_lower", "truncated Poisson, at least")
                .explored("Truncated Poisson, at least", WORST_KNOWN)
        }
        KnownBound::TruncatedPoisson => compared("truncated_poisson", "truncated Poisson")
            .explored("Truncated Poisson, at most", EVERY),
        KnownBound::Deterministic => compared("deterministic", "deterministic")
            .swept(
                "shuffle ≤",
                "upper bound for shuffled batches and any data set, proven under zero-out adjacency",
            )
            .explored("No shuffling at all", "bounds every shuffle, zero-out"),
    }
}

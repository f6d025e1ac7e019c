//! Samplers in words: the one table of what programs and pages say of each.

use dpscope_core::mechanism::SamplerKind;
use dpscope_core::training_check::{LoaderKind, OtherBatches};

/// What a sampler is called where a program or a page shows it.
#[derive(Debug, Clone, Copy)]
pub struct SamplerWords {
    /// Identifies the row.
    pub sampler: SamplerKind,
    /// Its batches, within a sentence.
    pub batches: &'static str,
    /// What it does, as the predicate of a sentence.
    pub draws: &'static str,
    /// Its batches, before the parameters of a bound.
    pub of_bound: &'static str,
    /// The accountant that calibrates it; deterministic batches where the sampler has none of its own.
    pub accountant: &'static str,
    /// Why one epoch of its batches leaks, or does not.
    pub leak: &'static str,
}

const DETERMINISTIC: &str = "deterministic batches";

/// One row per sampler, in the order of [`SamplerKind::ALL`]
/// (`unit::rows_have_the_order_of_the_samplers`).
const WORDS: [SamplerWords; 11] = [
    SamplerWords {
        sampler: SamplerKind::Poisson,
        batches: "Poisson-sampled batches",
        draws: "draws each record into each batch independently (Poisson)",
        of_bound: "Poisson sampled batches",
        accountant: "privacy loss distribution of Poisson sampled batches",
        leak: "The target joins each batch by chance: it may be in none, in one or in \
               several. No sum has to stand out, and accountants rely on this uncertainty.",
    },
    SamplerWords {
        sampler: SamplerKind::Shuffle,
        batches: "shuffled batches",
        draws: "shuffles all records anew in every epoch",
        of_bound: "shuffled batches, a new order each epoch",
        accountant: DETERMINISTIC,
        leak: "In every epoch exactly one batch contains the target. One sum stands out, and \
               the attacker only has to find the largest.",
    },
    SamplerWords {
        sampler: SamplerKind::PersistentShuffle,
        batches: "batches shuffled once",
        draws: "uses one shuffled order in every epoch",
        of_bound: "shuffled batches, one order for all epochs",
        accountant: DETERMINISTIC,
        leak: "One permutation is drawn before the first epoch and used in all of them: the \
               target is in the same batch every time. One epoch leaks as much as with a \
               shuffle; each further epoch repeats the same sum with new noise, so the \
               attacker can average the noise away.",
    },
    SamplerWords {
        sampler: SamplerKind::BallsInBins,
        batches: "balls-in-bins batches",
        draws: "puts each record into one random batch of each epoch",
        of_bound: "balls-in-bins batches",
        accountant: "privacy loss distribution of balls-in-bins batches",
        leak: "The target lands in one random batch, and so does every other record, \
               independently: the size of a batch reveals nothing.",
    },
    SamplerWords {
        sampler: SamplerKind::Deterministic,
        batches: "batches in a fixed order",
        draws: "reads the records in a fixed order",
        of_bound: "deterministic batches, the same in all epochs",
        accountant: "closed form of deterministic batches",
        leak: "The target is always in the same batch. The attacker looks at one sum, and no \
               uncertainty protects the target.",
    },
    SamplerWords {
        sampler: SamplerKind::PartialShuffle,
        batches: "partially shuffled batches",
        draws: "shuffles blocks of records, one after another",
        of_bound: "partially shuffled batches",
        accountant: DETERMINISTIC,
        leak: "Only blocks are shuffled: the target stays near its place in the file, so the \
               attacker only has to look there.",
    },
    SamplerWords {
        sampler: SamplerKind::SlidingBuffer,
        batches: "batches from a shuffle buffer",
        draws: "draws from a sliding buffer of records",
        of_bound: "batches from a shuffle buffer",
        accountant: DETERMINISTIC,
        leak: "Each next record is drawn from a buffer, which is refilled in file order. The \
               target is first in the file and tends to leave the buffer early, so the \
               attacker looks at the first batches.",
    },
    SamplerWords {
        sampler: SamplerKind::BatchThenShuffle,
        batches: "batches formed before shuffling",
        draws: "forms batches first and shuffles their order",
        of_bound: "batches formed before shuffling",
        accountant: DETERMINISTIC,
        leak: "Batches keep their members; only their order changes. An attacker who chooses \
               the members can mark the target’s batch, and then sees almost as much as \
               without any shuffling.",
    },
    SamplerWords {
        sampler: SamplerKind::TruncatedPoisson,
        batches: "truncated Poisson batches",
        draws: "draws Poisson batches, and keeps a uniform subset if they exceed a maximum size",
        of_bound: "Poisson sampled batches",
        accountant: "privacy loss distribution of truncated Poisson batches",
        leak: "The target joins each batch by chance, as with Poisson. If more records are \
               drawn than a batch may have, some are dropped at random, and the target may be \
               one of them.",
    },
    SamplerWords {
        sampler: SamplerKind::FixedSize,
        batches: "batches of fixed size, drawn anew",
        draws: "draws a uniform subset of fixed size in each step",
        of_bound: "batches of fixed size, drawn anew",
        accountant: "privacy loss distribution of batches of fixed size",
        leak: "Each batch is a new random subset of the records, always of the same size: the \
               target may be in none, in one or in several. It takes the place of another \
               record, which Poisson accounting does not consider.",
    },
    SamplerWords {
        sampler: SamplerKind::RandomAllocation,
        batches: "randomly allocated batches",
        draws: "puts each record into a random set of batches of each epoch",
        of_bound: "random allocation",
        accountant: "balls in bins, one per use and epoch, an upper bound for random allocation",
        leak: "In every epoch the target is in exactly k batches, drawn at random for each \
               record independently. The attacker knows how many sums stand out, but not \
               which.",
    },
];

/// The words of a sampler.
#[must_use]
pub const fn sampler_words(sampler: SamplerKind) -> SamplerWords {
    WORDS[sampler as usize]
}

/// The batches of a sampler, within a sentence.
#[must_use]
pub const fn batches(sampler: SamplerKind) -> &'static str {
    sampler_words(sampler).batches
}

/// Every sampler in the order of menus, with its name there and what it does.
pub const SAMPLER_MENU: [(SamplerKind, &str, &str); 11] = [
    (SamplerKind::Shuffle, "Shuffle", "a new permutation in each epoch"),
    (SamplerKind::PersistentShuffle, "Persistent shuffle", "one permutation for all epochs"),
    (
        SamplerKind::Poisson,
        "Poisson",
        "each record joins each batch independently, as accountants assume",
    ),
    (
        SamplerKind::TruncatedPoisson,
        "Truncated Poisson",
        "Poisson batches, of which at most a maximum number of records is kept",
    ),
    (SamplerKind::FixedSize, "Fixed size", "a new uniform subset of the records in each step"),
    (
        SamplerKind::RandomAllocation,
        "Random allocation",
        "each record in k random batches of each epoch",
    ),
    (SamplerKind::BallsInBins, "Balls-in-bins", "each record in one random batch of each epoch"),
    (SamplerKind::Deterministic, "Deterministic", "always the same order"),
    (SamplerKind::PartialShuffle, "Partial shuffle", "shuffled within blocks of the buffer size"),
    (
        SamplerKind::SlidingBuffer,
        "Sliding buffer",
        "a buffer that is sampled and refilled, like tf.data’s shuffle",
    ),
    (
        SamplerKind::BatchThenShuffle,
        "Batch, then shuffle",
        "batches are formed first, then their order is shuffled",
    ),
];

/// The samplers whose ε `bound` computes, with what its help says of each.
pub(crate) const BOUNDED: [(SamplerKind, &str); 8] = [
    (SamplerKind::Poisson, "Each record is in each batch with the same probability"),
    (
        SamplerKind::Deterministic,
        "Each record is in the same batch of each epoch; the upper bound covers every shuffle",
    ),
    (
        SamplerKind::BallsInBins,
        "Each record is in one batch of each epoch, drawn uniformly and independently",
    ),
    (
        SamplerKind::TruncatedPoisson,
        "Poisson batches, of which a uniform subset is kept if they exceed a maximum size",
    ),
    (SamplerKind::FixedSize, "A uniform subset of fixed size is drawn in each step"),
    (SamplerKind::RandomAllocation, "Each record is in a uniform set of batches of each epoch"),
    (SamplerKind::Shuffle, "The data are reshuffled in every epoch"),
    (SamplerKind::PersistentShuffle, "The data are shuffled once, for all epochs"),
];

/// Names of samplers in a sentence, such as "poisson, truncated-poisson and fixed-size".
#[must_use]
pub fn names_of_samplers(is_named: impl Fn(SamplerKind) -> bool) -> String {
    let names = SamplerKind::ALL.into_iter().filter(|sampler| is_named(*sampler));
    let names: Vec<&str> = names.map(SamplerKind::name).collect();
    match &names[..] {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => names.concat(),
    }
}

/// The batches of a loader, within a sentence.
#[must_use]
pub const fn loader_batches(loader: LoaderKind) -> &'static str {
    match loader {
        LoaderKind::Sampler(sampler) => batches(sampler),
        LoaderKind::Other(OtherBatches::WithReplacement) => "batches drawn with replacement",
        LoaderKind::Other(OtherBatches::OncePerEpoch) => {
            "batches that contain each record at most once per epoch"
        }
        LoaderKind::Other(OtherBatches::Unknown) => "batches of unknown distribution",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_the_order_of_the_samplers() {
        assert_eq!(WORDS.map(|words| words.sampler), SamplerKind::ALL);
        assert!(SamplerKind::ALL.iter().all(|sampler| sampler_words(*sampler).sampler == *sampler));
    }
}

//! The stages of the score kernel, to see where its time goes.

/// How far a kernel goes: what benchmarks subtract from each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// No random words: what is left without them.
    Rest,
    /// Random words as well.
    Words,
    /// Normals as well.
    Normals,
    /// The score.
    Whole,
}

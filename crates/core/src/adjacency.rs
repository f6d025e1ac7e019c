//! The words of the hypothesis test: which data sets are neighbours, which world an observation
//! came from, which of the pair is called P.

/// The neighbouring relation under which a statement about privacy holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Adjacency {
    /// One record more or less.
    AddRemove,
    /// One record replaced by any other.
    Replace,
    /// One record replaced by ⊥, whose gradient is zero.
    ZeroOut,
}

/// The world an observation was drawn in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum World {
    /// D: the target record is in the data.
    Target = 0,
    /// D′: the target record is replaced by ⊥.
    ZeroOut = 1,
}

impl World {
    /// Both worlds, D first.
    pub const BOTH: [World; 2] = [World::Target, World::ZeroOut];

    /// 0 for D, 1 for D′: the index of arrays that hold one item a world.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// Which world of the pair is P in H_{e^ε}(P‖Q).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Direction {
    /// P is D, the world with the target: the attack shows that high scores are too likely in D.
    Remove,
    /// P is D′: the attack shows that low scores are too likely in D′.
    Add,
}

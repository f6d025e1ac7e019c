//! Neighbouring data sets, the two worlds of the hypothesis test, and its directions.

/// The neighbouring relation of a privacy statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

    /// The name in messages and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            World::Target => "target",
            World::ZeroOut => "zero-out",
        }
    }

    /// 0 for D, 1 for D′: the index of arrays that contain one item per world.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// Which world is P in the hockey-stick divergence H_{e^ε}(P‖Q).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Direction {
    /// P is D, the world with the target: high scores are too likely in D.
    Remove,
    /// P is D′: low scores are too likely in D′.
    Add,
}

/// Directions that a value covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Directions {
    /// D against D′ alone.
    Remove,
    /// D′ against D alone.
    Add,
    /// The larger of both.
    Both,
}

impl From<Direction> for Directions {
    fn from(direction: Direction) -> Self {
        match direction {
            Direction::Remove => Directions::Remove,
            Direction::Add => Directions::Add,
        }
    }
}

/// To which pairs of neighbours a statement about ε applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Scope {
    /// The pair of worlds that was observed. A lower bound for a pair is also one for its
    /// mechanism; an upper bound for a pair is not.
    Pair,
    /// Every pair of neighbours.
    Mechanism,
}

#[cfg(all(test, feature = "serde"))]
mod tests {
    use serde::Deserialize;
    use serde::de::{IntoDeserializer, value};

    use super::*;

    #[test]
    fn worlds_parse_from_their_names() {
        let read = |name: &'static str| -> Result<World, value::Error> {
            World::deserialize(name.into_deserializer())
        };
        for world in World::BOTH {
            assert_eq!(read(world.name()), Ok(world));
        }
        assert!(read("zero_out").is_err());
    }
}

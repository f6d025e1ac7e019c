//! The shape of an example and of what layers make of it.

use std::fmt;

/// Channels of a picture; a flat vector of n values is (n, 1, 1).
///
/// Values lie channel by channel, row by row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// Channels, or the values of a flat vector.
    pub channels: usize,
    /// Rows of a channel.
    #[serde(default = "one")]
    pub height: usize,
    /// Values of a row.
    #[serde(default = "one")]
    pub width: usize,
}

fn one() -> usize {
    1
}

impl Shape {
    /// A flat vector.
    #[must_use]
    pub const fn flat(values: usize) -> Self {
        Self { channels: values, height: 1, width: 1 }
    }

    /// Values in all; the largest number where there are more than it can say.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.channels.saturating_mul(self.height).saturating_mul(self.width)
    }

    /// True where it holds no value.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) const fn is_flat(&self) -> bool {
        self.height == 1 && self.width == 1
    }

    /// Values of a channel.
    pub(crate) const fn positions(&self) -> usize {
        self.height * self.width
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_flat() {
            write!(f, "{}", self.channels)
        } else {
            write!(f, "{}×{}×{}", self.channels, self.height, self.width)
        }
    }
}

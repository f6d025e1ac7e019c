//! Shapes of examples and of layer outputs.

use std::fmt;

/// Shape (channels, height, width) of an example or of a layer's output; a flat vector of n values
/// is (n, 1, 1).
///
/// Values are stored channel by channel, row by row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// Number of channels, or length of a flat vector.
    pub channels: usize,
    /// Rows per channel.
    #[serde(default = "one")]
    pub height: usize,
    /// Values per row.
    #[serde(default = "one")]
    pub width: usize,
}

fn one() -> usize {
    1
}

impl Shape {
    /// Shape of a flat vector.
    #[must_use]
    pub const fn flat(values: usize) -> Self {
        Self { channels: values, height: 1, width: 1 }
    }

    /// Number of values, saturating.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.channels.saturating_mul(self.height).saturating_mul(self.width)
    }

    /// Whether there are no values.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) const fn is_flat(&self) -> bool {
        self.height == 1 && self.width == 1
    }

    /// Values per channel.
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

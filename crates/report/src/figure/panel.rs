//! The size of words in drawings.

/// Size of the text of ticks and axes: 10 pixels where the drawing is 600 wide.
pub(super) const TEXT: u32 = 20;

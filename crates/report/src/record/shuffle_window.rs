//! Shuffle-buffer size estimated from recorded outputs.

use dpscope_core::recorded::ShuffleWindow;
use serde::Serialize;

use crate::words::shuffle_window_sentence;

/// How many of the first batches the outputs indicate were shuffled.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShuffleWindowRecord {
    #[serde(flatten)]
    found: ShuffleWindow,
    is_shown: bool,
    /// The finding as a sentence.
    pub says: String,
}

impl From<ShuffleWindow> for ShuffleWindowRecord {
    fn from(found: ShuffleWindow) -> Self {
        let says = shuffle_window_sentence(&found);
        ShuffleWindowRecord { is_shown: found.is_significant(), found, says }
    }
}

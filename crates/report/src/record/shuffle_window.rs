//! How far into an epoch a shuffle reaches.

use dpscope_core::recorded::ShuffleWindow;
use serde::Serialize;

use crate::words::shuffle_window_sentence;

/// What recorded outputs say of the shuffle.
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
        ShuffleWindowRecord { is_shown: found.is_shown(), found, says }
    }
}

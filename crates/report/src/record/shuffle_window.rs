//! How far into an epoch a shuffle reaches.

use dpscope_core::mechanism::ShuffleReach;
use serde::Serialize;

use crate::words::shuffle_window_sentence;

/// What recorded outputs say of the shuffle.
#[derive(Debug, Serialize)]
pub struct ShuffleWindowRecord {
    #[serde(flatten)]
    found: ShuffleReach,
    is_shown: bool,
    /// The finding as a sentence.
    pub says: String,
}

impl From<ShuffleReach> for ShuffleWindowRecord {
    fn from(found: ShuffleReach) -> Self {
        let says = shuffle_window_sentence(&found);
        ShuffleWindowRecord { is_shown: found.is_shown(), found, says }
    }
}

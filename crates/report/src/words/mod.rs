//! Sentences about single values.

mod accounted;
mod claim;
mod finding;
mod shuffle_window;
mod subject;

pub use accounted::InWords;
pub use claim::claim_sentence;
pub use finding::{dependence_sentence, finding_sentence, finding_sentences};
pub use shuffle_window::shuffle_window_sentence;
pub use subject::Subject;

//! One file a command.

pub(crate) mod bench;
pub(crate) mod bgm;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod counts;
pub(crate) mod devices;
pub(crate) mod merge;
pub(crate) mod outputs;
pub(crate) mod plan;
mod recorded;
pub(crate) mod reproduce;
pub(crate) mod resume;
pub(crate) mod scores;
mod simulate;

pub(crate) use outputs::Independence;

//! Random streams of the models of a wave: the function of `streams.wgsl`.

use crate::wgsl::wgsl;

/// The source of the function.
pub(super) const SOURCE: &str = wgsl!("streams.wgsl");

/// The random streams of the models of a wave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Streams {
    /// 2·run + world.
    Worlds,
    /// The unit.
    Units,
}

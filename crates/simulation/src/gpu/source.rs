//! Sources of kernels.

use dpscope_shaders::bgm::Variant;
#[cfg(not(target_arch = "wasm32"))]
use dpscope_shaders::{directions::DirectionProgram, pair::PairProgram};

/// One of the kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// Scores of observations.
    Scores(Variant),
    /// Draws of the exact pair; only in exact mode.
    #[cfg(not(target_arch = "wasm32"))]
    Pair,
    /// Products of canary directions; only in exact mode.
    #[cfg(not(target_arch = "wasm32"))]
    Directions,
}

impl From<Variant> for Source {
    fn from(variant: Variant) -> Self {
        Source::Scores(variant)
    }
}

impl Source {
    pub(super) fn entry(self) -> &'static str {
        match self {
            Source::Scores(_) => "count",
            #[cfg(not(target_arch = "wasm32"))]
            Source::Pair => PairProgram::ENTRY,
            #[cfg(not(target_arch = "wasm32"))]
            Source::Directions => DirectionProgram::ENTRY,
        }
    }

    pub(super) fn wgsl(self) -> String {
        match self {
            Source::Scores(variant) => variant.source(),
            #[cfg(not(target_arch = "wasm32"))]
            Source::Pair => PairProgram::source(),
            #[cfg(not(target_arch = "wasm32"))]
            Source::Directions => DirectionProgram::source(),
        }
    }
}

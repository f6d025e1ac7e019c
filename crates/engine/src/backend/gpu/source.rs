//! What a device compiles.

use dpscope_shaders::bgm::Variant;
use dpscope_shaders::pair::PairProgram;

/// One of the kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Source {
    /// Scores of observations.
    Scores(Variant),
    /// Draws of the exact pair; in exact mode alone.
    Pair,
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
            Source::Pair => PairProgram::ENTRY,
        }
    }

    pub(super) fn wgsl(self) -> String {
        match self {
            Source::Scores(variant) => variant.source(),
            Source::Pair => PairProgram::source(),
        }
    }
}

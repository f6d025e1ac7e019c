//! How a GPU computes floats; twin of `float.wgsl`, whose primitives are plain f32 operations here.

/// How floats are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum FloatMode {
    /// Bit for bit as the CPU twin.
    Exact,
    /// Within a derived error of it.
    Fast,
}

impl std::fmt::Display for FloatMode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            FloatMode::Exact => "exact",
            FloatMode::Fast => "fast",
        })
    }
}

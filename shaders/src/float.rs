//! Float modes of GPUs; twin of `float.wgsl`, whose primitives are plain f32 operations on the CPU.

/// Float mode of a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum FloatMode {
    /// Bit-identical to the CPU twin.
    Exact,
    /// Equal to the CPU twin within a derived error.
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

use std::fmt;

/// A supported file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// One NumPy array.
    Npy,
    /// Named NumPy arrays.
    Npz,
    /// Rows of numbers as text, with any separator.
    Csv,
    /// Named safetensors arrays.
    Safetensors,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Npy => "npy",
            Self::Npz => "npz",
            Self::Csv => "csv",
            Self::Safetensors => "safetensors",
        })
    }
}

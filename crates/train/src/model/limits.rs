//! Limits on model definitions.

/// Maximum length of a model file.
pub(crate) const MAX_BYTES: usize = 1 << 16;
/// Maximum number of layers.
pub(crate) const MAX_LAYERS: usize = 64;
/// Maximum number of parameters.
pub(crate) const MAX_PARAMETERS: usize = 1 << 26;
/// Maximum number of values per example, summed over all layers, including padding.
pub(crate) const MAX_VALUES: usize = 1 << 24;

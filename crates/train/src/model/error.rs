//! Errors of model definitions.

use super::limits::{MAX_BYTES, MAX_LAYERS, MAX_PARAMETERS, MAX_VALUES};
use super::shape::Shape;

/// Reasons why a list of layers is not a valid network. Layers are numbered from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The file is not valid TOML or does not define a model.
    #[error("the model file is invalid: {message}")]
    Toml {
        /// Message of the parser, with its line.
        message: String,
    },
    /// The file is too long.
    #[error("the model file has {bytes} bytes; the limit is {MAX_BYTES}")]
    Text {
        /// Length of the file.
        bytes: usize,
    },
    /// The examples are empty or too large.
    #[error("`input` is {input}; an example must have 1 to {MAX_VALUES} values")]
    Input {
        /// Shape of an example.
        input: Shape,
    },
    /// No layers, or too many.
    #[error("the model has {layers} layers; it must have 1 to {MAX_LAYERS}")]
    Layers {
        /// Number of layers.
        layers: usize,
    },
    /// A field of a layer is 0.
    #[error("layer {layer} ({kind}): {field} is 0; it must be at least 1")]
    Zero {
        /// Number of the layer.
        layer: usize,
        /// Kind of the layer.
        kind: &'static str,
        /// Name of the field.
        field: &'static str,
    },
    /// A window is larger than the padded input.
    #[error(
        "layer {layer} ({kind}): {field} {size} does not fit an input of shape {input} with \
         padding {padding}; reduce {field}, or remove pooling layers or convolutions before it"
    )]
    Window {
        /// Number of the layer.
        layer: usize,
        /// Kind of the layer.
        kind: &'static str,
        /// `kernel` or `size`.
        field: &'static str,
        /// Side of the window.
        size: usize,
        /// Shape of the input.
        input: Shape,
        /// Zeros added on each side.
        padding: usize,
    },
    /// A constant factor is 0, tiny, huge or not finite.
    #[error("layer {layer} (scale): factor is {factor}; its magnitude must be in [1e-6, 1e6]")]
    Factor {
        /// Number of the layer.
        layer: usize,
        /// The factor.
        factor: String,
    },
    /// Groups of channels of unequal size, or of one value.
    #[error(
        "layer {layer} (group-norm): groups {groups} does not divide the {} channels of an input of \
         shape {input}, or leaves one value per group; choose a smaller divisor", .input.channels
    )]
    Groups {
        /// Number of the layer.
        layer: usize,
        /// Number of groups.
        groups: usize,
        /// Shape of the input.
        input: Shape,
    },
    /// The constant of a group norm is 0, tiny, huge or not finite.
    #[error("layer {layer} (group-norm): epsilon is {epsilon}; it must be in [1e-8, 1]")]
    Epsilon {
        /// Number of the layer.
        layer: usize,
        /// The constant.
        epsilon: String,
    },
    /// Some windows would cover padding only.
    #[error(
        "layer {layer} (convolution): padding {padding} must be less than kernel {kernel}; more \
         padding adds windows without input"
    )]
    Padding {
        /// Number of the layer.
        layer: usize,
        /// Zeros added on each side.
        padding: usize,
        /// Side of the window.
        kernel: usize,
    },
    /// The model has too many parameters.
    #[error(
        "with layer {layer} ({kind}) the model has more than {MAX_PARAMETERS} parameters; use \
         fewer outputs or channels, or pool before it"
    )]
    Parameters {
        /// Number of the layer.
        layer: usize,
        /// Kind of the layer.
        kind: &'static str,
    },
    /// The model needs too many values per example.
    #[error(
        "with layer {layer} ({kind}) the model needs more than {MAX_VALUES} values per example; \
         use fewer outputs or channels, or pool before it"
    )]
    Values {
        /// Number of the layer.
        layer: usize,
        /// Kind of the layer.
        kind: &'static str,
    },
    /// The last layer does not return one value per class.
    #[error(
        "the last layer returns shape {output}; it must return one value per class, at least 2: end the \
         model with {{ kind = \"linear\", outputs = CLASSES }}"
    )]
    Classes {
        /// Output shape of the last layer.
        output: Shape,
    },
    /// The model has no parameters.
    #[error("the model has no parameters; add a linear layer or a convolution")]
    Untrained,
}

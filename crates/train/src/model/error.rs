//! Models that cannot be trained.

use super::shape::Shape;
use super::spec::{MOST_LAYERS, MOST_PARAMETERS, MOST_VALUES, ModelSpec};

/// A list of layers that is no network. Layers are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The file is no TOML, or not a model's.
    #[error("the model's file cannot be read: {message}")]
    Toml {
        /// What the parser says, with line and column.
        message: String,
    },
    /// The file is too long to be a model.
    #[error("the model's file has {bytes} bytes; a model has at most {most}", most = ModelSpec::MOST_BYTES)]
    Text {
        /// Its length.
        bytes: usize,
    },
    /// The examples are empty or absurdly large.
    #[error("an example is {input}, which must have 1 to {MOST_VALUES} values; change `input`")]
    Input {
        /// Shape of an example.
        input: Shape,
    },
    /// No layer, or too many.
    #[error("the model has {layers} layers; it must have 1 to {MOST_LAYERS}")]
    Layers {
        /// How many there are.
        layers: usize,
    },
    /// A number of the layer is 0.
    #[error("layer {layer} ({kind}): {field} is 0; it must be at least 1")]
    Zero {
        /// Which layer.
        layer: usize,
        /// Its kind.
        kind: &'static str,
        /// The number.
        field: &'static str,
    },
    /// A window that is larger than what it moves over.
    #[error(
        "layer {layer} ({kind}): {field} {size} does not fit its input of {input} with padding \
         {padding}; make it smaller, or remove pooling or convolutions before it"
    )]
    Window {
        /// Which layer.
        layer: usize,
        /// Its kind.
        kind: &'static str,
        /// `kernel` or `size`.
        field: &'static str,
        /// The window's side.
        size: usize,
        /// What comes in.
        input: Shape,
        /// Zeros on each side.
        padding: usize,
    },
    /// Padding of which some windows would see nothing else.
    #[error(
        "layer {layer} (convolution): padding {padding} must be less than kernel {kernel}; more \
         of it adds outputs that see no input"
    )]
    Padding {
        /// Which layer.
        layer: usize,
        /// Zeros on each side.
        padding: usize,
        /// The window's side.
        kernel: usize,
    },
    /// Too much to train.
    #[error(
        "layer {layer} ({kind}) brings the model to more than {MOST_PARAMETERS} parameters; give \
         fewer outputs or channels, or pool before it"
    )]
    Parameters {
        /// Which layer.
        layer: usize,
        /// Its kind.
        kind: &'static str,
    },
    /// Too much to hold for an example.
    #[error(
        "layer {layer} ({kind}) brings the model to more than {MOST_VALUES} values an example; \
         give fewer outputs or channels, or pool before it"
    )]
    Values {
        /// Which layer.
        layer: usize,
        /// Its kind.
        kind: &'static str,
    },
    /// The outputs are no classes.
    #[error(
        "the last layer gives {output}; it must give one value a class, and at least 2: end the \
         model with {{ kind = \"linear\", outputs = CLASSES }}"
    )]
    Classes {
        /// What the last layer gives.
        output: Shape,
    },
    /// Nothing to train.
    #[error("the model has no parameters; add a linear layer or a convolution")]
    Untrained,
}

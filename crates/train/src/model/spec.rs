//! A model definition as written by users.

use dpscope_core::foreign_text::problem_at;

use super::error::ModelError;
use super::limits::MAX_BYTES;
use super::shape::Shape;

/// The shape of an example and the layers of the model; the last layer returns one logit per class.
///
/// ```
/// use dpscope_train::{ModelSpec, Network};
///
/// let spec = ModelSpec::from_toml(
///     r#"
///     input = { channels = 1, height = 28, width = 28 }
///     layers = [
///         { kind = "convolution", channels = 6, kernel = 5, padding = 2 },
///         { kind = "tanh" },
///         { kind = "average-pool", size = 2 },
///         { kind = "linear", outputs = 2 },
///     ]
///     "#,
/// )?;
/// println!("{}", Network::new(&spec)?.parameters()); // 2510
/// # Ok::<(), dpscope_train::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSpec {
    /// The shape of an example.
    pub input: Shape,
    /// The layers, from input to logits.
    pub layers: Vec<LayerSpec>,
}

/// One layer.
///
/// x denotes the inputs, w the weights and b the bias.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", from = "RawLayer")]
pub enum LayerSpec {
    /// w·x + b over all inputs, flattened.
    Linear {
        /// Number of outputs.
        outputs: usize,
    },
    /// Σ w·x + b over a window of all channels (a cross-correlation, as in PyTorch). Windows that
    /// would exceed the padded input are omitted.
    Convolution {
        /// Number of output channels.
        channels: usize,
        /// Side of the window.
        kernel: usize,
        /// Distance between windows; default 1.
        stride: usize,
        /// Zeros added on each side; default 0.
        padding: usize,
    },
    /// tanh x.
    Tanh,
    /// max(x, 0), with derivative 0 at 0.
    Relu,
    /// x·Φ(x), with Φ the standard normal distribution function.
    Gelu,
    /// ln(1 + e^x).
    Softplus,
    /// x times a constant; as the last layer, the scale of the logits.
    Scale {
        /// The constant; finite, not 0.
        factor: f64,
    },
    /// w·(x − mean)/√(variance + ε) + b, with mean and variance over one group of channels of one
    /// example, and w and b per channel, initially 1 and 0. Unlike batch normalisation it depends on
    /// no other example, so that DP-SGD remains defined.
    ///
    /// # Reference
    /// Wu and He, "Group normalization" (2018), arXiv:1803.08494.
    GroupNorm {
        /// Number of groups; a divisor of the channels.
        groups: usize,
        /// ε, in [1e-8, 1]; default 1e-5.
        epsilon: f64,
    },
    /// Mean of each `size` × `size` block; incomplete blocks are dropped.
    AveragePool {
        /// Side of the block.
        size: usize,
    },
    /// Maximum of each block; the gradient goes to the first of equal values.
    MaxPool {
        /// Side of the block.
        size: usize,
    },
}

/// The fields in a file. Variants without braces would accept unknown fields.
#[derive(serde::Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
enum RawLayer {
    Linear {
        outputs: usize,
    },
    Convolution {
        channels: usize,
        kernel: usize,
        #[serde(default = "one")]
        stride: usize,
        #[serde(default)]
        padding: usize,
    },
    Tanh {},
    Relu {},
    Gelu {},
    Softplus {},
    Scale {
        factor: f64,
    },
    GroupNorm {
        groups: usize,
        #[serde(default = "default_epsilon")]
        epsilon: f64,
    },
    AveragePool {
        size: usize,
    },
    MaxPool {
        size: usize,
    },
}

fn one() -> usize {
    1
}

fn default_epsilon() -> f64 {
    1e-5
}

impl From<RawLayer> for LayerSpec {
    fn from(layer: RawLayer) -> Self {
        match layer {
            RawLayer::Linear { outputs } => LayerSpec::Linear { outputs },
            RawLayer::Convolution { channels, kernel, stride, padding } => {
                LayerSpec::Convolution { channels, kernel, stride, padding }
            }
            RawLayer::Tanh {} => LayerSpec::Tanh,
            RawLayer::Relu {} => LayerSpec::Relu,
            RawLayer::Gelu {} => LayerSpec::Gelu,
            RawLayer::Softplus {} => LayerSpec::Softplus,
            RawLayer::Scale { factor } => LayerSpec::Scale { factor },
            RawLayer::GroupNorm { groups, epsilon } => LayerSpec::GroupNorm { groups, epsilon },
            RawLayer::AveragePool { size } => LayerSpec::AveragePool { size },
            RawLayer::MaxPool { size } => LayerSpec::MaxPool { size },
        }
    }
}

impl LayerSpec {
    /// Name of the kind in a model file.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            LayerSpec::Linear { .. } => "linear",
            LayerSpec::Convolution { .. } => "convolution",
            LayerSpec::Tanh => "tanh",
            LayerSpec::Relu => "relu",
            LayerSpec::Gelu => "gelu",
            LayerSpec::Softplus => "softplus",
            LayerSpec::Scale { .. } => "scale",
            LayerSpec::GroupNorm { .. } => "group-norm",
            LayerSpec::AveragePool { .. } => "average-pool",
            LayerSpec::MaxPool { .. } => "max-pool",
        }
    }

    const fn convolution(channels: usize, kernel: usize, padding: usize) -> Self {
        LayerSpec::Convolution { channels, kernel, stride: 1, padding }
    }
}

impl ModelSpec {
    /// Maximum size of a model file, in bytes.
    pub const MAX_BYTES: usize = MAX_BYTES;

    /// 600 binary features, 32 ReLU units, 100 classes: 22,532 parameters.
    #[must_use]
    pub fn mlp() -> Self {
        let layers = [
            LayerSpec::Linear { outputs: 32 },
            LayerSpec::Relu,
            LayerSpec::Linear { outputs: 100 },
        ];
        Self { input: Shape::flat(600), layers: layers.to_vec() }
    }

    /// LeNet-5 on 28×28 and two classes, with tanh and average pooling: 61,026 parameters.
    ///
    /// # Reference
    /// LeCun, Bottou, Bengio and Haffner, "Gradient-based learning applied to document recognition"
    /// (1998). Deviation: every map of the third layer is connected to all maps of the second.
    #[must_use]
    pub fn lenet() -> Self {
        let layers = [
            LayerSpec::convolution(6, 5, 2),
            LayerSpec::Tanh,
            LayerSpec::AveragePool { size: 2 },
            LayerSpec::convolution(16, 5, 0),
            LayerSpec::Tanh,
            LayerSpec::AveragePool { size: 2 },
            LayerSpec::Linear { outputs: 120 },
            LayerSpec::Tanh,
            LayerSpec::Linear { outputs: 84 },
            LayerSpec::Tanh,
            LayerSpec::Linear { outputs: 2 },
        ];
        let input = Shape { channels: 1, height: 28, width: 28 };
        Self { input, layers: layers.to_vec() }
    }

    /// Six convolutions and two linear layers on 3×32×32 and two classes, with tanh and max
    /// pooling: 549,538 parameters.
    #[must_use]
    pub fn cnn() -> Self {
        let mut layers = Vec::new();
        for channels in [32, 64, 128] {
            let convolution = LayerSpec::convolution(channels, 3, 1);
            layers.extend([convolution, LayerSpec::Tanh, convolution, LayerSpec::Tanh]);
            layers.push(LayerSpec::MaxPool { size: 2 });
        }
        layers.extend([LayerSpec::Linear { outputs: 128 }, LayerSpec::Tanh]);
        layers.push(LayerSpec::Linear { outputs: 2 });
        Self { input: Shape { channels: 3, height: 32, width: 32 }, layers }
    }

    /// Parses a model file. [`Network::new`](super::Network::new) checks the layers.
    ///
    /// # Errors
    /// A text that is too long, is not TOML, or has missing or unknown fields.
    pub fn from_toml(text: &str) -> Result<Self, ModelError> {
        if text.len() > MAX_BYTES {
            return Err(ModelError::Text { bytes: text.len() });
        }
        toml::from_str(text).map_err(|error| {
            let message = problem_at(text, error.span(), error.message());
            ModelError::Toml { message }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYER: &str = "input = { channels = 9 }\n[[layers]]\n";

    #[test]
    fn model_files_define_the_layers() {
        let text = "[input]\nchannels = 1\nheight = 28\nwidth = 28\n[[layers]]\n\
                    kind = \"convolution\"\nchannels = 6\nkernel = 5\npadding = 2\n[[layers]]\n\
                    kind = \"tanh\"\n[[layers]]\nkind = \"linear\"\noutputs = 2\n";
        let spec = ModelSpec::from_toml(text).unwrap();
        assert_eq!(spec.layers[0], LayerSpec::convolution(6, 5, 2));
        assert_eq!(spec.layers[1..], [LayerSpec::Tanh, LayerSpec::Linear { outputs: 2 }]);
        assert_eq!(
            ModelSpec::from_toml("input = { channels = 9 }\nlayers = []").unwrap().input.len(),
            9
        );
    }

    #[test]
    fn serialized_specs_are_read_back() {
        for spec in [ModelSpec::mlp(), ModelSpec::lenet(), ModelSpec::cnn()] {
            let text = toml::to_string(&spec).unwrap();
            assert_eq!(ModelSpec::from_toml(&text).unwrap(), spec);
            let kinds = spec.layers.iter().map(|layer| format!("kind = \"{}\"", layer.kind()));
            for kind in kinds {
                assert!(text.contains(&kind), "{kind} is not in {text}");
            }
        }
    }

    #[test]
    fn unknown_fields_and_invalid_numbers_are_rejected() {
        let refused = [
            ("kind = \"linear\"\noutputs = 2\nbias = false", "bias"),
            ("kind = \"tanh\"\nsize = 2", "size"),
            ("kind = \"dropout\"", "dropout"),
            ("kind = \"linear\"\noutputs = -2", "-2"),
            ("kind = \"linear\"", "outputs"),
            ("kind = \"max-pool\"\nsize = 2.5", "2.5"),
            ("kind = \"gelu\"\napproximate = true", "approximate"),
            ("kind = \"scale\"", "factor"),
            ("kind = \"group-norm\"", "groups"),
            ("kind = \"group-norm\"\ngroups = 3\naffine = false", "affine"),
        ];
        for (layer, part) in refused {
            let error = ModelSpec::from_toml(&format!("{LAYER}{layer}")).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        let long = format!("input = {{ channels = 9 }}{}", " ".repeat(ModelSpec::MAX_BYTES));
        assert!(matches!(ModelSpec::from_toml(&long), Err(ModelError::Text { .. })));
    }
}

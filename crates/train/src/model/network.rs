//! A checked list of layers and the layout of their parameters.

use std::ops::Range;

use super::error::ModelError;
use super::limits::{MAX_LAYERS, MAX_PARAMETERS, MAX_VALUES};
use super::shape::Shape;
use super::spec::{LayerSpec, ModelSpec};
use crate::layers::elementwise::{Gelu, Relu, Scale, Softplus, Tanh};
use crate::layers::{Convolution, Elementwise, GroupNorm, Layer, Linear, Pool};

/// A feed-forward network. All parameters are stored in one slice, layer by layer, weights (out ×
/// in, or out × in × kernel × kernel) before biases.
///
/// # Guarantee
/// Gradients equal those of automatic differentiation
/// (`tests/oracles/gradients.rs::gradients_match_automatic_differentiation`), and the f32 result for a
/// batch equals the sum over its examples
/// (`crates/train/tests/clipped_sums.rs::sums_equal_those_of_single_examples`).
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    input: Shape,
    layers: Vec<PlacedLayer>,
    parameters: usize,
}

/// A layer with its shapes and the range of its parameters.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PlacedLayer {
    pub(crate) layer: Layer,
    pub(crate) input: Shape,
    pub(crate) output: Shape,
    pub(crate) parameters: Range<usize>,
}

impl Network {
    /// Checks the layers and assigns their parameters.
    ///
    /// # Errors
    /// A layer that does not fit its input, a size of 0 or beyond the limits (64 layers, 2²⁶
    /// parameters, 2²⁴ values per example), a last layer that does not return one value per class.
    pub fn new(spec: &ModelSpec) -> Result<Self, ModelError> {
        if !(1..=MAX_VALUES).contains(&spec.input.len()) {
            return Err(ModelError::Input { input: spec.input });
        }
        if !(1..=MAX_LAYERS).contains(&spec.layers.len()) {
            return Err(ModelError::Layers { layers: spec.layers.len() });
        }
        let (mut shape, mut first, mut values) = (spec.input, 0_usize, spec.input.len());
        let mut layers = Vec::with_capacity(spec.layers.len());
        for (index, layer) in spec.layers.iter().enumerate() {
            let (number, kind) = (index + 1, layer.kind());
            let (layer, output) = layer_for(layer, shape, number)?;
            values = values.saturating_add(output.len()).saturating_add(layer.padded_values());
            if values > MAX_VALUES {
                return Err(ModelError::Values { layer: number, kind });
            }
            let end = first.saturating_add(layer.parameters());
            if end > MAX_PARAMETERS {
                return Err(ModelError::Parameters { layer: number, kind });
            }
            layers.push(PlacedLayer { layer, input: shape, output, parameters: first..end });
            (shape, first) = (output, end);
        }
        if !shape.is_flat() || shape.channels < 2 {
            return Err(ModelError::Classes { output: shape });
        }
        if first == 0 {
            return Err(ModelError::Untrained);
        }
        Ok(Self { input: spec.input, layers, parameters: first })
    }

    /// Number of parameters.
    #[must_use]
    pub fn parameters(&self) -> usize {
        self.parameters
    }

    /// Number of classes, which is the number of logits.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.layers.last().map_or(0, |last| last.output.len())
    }

    /// Number of values per example.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.input.len()
    }

    /// Shape of an example.
    #[must_use]
    pub fn input(&self) -> Shape {
        self.input
    }

    pub(crate) fn layers(&self) -> &[PlacedLayer] {
        &self.layers
    }

    /// The layers above the first one; none if it is the only one.
    pub(crate) fn without_first(&self) -> Option<Self> {
        let (first, above) = self.layers.split_first()?;
        let start = first.parameters.end;
        let moved = |placed: &PlacedLayer| PlacedLayer {
            parameters: placed.parameters.start - start..placed.parameters.end - start,
            ..placed.clone()
        };
        let layers: Vec<PlacedLayer> = above.iter().map(moved).collect();
        let input = layers.first()?.input;
        Some(Self { input, layers, parameters: self.parameters - start })
    }

    /// Multiplications and additions of one per-example gradient, including products with inputs
    /// that are 0: two operations per product of a layer for its outputs, two for its weight
    /// gradients and, if an earlier layer has parameters, two for its input gradients.
    #[must_use]
    pub fn operations(&self) -> u64 {
        let mut total = 0;
        for (index, placed) in self.layers.iter().enumerate() {
            let has_parameters_below =
                self.layers[..index].iter().any(|lower| !lower.parameters.is_empty());
            total += placed.layer.products() * if has_parameters_below { 6 } else { 4 };
        }
        total
    }

    /// Initial parameters, each uniform in ±1/√n, where n is the number of inputs of one output;
    /// for group norm, weights 1 and biases 0.
    ///
    /// `uniform` must return numbers in [0, 1).
    #[must_use]
    pub fn initial(&self, mut uniform: impl FnMut() -> f64) -> Vec<f32> {
        let mut theta = Vec::with_capacity(self.parameters);
        for placed in &self.layers {
            let draw = |at| placed.layer.initial(at, || 2.0 * uniform() - 1.0) as f32;
            theta.extend((0..placed.parameters.len()).map(draw));
        }
        theta
    }
}

/// The layer for a given input shape, and its output shape.
fn layer_for(spec: &LayerSpec, input: Shape, layer: usize) -> Result<(Layer, Shape), ModelError> {
    let kind = spec.kind();
    let positive = |value: usize, field| {
        if value == 0 { Err(ModelError::Zero { layer, kind, field }) } else { Ok(()) }
    };
    let elementwise = |function| Ok((Layer::Elementwise(function), input));
    let fits = |size: usize, field, padding: usize| {
        let least = input.height.min(input.width).saturating_add(padding.saturating_mul(2));
        if size > least {
            return Err(ModelError::Window { layer, kind, field, size, input, padding });
        }
        Ok(())
    };
    match *spec {
        LayerSpec::Linear { outputs } => {
            positive(outputs, "outputs")?;
            let output = Shape::flat(outputs);
            Ok((Layer::Linear(Linear { inputs: input.len(), outputs }), output))
        }
        LayerSpec::Convolution { channels, kernel, stride, padding } => {
            positive(channels, "channels")?;
            positive(kernel, "kernel")?;
            positive(stride, "stride")?;
            if padding >= kernel {
                return Err(ModelError::Padding { layer, padding, kernel });
            }
            fits(kernel, "kernel", padding)?;
            let convolution = Convolution::new(input, channels, kernel, stride, padding);
            Ok((Layer::Convolution(convolution), convolution.output))
        }
        LayerSpec::Tanh => elementwise(Elementwise::Tanh(Tanh)),
        LayerSpec::Relu => elementwise(Elementwise::Relu(Relu)),
        LayerSpec::Gelu => elementwise(Elementwise::Gelu(Gelu)),
        LayerSpec::Softplus => elementwise(Elementwise::Softplus(Softplus)),
        LayerSpec::Scale { factor } => {
            let magnitude = factor.abs();
            if !(1e-6..=1e6).contains(&magnitude) {
                return Err(ModelError::Factor { layer, factor: factor.to_string() });
            }
            elementwise(Elementwise::Scale(Scale(factor)))
        }
        LayerSpec::GroupNorm { groups, epsilon } => {
            positive(groups, "groups")?;
            if !input.channels.is_multiple_of(groups) || input.len() == groups {
                return Err(ModelError::Groups { layer, groups, input });
            }
            if !(1e-8..=1.0).contains(&epsilon) {
                return Err(ModelError::Epsilon { layer, epsilon: epsilon.to_string() });
            }
            Ok((Layer::GroupNorm(GroupNorm { input, groups, epsilon }), input))
        }
        LayerSpec::AveragePool { size } | LayerSpec::MaxPool { size } => {
            positive(size, "size")?;
            fits(size, "size", 0)?;
            let pool = Pool::new(input, size);
            let average = matches!(spec, LayerSpec::AveragePool { .. });
            let layer = if average { Layer::AveragePool(pool) } else { Layer::MaxPool(pool) };
            Ok((layer, pool.output))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(spec: &ModelSpec) -> Network {
        Network::new(spec).unwrap()
    }

    #[test]
    fn models_have_the_published_number_of_parameters() {
        let sizes = |spec: &ModelSpec| {
            let network = network(spec);
            (network.inputs(), network.parameters(), network.classes())
        };
        assert_eq!(sizes(&ModelSpec::mlp()), (600, 22_532, 100));
        assert_eq!(sizes(&ModelSpec::lenet()), (784, 61_026, 2));
        assert_eq!(sizes(&ModelSpec::cnn()), (3072, 549_538, 2));
    }

    #[test]
    fn operations_are_counted_as_in_the_papers() {
        // A run of 100 steps of 100: 0.96 G, 22.6 G and 2.32 T.
        let run = |spec: &ModelSpec| {
            let operations = network(spec).operations() * 10_000;
            format!("{:.2e}", operations as f64)
        };
        assert_eq!(run(&ModelSpec::mlp()), "9.60e8");
        assert_eq!(run(&ModelSpec::lenet()), "2.26e10");
        assert_eq!(run(&ModelSpec::cnn()), "2.32e12");
    }

    #[test]
    fn initial_parameters_span_their_ranges() {
        let mut turn = 0_u32;
        let theta = network(&ModelSpec::mlp()).initial(|| {
            turn = (turn + 7) % 100;
            f64::from(turn) / 100.0
        });
        for (part, inputs) in
            [(&theta[..600 * 32 + 32], 600.0_f32), (&theta[600 * 32 + 32..], 32.0)]
        {
            let largest = part.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
            assert!((largest * inputs.sqrt() - 1.0).abs() < 1e-6, "{largest}");
        }
    }

    #[test]
    fn invalid_networks_are_rejected() {
        let linear = |outputs| LayerSpec::Linear { outputs };
        let convolution = |channels, kernel, stride, padding| LayerSpec::Convolution {
            channels,
            kernel,
            stride,
            padding,
        };
        let image = Shape { channels: 3, height: 6, width: 5 };
        let huge = usize::MAX / 2;
        let norm = |groups, epsilon| LayerSpec::GroupNorm { groups, epsilon };
        let invalid: [(Shape, &[LayerSpec], &str); 25] = [
            (Shape::flat(0), &[linear(2)], "1 to 16777216 values"),
            (Shape { channels: huge, height: 2, width: huge }, &[linear(2)], "`input` is"),
            (image, &[], "has 0 layers"),
            (image, &[LayerSpec::Tanh; 65], "has 65 layers"),
            (image, &[linear(0)], "layer 1 (linear): outputs is 0"),
            (
                image,
                &[LayerSpec::Tanh, convolution(0, 3, 1, 0)],
                "layer 2 (convolution): channels is 0",
            ),
            (image, &[convolution(1, 0, 1, 0)], "kernel is 0"),
            (image, &[convolution(1, 1, 0, 0)], "stride is 0"),
            (image, &[LayerSpec::MaxPool { size: 0 }], "size is 0"),
            (image, &[convolution(1, 8, 1, 1)], "kernel 8 does not fit an input of shape 3×6×5"),
            (image, &[LayerSpec::AveragePool { size: 6 }], "size 6 does not fit"),
            (image, &[convolution(1, 2, 1, 2)], "padding 2 must be less than kernel 2"),
            (image, &[convolution(1, huge, 1, huge - 1)], "values per example"),
            (image, &[convolution(huge, 3, 1, 1)], "values per example"),
            (image, &[linear(huge)], "values per example"),
            (Shape::flat(1 << 14), &[linear(1 << 13)], "more than 67108864 parameters"),
            (image, &[convolution(2, 3, 1, 1)], "the last layer returns shape 2×6×5"),
            (image, &[LayerSpec::Scale { factor: 0.0 }], "layer 1 (scale): factor is 0"),
            (image, &[LayerSpec::Scale { factor: f64::NAN }], "factor is NaN"),
            (image, &[norm(0, 1e-5)], "layer 1 (group-norm): groups is 0"),
            (image, &[norm(2, 1e-5)], "groups 2 does not divide the 3 channels"),
            (Shape::flat(4), &[norm(4, 1e-5)], "or leaves one value per group"),
            (image, &[norm(3, 0.0)], "layer 1 (group-norm): epsilon is 0; it must be in [1e-8, 1]"),
            (image, &[norm(3, f64::NAN)], "epsilon is NaN"),
            (image, &[linear(1)], "the last layer returns shape 1;"),
        ];
        for (input, layers, part) in invalid {
            let spec = ModelSpec { input, layers: layers.to_vec() };
            let error = Network::new(&spec).unwrap_err().to_string();
            assert!(error.contains(part), "{error}: not {part}");
        }
        let bare = ModelSpec { input: Shape::flat(4), layers: vec![LayerSpec::Tanh] };
        assert_eq!(Network::new(&bare), Err(ModelError::Untrained));
    }
}

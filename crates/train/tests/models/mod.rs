//! Small models that together cover every layer, stride and padding, and a generator of test
//! numbers.
#![allow(dead_code, reason = "tests on devices use a part")]

use dpscope_train::LayerSpec::{
    self, AveragePool, Gelu, GroupNorm, Linear, MaxPool, Relu, Scale, Softplus, Tanh,
};
use dpscope_train::{ModelSpec, Network, Shape};

/// Test numbers from a linear congruential generator with mixed output.
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number, in [0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mixed = (self.0 ^ (self.0 >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        ((mixed ^ (mixed >> 32)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// The next number, in [−1, 1).
    pub(crate) fn symmetric(&mut self) -> f64 {
        2.0 * self.uniform() - 1.0
    }
}

pub(crate) fn convolution(
    channels: usize,
    kernel: usize,
    stride: usize,
    padding: usize,
) -> LayerSpec {
    LayerSpec::Convolution { channels, kernel, stride, padding }
}

fn model(input: [usize; 3], layers: &[LayerSpec]) -> ModelSpec {
    let [channels, height, width] = input;
    ModelSpec { input: Shape { channels, height, width }, layers: layers.to_vec() }
}

/// The network of a valid spec.
pub(crate) fn network(spec: &ModelSpec) -> Network {
    Network::new(spec).expect("the model is valid")
}

/// All models by name.
pub(crate) fn every_layer() -> Vec<(&'static str, ModelSpec)> {
    [common_models(), unusual_models(), smooth_models()].concat()
}

fn common_models() -> Vec<(&'static str, ModelSpec)> {
    let two = Linear { outputs: 2 };
    vec![
        ("linear", model([5, 1, 1], &[Linear { outputs: 3 }])),
        ("mlp", model([20, 1, 1], &[Linear { outputs: 7 }, Relu, Linear { outputs: 4 }])),
        ("tanh", model([9, 1, 1], &[Tanh, Linear { outputs: 18 }, Tanh, Linear { outputs: 3 }])),
        (
            "lenet",
            model(
                [1, 12, 12],
                &[
                    convolution(3, 5, 1, 2),
                    Tanh,
                    AveragePool { size: 2 },
                    convolution(5, 3, 1, 0),
                    Tanh,
                    AveragePool { size: 2 },
                    Linear { outputs: 6 },
                    Tanh,
                    two,
                ],
            ),
        ),
        (
            "cnn",
            model(
                [3, 8, 8],
                &[
                    convolution(4, 3, 1, 1),
                    Tanh,
                    convolution(4, 3, 1, 1),
                    Tanh,
                    MaxPool { size: 2 },
                    convolution(6, 3, 1, 1),
                    Tanh,
                    MaxPool { size: 2 },
                    Linear { outputs: 5 },
                    Tanh,
                    two,
                ],
            ),
        ),
    ]
}

fn smooth_models() -> Vec<(&'static str, ModelSpec)> {
    let two = Linear { outputs: 2 };
    vec![
        (
            "gelu, softplus, scaled logits",
            model(
                [2, 6, 6],
                &[
                    convolution(3, 3, 1, 1),
                    Gelu,
                    AveragePool { size: 2 },
                    Softplus,
                    two,
                    Scale { factor: 0.1 },
                ],
            ),
        ),
        (
            "softplus between linear layers",
            model([12, 1, 1], &[Linear { outputs: 5 }, Softplus, Linear { outputs: 3 }]),
        ),
        (
            "group norm of images",
            model(
                [2, 6, 5],
                &[
                    convolution(6, 3, 1, 1),
                    GroupNorm { groups: 3, epsilon: 1e-5 },
                    Tanh,
                    AveragePool { size: 2 },
                    two,
                ],
            ),
        ),
        (
            "group norm first and between linear layers",
            model(
                [8, 1, 1],
                &[
                    GroupNorm { groups: 2, epsilon: 1e-3 },
                    Linear { outputs: 6 },
                    GroupNorm { groups: 1, epsilon: 0.1 },
                    Gelu,
                    Linear { outputs: 3 },
                ],
            ),
        ),
    ]
}

fn unusual_models() -> Vec<(&'static str, ModelSpec)> {
    let two = Linear { outputs: 2 };
    vec![
        (
            "stride 2",
            model([2, 9, 7], &[convolution(5, 3, 2, 1), Tanh, convolution(3, 2, 2, 0), Relu, two]),
        ),
        (
            "stride 3, windows omitted",
            model([2, 11, 8], &[Tanh, convolution(4, 4, 3, 3), Tanh, convolution(7, 2, 1, 1), two]),
        ),
        (
            "no linear layer",
            model(
                [3, 6, 6],
                &[convolution(5, 1, 1, 0), MaxPool { size: 3 }, convolution(3, 2, 1, 0)],
            ),
        ),
        (
            "uneven pools",
            model(
                [2, 7, 8],
                &[MaxPool { size: 2 }, convolution(2, 2, 1, 1), AveragePool { size: 3 }, Tanh, two],
            ),
        ),
        (
            "linear before convolution",
            model(
                [4, 1, 1],
                &[
                    Linear { outputs: 6 },
                    Tanh,
                    convolution(17, 1, 1, 0),
                    Relu,
                    Linear { outputs: 3 },
                ],
            ),
        ),
    ]
}

/// Wrong gradients: the sign of one layer flipped, its weights transposed or its biases omitted.
pub(crate) fn broken(spec: &ModelSpec, gradient: &[f64]) -> Vec<(Vec<f64>, String)> {
    let mut found = Vec::new();
    for layer in 0..spec.layers.len() {
        let before = ModelSpec { layers: spec.layers[..layer].to_vec(), ..spec.clone() };
        let first = parameters(&before);
        let upto = ModelSpec { layers: spec.layers[..=layer].to_vec(), ..spec.clone() };
        let end = parameters(&upto);
        let outputs = match spec.layers[layer] {
            Linear { outputs } => outputs,
            LayerSpec::Convolution { channels, .. } => channels,
            _ => continue,
        };
        let (weights, mut twin) = (first..end - outputs, gradient.to_vec());
        twin[first..end].iter_mut().for_each(|value| *value = -*value);
        found.push((twin, format!("sign of layer {layer}")));
        let columns = weights.len() / outputs;
        let mut twin = gradient.to_vec();
        for (at, place) in weights.clone().enumerate() {
            twin[place] = gradient[first + at % outputs * columns + at / outputs];
        }
        if columns > 1 {
            found.push((twin, format!("weights of layer {layer} transposed")));
        }
        let mut twin = gradient.to_vec();
        twin[weights.end..end].fill(0.0);
        found.push((twin, format!("biases of layer {layer}")));
    }
    found
}

/// Number of parameters of layers that need not end in classes, from two different last layers.
fn parameters(spec: &ModelSpec) -> usize {
    let with_end = |outputs| {
        let mut whole = spec.clone();
        whole.layers.push(Linear { outputs });
        network(&whole).parameters()
    };
    3 * with_end(2) - 2 * with_end(3)
}

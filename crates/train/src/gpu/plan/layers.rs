//! The layers of a network with the places of what flows through them.

use dpscope_shaders::train::{
    Activation, Along, Common, ConvolutionLayer, EvaluatedRecords, ImageShape, Kernel, LayerMemory,
    LinearLayer, Loss, NormLayer, Pooling, PoolingLayer, Source, SquaredNorm, along_sum,
};

use super::records::Records;
use crate::layers::{Convolution, Elementwise, GroupNorm, Layer};
use crate::model::{Network, PlacedLayer, Shape};

/// A layer with the activation that follows it.
#[derive(Debug, Clone, Copy)]
enum Step {
    Linear(LinearLayer),
    Convolution(ConvolutionLayer),
    Norm(NormLayer),
    Pooling(PoolingLayer),
}

/// What the kernels of a network compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Sums of clipped gradients, by way of the norm of each.
    ClippedGradient,
    /// Sums of gradients.
    Gradient,
    /// Sums of gradients, and gradients with respect to examples.
    InputGradient,
}

/// The layers of a network on R rows.
#[derive(Debug)]
pub(super) struct Layers {
    steps: Vec<Step>,
    purpose: Purpose,
    /// The first with parameters: below it no slopes are needed, except with respect to examples.
    lowest: usize,
    labels: u32,
    factors: u64,
    words: u64,
    /// Where the derivatives of outputs along the noisy sum are, of each step; empty if they are not
    /// needed.
    derivatives: Vec<u32>,
}

impl Layers {
    /// Places all; may be beyond the range of 32 bits, which the caller must refuse by
    /// [`words`](Self::words).
    ///
    /// Only the number of rows and the kind of numbers of `sizes` matter.
    pub(super) fn new(
        network: &Network,
        records: &Records,
        sizes: &Common,
        purpose: Purpose,
    ) -> Self {
        let mut steps: Vec<Step> = Vec::new();
        for placed in network.layers() {
            let activation = activation(&placed.layer);
            let fused = steps.last_mut().map(Step::stage_mut);
            let fused = fused.filter(|stage| stage.activation == Activation::Identity);
            match (activation, fused) {
                (Activation::Identity, _) | (_, None) => steps.push(step(placed, activation)),
                (activation, Some(stage)) => stage.activation = activation,
            }
        }
        let lowest = match purpose {
            Purpose::InputGradient => 0,
            _ => steps.iter().position(Step::has_parameters).unwrap_or(0),
        };
        let mut words = Words { rows: sizes.rows.into(), next: 0 };
        place_outputs(&mut steps, records, &mut words);
        let inputs = if purpose == Purpose::InputGradient { network.inputs() } else { 0 };
        let input_gradients = words.take(inputs as u64);
        place_slopes(&mut steps, lowest, input_gradients, &mut words);
        for step in &mut steps {
            let (partials, saved) = match step {
                Step::Convolution(layer) if purpose == Purpose::ClippedGradient => {
                    (layer.partials(sizes), layer.saved_words())
                }
                Step::Norm(layer) => (layer.partials(), layer.parameters()),
                _ => continue,
            };
            let stage = step.stage_mut();
            (stage.partials, stage.gradients) = (words.take(partials), words.take(saved));
        }
        let factors = u64::from(words.take(1));
        Layers {
            steps,
            purpose,
            lowest,
            labels: records.labels,
            factors,
            words: words.next,
            derivatives: Vec::new(),
        }
    }

    /// Words of a model.
    pub(super) fn words(&self) -> u64 {
        self.words
    }

    /// Where the factors of rows are.
    pub(super) fn factors(&self) -> u32 {
        self.factors as u32
    }

    /// Where gradients with respect to examples are, if they are computed.
    pub(super) fn input_gradients(&self) -> u32 {
        self.steps.first().map_or(0, |step| step.stage().input_gradient)
    }

    pub(super) fn forward(&self, common: &Common) -> Vec<Kernel> {
        let forward = |step: &Step| match step {
            Step::Linear(layer) => layer.forward(common),
            Step::Convolution(layer) => layer.forward(common),
            Step::Norm(layer) => layer.forward(common),
            Step::Pooling(layer) => layer.forward(common),
        };
        self.steps.iter().map(forward).collect()
    }

    /// From the loss down: slopes by what comes out of each layer, and gradients of convolutions.
    pub(super) fn backward(&self, common: &Common) -> Vec<Kernel> {
        let mut kernels = Vec::new();
        if let Some(last) = self.steps.last() {
            let loss = Loss { stage: *last.stage(), labels: self.labels };
            kernels.push(loss.gradient(common));
        }
        for (index, step) in self.steps.iter().enumerate().skip(self.lowest).rev() {
            let needs_below = index > self.lowest || self.purpose == Purpose::InputGradient;
            match step {
                Step::Linear(layer) if needs_below => kernels.push(layer.input_gradient(common)),
                Step::Convolution(layer) => {
                    if self.purpose == Purpose::ClippedGradient {
                        kernels.push(layer.gradients(common));
                    }
                    if needs_below {
                        kernels.push(layer.input_gradient(common));
                    }
                }
                Step::Norm(layer) => kernels.push(layer.gradients(common, needs_below)),
                Step::Pooling(layer) if needs_below => kernels.push(layer.input_gradient(common)),
                _ => {}
            }
        }
        kernels
    }

    /// Places the derivatives of outputs along the noisy sum.
    pub(super) fn place_derivatives(&mut self, rows: u32) {
        let mut words = Words { rows: rows.into(), next: self.words };
        let place = |step: &Step| match step.has_parameters() {
            true => words.take(step.stage().outputs.into()),
            false => 0,
        };
        self.derivatives = self.steps.iter().map(place).collect();
        self.words = words.next;
    }

    /// From records to the products of their gradients with the noisy sum.
    pub(super) fn observe(
        &self,
        common: &Common,
        records: &EvaluatedRecords,
        steps: u32,
    ) -> Vec<Kernel> {
        let mut kernels = vec![records.rows(common)];
        kernels.extend(self.forward(common));
        kernels.extend(self.backward(common));
        let mut along = Vec::new();
        for (step, &derivative) in self.steps.iter().zip(&self.derivatives) {
            let stage = step.stage();
            kernels.extend(match step {
                Step::Linear(_) => {
                    let forward = |stage| LinearLayer { stage }.forward(common);
                    Some(along_sum(stage, derivative, forward))
                }
                Step::Convolution(layer) => {
                    let forward = |stage| ConvolutionLayer { stage, ..*layer }.forward(common);
                    Some(along_sum(stage, derivative, forward))
                }
                Step::Norm(layer) => {
                    let forward = |stage| NormLayer { stage, ..*layer }.forward(common);
                    Some(along_sum(stage, derivative, forward))
                }
                Step::Pooling(_) => None,
            });
            let (outputs, output_gradient) = (stage.outputs, stage.output_gradient);
            if step.has_parameters() {
                along.push(Along { outputs, output_gradient, derivative });
            }
        }
        kernels.push(records.row_products(common, &self.squares(common), &along, steps));
        kernels
    }

    /// From records to their losses.
    pub(super) fn evaluate(&self, common: &Common, records: &EvaluatedRecords) -> Vec<Kernel> {
        let mut kernels = vec![records.rows(common)];
        kernels.extend(self.forward(common));
        kernels.extend(self.steps.last().map(|last| records.losses(common, last.stage())));
        kernels
    }

    pub(super) fn squares(&self, common: &Common) -> Vec<SquaredNorm> {
        let squares = |step: &Step| match step {
            Step::Linear(layer) => Some(SquaredNorm::Linear(layer.stage)),
            Step::Convolution(layer) => {
                Some(SquaredNorm::Summed(layer.stage, layer.partials(common) as u32))
            }
            Step::Norm(layer) => Some(SquaredNorm::Summed(layer.stage, layer.groups)),
            Step::Pooling(_) => None,
        };
        self.steps.iter().filter_map(squares).collect()
    }

    pub(super) fn sums(&self, common: &Common) -> Vec<Kernel> {
        let sums = |step: &Step| match step {
            Step::Linear(layer) => Some(layer.sums(common)),
            Step::Convolution(layer) if self.purpose == Purpose::ClippedGradient => {
                Some(layer.sums(common))
            }
            Step::Convolution(layer) => Some(layer.direct_sums(common)),
            Step::Norm(layer) => Some(layer.sums(common)),
            Step::Pooling(_) => None,
        };
        self.steps.iter().filter_map(sums).collect()
    }
}

/// Words of a model that are taken, R at a time.
struct Words {
    rows: u64,
    next: u64,
}

impl Words {
    /// So many a row.
    fn take(&mut self, count: u64) -> u32 {
        let first = self.next;
        self.next = first.saturating_add(count.saturating_mul(self.rows));
        first as u32
    }
}

impl Step {
    fn stage(&self) -> &LayerMemory {
        match self {
            Step::Linear(layer) => &layer.stage,
            Step::Convolution(layer) => &layer.stage,
            Step::Norm(layer) => &layer.stage,
            Step::Pooling(layer) => &layer.stage,
        }
    }

    fn stage_mut(&mut self) -> &mut LayerMemory {
        match self {
            Step::Linear(layer) => &mut layer.stage,
            Step::Convolution(layer) => &mut layer.stage,
            Step::Norm(layer) => &mut layer.stage,
            Step::Pooling(layer) => &mut layer.stage,
        }
    }

    fn has_parameters(&self) -> bool {
        !matches!(self, Step::Pooling(_))
    }
}

/// What comes out of each layer, which the next takes in.
fn place_outputs(steps: &mut [Step], records: &Records, words: &mut Words) {
    let (mut source, mut input_activation) = (records.source, Activation::Identity);
    for step in steps {
        let stage = step.stage_mut();
        stage.source = source;
        stage.input_activation = input_activation;
        stage.output = words.take(stage.outputs.into());
        source = Source::Values(stage.output);
        input_activation = stage.activation;
    }
}

/// Slopes of the last layer lie where the logits do; those of layers with parameters stay until
/// their factors are known; the others have two places in turn.
fn place_slopes(steps: &mut [Step], lowest: usize, input_gradients: u32, words: &mut Words) {
    let last = steps.len().saturating_sub(1);
    let passing = steps[lowest..last].iter().filter(|step| !step.has_parameters());
    let passing: Vec<u64> = passing.map(|step| step.stage().outputs.into()).collect();
    let room = passing.iter().copied().max().unwrap_or(0);
    let places = [0, 1].map(|place| if passing.len() > place { words.take(room) } else { 0 });
    let (mut below, mut passed) = (input_gradients, 0);
    for (index, step) in steps.iter_mut().enumerate().skip(lowest) {
        let keeps = step.has_parameters();
        let stage = step.stage_mut();
        stage.input_gradient = below;
        stage.output_gradient = if index == last {
            stage.output
        } else if keeps {
            words.take(stage.outputs.into())
        } else {
            passed += 1;
            places[(passed - 1) % 2]
        };
        below = stage.output_gradient;
    }
}

fn activation(layer: &Layer) -> Activation {
    match layer {
        Layer::Elementwise(Elementwise::Tanh(_)) => Activation::Tanh,
        Layer::Elementwise(Elementwise::Relu(_)) => Activation::Relu,
        _ => Activation::Identity,
    }
}

/// The layer by itself, in no place yet.
fn step(placed: &PlacedLayer, activation: Activation) -> Step {
    let stage = LayerMemory {
        source: Source::Values(0),
        inputs: placed.input.len() as u32,
        outputs: placed.output.len() as u32,
        output: 0,
        output_gradient: 0,
        input_gradient: 0,
        activation,
        input_activation: Activation::Identity,
        first_parameter: placed.parameters.start as u32,
        partials: 0,
        gradients: 0,
    };
    let input = image_shape(placed.input);
    match placed.layer {
        Layer::Linear(_) => Step::Linear(LinearLayer { stage }),
        Layer::Convolution(Convolution { output, kernel, stride, padding, .. }) => {
            Step::Convolution(ConvolutionLayer {
                stage,
                input,
                output: image_shape(output),
                kernel: kernel as u32,
                stride: stride.min(1 << 24) as u32, // beyond every side
                padding: padding as u32,
            })
        }
        Layer::GroupNorm(GroupNorm { groups, epsilon, .. }) => {
            Step::Norm(NormLayer { stage, input, groups: groups as u32, epsilon: epsilon as f32 })
        }
        _ => {
            let (pooling, size) = pooling(&placed.layer);
            Step::Pooling(PoolingLayer { stage, pooling, input, size })
        }
    }
}

/// What a layer without weights computes, and the side of its blocks.
fn pooling(layer: &Layer) -> (Pooling, u32) {
    match layer {
        Layer::AveragePool(pool) => (Pooling::Average, pool.size as u32),
        Layer::MaxPool(pool) => (Pooling::Maximum, pool.size as u32),
        Layer::Elementwise(Elementwise::Gelu(_)) => (Pooling::Gelu, 1),
        Layer::Elementwise(Elementwise::Softplus(_)) => (Pooling::Softplus, 1),
        Layer::Elementwise(Elementwise::Scale(scale)) => (Pooling::Scale(scale.0 as f32), 1),
        // tanh and ReLU are activations.
        _ => (Pooling::Identity, 1),
    }
}

fn image_shape(shape: Shape) -> ImageShape {
    ImageShape {
        channels: shape.channels as u32,
        height: shape.height as u32,
        width: shape.width as u32,
    }
}

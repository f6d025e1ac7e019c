//! First and second derivatives of the losses of a batch.

use crate::gradient::BatchRows;
use crate::layers::{Arithmetic, Dual, Scalar};
use crate::model::Network;

/// Derivatives of the losses of a batch with respect to parameters and examples.
///
/// g_b denotes the gradient of row b with respect to the parameters, clipped to the norm
/// `clip_norm` if there is one.
pub trait Derivatives {
    /// The number type.
    type Number: Scalar;

    /// The network.
    fn network(&self) -> &Network;

    /// Chooses the order of the weights of a first linear layer in parameters, directions and gradients
    /// without clipping: input by input, which may take less time, or output by output. Returns the
    /// numbers of inputs and outputs, or `None` if there is no choice.
    fn order_by_input(&mut self, _by_input: bool) -> Option<[usize; 2]> {
        None
    }

    /// Whether batches may contain sparse rows.
    fn reads_sparse_rows(&self, _clip_norm: Option<f64>) -> bool {
        false
    }

    /// out = Σ_b g_b.
    fn gradient(
        &mut self,
        theta: &[Self::Number],
        batch: BatchRows<'_, Self::Number>,
        clip_norm: Option<f64>,
        out: &mut [Self::Number],
    );

    /// The derivative of Σ_b ⟨w, g_b⟩ with respect to the parameters, into `out`, and to the
    /// examples of the canaries, into `cross`.
    fn product(
        &mut self,
        theta: &[Self::Number],
        w: &[Self::Number],
        batch: BatchRows<'_, Self::Number>,
        clip_norm: Option<f64>,
        out: &mut [Self::Number],
        cross: &mut [Self::Number],
    );

    /// How many numbers [`Self::keeping_gradient`] keeps per row.
    fn kept_per_row(&self) -> usize {
        0
    }

    /// [`Self::gradient`] without clipping. Appends to `kept` what [`Self::product_of_kept`] for the
    /// same parameters and batch then need not compute again.
    fn keeping_gradient(
        &mut self,
        theta: &[Self::Number],
        batch: BatchRows<'_, Self::Number>,
        out: &mut [Self::Number],
        _kept: &mut Vec<Self::Number>,
    ) {
        self.gradient(theta, batch, None, out);
    }

    /// [`Self::product`] without clipping, with the same bits.
    fn product_of_kept(
        &mut self,
        (theta, w): (&[Self::Number], &[Self::Number]),
        batch: BatchRows<'_, Self::Number>,
        _kept: &[Self::Number],
        out: &mut [Self::Number],
        cross: &mut [Self::Number],
    ) {
        self.product(theta, w, batch, None, out, cross);
    }

    /// Σ_b weight_b · loss_b, with its derivative with respect to the parameters, into `out`, and
    /// to the examples, into `direct`.
    fn objective(
        &mut self,
        theta: &[Self::Number],
        batch: BatchRows<'_, Self::Number>,
        weights: &[f64],
        out: &mut [Self::Number],
        direct: &mut [Self::Number],
    ) -> Self::Number;
}

/// A device that computes derivatives for several threads at once.
pub trait DerivativeDevice: Sync {
    /// Derivatives for the calling thread.
    fn derivatives(&self) -> Box<dyn Derivatives<Number = f32> + '_>;
}

/// Derivatives row by row, in f64: simple rather than fast.
///
/// # Guarantee
/// Products equal those of automatic differentiation to 1e-12
/// (`tests/oracles/metagradient.rs::metagradients_agree`).
#[derive(Debug, Clone)]
pub struct ReferenceDerivatives<'a> {
    network: &'a Network,
    gradient: Vec<f64>,
    duals: Vec<Dual<f64>>,
}

impl<'a> ReferenceDerivatives<'a> {
    /// Derivatives of a network.
    #[must_use]
    pub fn new(network: &'a Network) -> Self {
        let zero = Dual::from_f64(0.0);
        let count = network.parameters();
        Self { network, gradient: vec![0.0; count], duals: vec![zero; count] }
    }

    /// Factor by which the gradient in `self.gradient` is clipped, and its norm.
    fn clip(&self, clip_norm: Option<f64>) -> (f64, f64) {
        let norm = self.gradient.iter().map(|value| value * value).sum::<f64>().sqrt();
        let factor = clip_norm.map_or(1.0, |clip_norm| (clip_norm / norm).min(1.0));
        (factor, norm)
    }
}

fn rows<'a, N>(
    batch: BatchRows<'a, N>,
    inputs: usize,
) -> impl Iterator<Item = (&'a [N], usize)> + use<'a, N> {
    let labels = batch.labels.iter().map(|&label| label as usize);
    batch.examples.chunks_exact(inputs).zip(labels)
}

impl Derivatives for ReferenceDerivatives<'_> {
    type Number = f64;

    fn network(&self) -> &Network {
        self.network
    }

    fn gradient(
        &mut self,
        theta: &[f64],
        batch: BatchRows<'_, f64>,
        clip_norm: Option<f64>,
        out: &mut [f64],
    ) {
        out.fill(0.0);
        for (example, label) in rows(batch, self.network.inputs()) {
            self.network.gradient(theta, example, label, &mut self.gradient);
            let (factor, _) = self.clip(clip_norm);
            out.iter_mut().zip(&self.gradient).for_each(|(out, value)| *out += factor * value);
        }
    }

    fn product(
        &mut self,
        theta: &[f64],
        w: &[f64],
        batch: BatchRows<'_, f64>,
        clip_norm: Option<f64>,
        out: &mut [f64],
        cross: &mut [f64],
    ) {
        out.fill(0.0);
        let inputs = self.network.inputs();
        for (row, (example, label)) in rows(batch, inputs).enumerate() {
            // The derivative of a clipped gradient is symmetric: it is applied to w first.
            let mut direction = w.to_vec();
            if clip_norm.is_some() {
                self.network.gradient(theta, example, label, &mut self.gradient);
                let (factor, norm) = self.clip(clip_norm);
                if factor < 1.0 {
                    let along: f64 = w.iter().zip(&self.gradient).map(|(w, g)| w * g).sum();
                    for (value, g) in direction.iter_mut().zip(&self.gradient) {
                        *value = factor * (*value - g * along / (norm * norm));
                    }
                }
            }
            let parameters = theta.iter().zip(&direction);
            let parameters: Vec<_> =
                parameters.map(|(&value, &derivative)| Dual { value, derivative }).collect();
            let example: Vec<_> = example.iter().map(|&value| Dual::from_f64(value)).collect();
            let (_, slopes) = self.network.gradient_and_input_gradient(
                &parameters,
                &example,
                label,
                &mut self.duals,
            );
            out.iter_mut().zip(&self.duals).for_each(|(out, dual)| *out += dual.derivative);
            if row < batch.canaries {
                let cross = &mut cross[row * inputs..][..inputs];
                cross.iter_mut().zip(&slopes).for_each(|(out, dual)| *out = dual.derivative);
            }
        }
    }

    fn objective(
        &mut self,
        theta: &[f64],
        batch: BatchRows<'_, f64>,
        weights: &[f64],
        out: &mut [f64],
        direct: &mut [f64],
    ) -> f64 {
        out.fill(0.0);
        let inputs = self.network.inputs();
        let mut objective = 0.0;
        for (row, (example, label)) in rows(batch, inputs).enumerate() {
            let (loss, slopes) =
                self.network.gradient_and_input_gradient(theta, example, label, &mut self.gradient);
            objective += weights[row] * loss;
            let values = out.iter_mut().zip(&self.gradient);
            values.for_each(|(out, value)| *out += weights[row] * value);
            let direct = direct[row * inputs..][..inputs].iter_mut().zip(slopes);
            direct.for_each(|(out, value)| *out = weights[row] * value);
        }
        objective
    }
}

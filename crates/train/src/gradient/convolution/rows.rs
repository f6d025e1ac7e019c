//! Gradients of each example by itself, their norms and clipped sums.

use super::super::buffer::Lane;
use super::super::instruction_set::InstructionSet;
use super::super::lane_sums::{AddTotals, ChannelSums, Squares};
use super::super::norm_method::NormMethod;
use super::super::products::{Gathered, Products, total};
use super::{ConvolutionWork, GRAM_ROWS};
use crate::layers::Weighted;

impl ConvolutionWork {
    /// Gradient of each example, weights before biases.
    pub(in crate::gradient) fn row_gradients(
        &self,
        set: InstructionSet,
        input: (&[Lane], &mut [Lane]),
        output_gradient: &[Lane],
        out: &mut [Lane],
    ) {
        let (weights, biases) = out.split_at_mut(self.layer.weights());
        self.weight_gradients(set, input, output_gradient, |at, lane| weights[at] = *lane);
        set.run(ChannelSums { output_gradient, positions: self.positions.len(), out: biases });
    }

    /// Adds the squared norm of each per-example gradient and saves the input of
    /// [`Self::accumulate`].
    pub(in crate::gradient) fn add_squares(
        &mut self,
        set: InstructionSet,
        (input, border): (&[Lane], &mut [Lane]),
        output_gradient: &[Lane],
        squares: &mut [f64],
    ) {
        match self.route {
            NormMethod::Instantiated => {
                let mut saved = std::mem::take(&mut self.saved);
                let (weights, biases) = saved.lanes_mut().split_at_mut(self.layer.weights());
                let mut sum = Squares::new(squares);
                self.weight_gradients(set, (input, border), output_gradient, |at, lane| {
                    weights[at] = *lane;
                    sum.add(lane);
                });
                let positions = self.positions.len();
                set.run(ChannelSums { output_gradient, positions, out: biases });
                biases.iter().for_each(|bias| sum.add(bias));
                sum.finish();
                self.saved = saved;
            }
            NormMethod::Gram => {
                self.saved.lanes_mut().copy_from_slice(&output_gradient[..self.layer.output.len()]);
                let mut gram = std::mem::take(&mut self.gram);
                let input = Gathered { places: &[], steps: &[], ..self.padded(input, border) };
                self.add_gram(set, input.lanes, output_gradient, gram.lanes_mut(), squares);
                let out = self.biases.lanes_mut();
                set.run(ChannelSums { output_gradient, positions: self.positions.len(), out });
                let mut sum = Squares::new(squares);
                self.biases.lanes().iter().for_each(|bias| sum.add(bias));
                sum.finish();
                self.gram = gram;
            }
        }
    }

    /// Adds Σ_pq (UᵀU ∘ ΔᵀΔ)_pq, computed for q ≤ p; terms below the diagonal count twice.
    fn add_gram(
        &self,
        set: InstructionSet,
        padded: &[Lane],
        output_gradient: &[Lane],
        gram: &mut [Lane],
        squares: &mut [f64],
    ) {
        let windows = self.windows.len();
        let (of_inputs, of_gradients) = gram.split_at_mut(gram.len() / 2);
        for first in (0..windows).step_by(GRAM_ROWS) {
            let end = (first + GRAM_ROWS).min(windows);
            let rows = first..end;
            let of = |lanes, places, steps| Gathered { lanes, places, steps };
            let pairs = [
                (of(padded, &self.windows[..], &self.taps[..]), &mut *of_inputs),
                (of(output_gradient, &self.positions[..], &self.channels[..]), &mut *of_gradients),
            ];
            for (left, out) in pairs {
                let right = Gathered { places: &left.places[..end], ..left };
                let sink = |p: usize, q: usize, lane: &Lane| out[(p - first) * windows + q] = *lane;
                set.run(Products { left, rows: rows.clone(), right, sink });
            }
            for p in rows {
                for q in 0..=p {
                    let at = (p - first) * windows + q;
                    let twice = if q < p { 2.0 } else { 1.0 };
                    let pairs = of_inputs[at].iter().zip(&of_gradients[at]);
                    for (square, (&input, &derivative)) in squares.iter_mut().zip(pairs) {
                        *square += twice * f64::from(input) * f64::from(derivative);
                    }
                }
            }
        }
    }

    /// Adds Σ factor · gradient over the examples.
    pub(in crate::gradient) fn accumulate(
        &mut self,
        set: InstructionSet,
        (input, border): (&[Lane], &mut [Lane]),
        factors: &Lane,
        out: &mut [f32],
    ) {
        match self.route {
            NormMethod::Instantiated => {
                set.run(AddTotals { lanes: self.saved.lanes(), factors, out });
            }
            NormMethod::Gram => {
                let mut saved = std::mem::take(&mut self.saved);
                for lane in saved.lanes_mut() {
                    lane.iter_mut()
                        .zip(factors)
                        .for_each(|(derivative, factor)| *derivative *= factor);
                }
                let (weights, biases) = out.split_at_mut(self.layer.weights());
                let add = |at: usize, lane: &Lane| weights[at] += total(lane);
                self.weight_gradients(set, (input, border), saved.lanes(), add);
                for (bias, sum) in biases.iter_mut().zip(self.biases.lanes()) {
                    *bias += sum.iter().zip(factors).map(|(sum, factor)| sum * factor).sum::<f32>();
                }
                self.saved = saved;
            }
        }
    }
}

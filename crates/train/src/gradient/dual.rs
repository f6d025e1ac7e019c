//! Elementwise layers on values and tangents.

use super::instruction_set::Kernel;
use crate::layers::{Dual, Pointwise};

/// Tangent of the outputs of an elementwise function, from that of its inputs.
pub(super) struct Push<'a, P> {
    pub(super) function: P,
    pub(super) input: &'a [f32],
    pub(super) output: &'a [f32],
    pub(super) change: &'a [f32],
    pub(super) out: &'a mut [f32],
}

impl<P: Pointwise> Kernel for Push<'_, P> {
    #[inline(always)]
    fn run<const WIDTH: usize, const COLUMNS: usize, const FUSED: bool>(self) {
        let places = self.input.iter().zip(self.output).zip(self.change);
        for (out, ((&x, &y), &change)) in self.out.iter_mut().zip(places) {
            *out = self.function.pull(x, y, change);
        }
    }
}

/// Gradient with respect to the inputs of an elementwise function and its tangent, from those with
/// respect to the outputs: the function's pull on dual numbers. Each pair is a value and its
/// tangent.
pub(super) struct DualPull<'a, P> {
    pub(super) function: P,
    pub(super) input: [&'a [f32]; 2],
    pub(super) output: [&'a [f32]; 2],
    pub(super) output_gradient: [&'a [f32]; 2],
    pub(super) input_gradient: [&'a mut [f32]; 2],
}

impl<P: Pointwise> Kernel for DualPull<'_, P> {
    #[inline(always)]
    fn run<const WIDTH: usize, const COLUMNS: usize, const FUSED: bool>(self) {
        let [values, tangents] = self.input_gradient;
        let count = values.len();
        let [x, dx] = self.input.map(|plane| &plane[..count]);
        let [y, dy] = self.output.map(|plane| &plane[..count]);
        let [g, dg] = self.output_gradient.map(|plane| &plane[..count]);
        let tangents = &mut tangents[..count];
        for at in 0..count {
            let dual = |value: f32, derivative: f32| Dual { value, derivative };
            let (x, y) = (dual(x[at], dx[at]), dual(y[at], dy[at]));
            let pulled = self.function.pull(x, y, dual(g[at], dg[at]));
            (values[at], tangents[at]) = (pulled.value, pulled.derivative);
        }
    }
}

//! Group normalisation in lanes: the layer on vectors of 16 examples, or on dual numbers of them.

use std::marker::PhantomData;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

use super::buffer::{LANES, Lane};
use super::instruction_set::{Kernel, kernel};
use super::row_directions::Direction;
use crate::layers::{Arithmetic, Dual, GroupNorm};

/// One number per example.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numbers(Lane);

/// Applies a function of two numbers to each pair.
macro_rules! lane_by_lane {
    ($($name:ident::$method:ident: $function:expr),*) => {
        $(impl $name for Numbers {
            type Output = Self;

            #[inline(always)]
            fn $method(mut self, other: Self) -> Self {
                for (left, right) in self.0.iter_mut().zip(other.0) {
                    *left = $function(*left, right);
                }
                self
            }
        })*
    };
}

lane_by_lane! {
    Add::add: |left: f32, right| left + right,
    Sub::sub: |left: f32, right| left - right,
    Mul::mul: |left: f32, right| left * right,
    Div::div: |left: f32, right| left / right
}

impl Neg for Numbers {
    type Output = Self;

    #[inline(always)]
    fn neg(mut self) -> Self {
        self.0.iter_mut().for_each(|value| *value = -*value);
        self
    }
}

impl AddAssign for Numbers {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Arithmetic for Numbers {
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        Self([value as f32; LANES])
    }

    #[inline(always)]
    fn sqrt(mut self) -> Self {
        self.0.iter_mut().for_each(|value| *value = value.sqrt());
        self
    }
}

/// A value, or a value and its tangent, from planes of both.
pub(super) trait Planes: Arithmetic {
    fn load(planes: [&[Lane]; 2], at: usize) -> Self;

    fn parameter(theta: &[f32], direction: Option<Direction<'_>>, at: usize) -> Self;

    fn store(self, planes: &mut [&mut [Lane]; 2], at: usize);

    /// The tangent if there is one.
    fn last(self) -> Lane;
}

impl Planes for Numbers {
    #[inline(always)]
    fn load([values, _]: [&[Lane]; 2], at: usize) -> Self {
        Self(values[at])
    }

    #[inline(always)]
    fn parameter(theta: &[f32], _: Option<Direction<'_>>, at: usize) -> Self {
        Self([theta[at]; LANES])
    }

    #[inline(always)]
    fn store(self, [values, _]: &mut [&mut [Lane]; 2], at: usize) {
        values[at] = self.0;
    }

    #[inline(always)]
    fn last(self) -> Lane {
        self.0
    }
}

impl Planes for Dual<Numbers> {
    #[inline(always)]
    fn load([values, tangents]: [&[Lane]; 2], at: usize) -> Self {
        Self { value: Numbers(values[at]), derivative: Numbers(tangents[at]) }
    }

    #[inline(always)]
    fn parameter(theta: &[f32], direction: Option<Direction<'_>>, at: usize) -> Self {
        let derivative = match direction {
            Some(Direction::Shared(w)) => [w[at]; LANES],
            Some(Direction::PerRow { rows, .. }) => rows.lanes()[at],
            None => [0.0; LANES],
        };
        Self { value: Numbers([theta[at]; LANES]), derivative: Numbers(derivative) }
    }

    #[inline(always)]
    fn store(self, [values, tangents]: &mut [&mut [Lane]; 2], at: usize) {
        values[at] = self.value.0;
        tangents[at] = self.derivative.0;
    }

    #[inline(always)]
    fn last(self) -> Lane {
        self.derivative.0
    }
}

kernel! {
    /// Outputs of a layer.
    Normalize { layer: &'a GroupNorm, theta: &'a [f32], input: &'a [Lane], output: &'a mut [Lane] } => {
        let theta = |at| Numbers::parameter(theta, None, at);
        let input = |at| Numbers::load([input, &[]], at);
        layer.forward(theta, input, |at, value| output[at] = value.last());
    }
}

kernel! {
    /// Tangents of the outputs of a layer. The input is a pair of values and their tangents.
    NormalizeTangent {
        layer: &'a GroupNorm,
        theta: &'a [f32],
        direction: Direction<'a>,
        input: [&'a [Lane]; 2],
        output: &'a mut [Lane],
    } => {
        let theta = |at| Dual::<Numbers>::parameter(theta, Some(direction), at);
        let input = |at| Dual::<Numbers>::load(input, at);
        layer.forward(theta, input, |at, value| output[at] = value.last());
    }
}

/// Gradients of a layer with respect to its parameters, per example, and to its inputs if they are
/// needed; on [`Numbers`], or on their dual numbers, where the gradients of the parameters are
/// tangents only.
pub(super) struct NormalizeGradient<'a, N> {
    pub(super) layer: &'a GroupNorm,
    pub(super) theta: &'a [f32],
    pub(super) direction: Option<Direction<'a>>,
    pub(super) input: [&'a [Lane]; 2],
    pub(super) output_gradient: [&'a [Lane]; 2],
    pub(super) gradient: &'a mut [Lane],
    pub(super) input_gradient: Option<[&'a mut [Lane]; 2]>,
    pub(super) numbers: PhantomData<N>,
}

impl<N: Planes> Kernel for NormalizeGradient<'_, N> {
    #[inline(always)]
    fn run<const WIDTH: usize, const COLUMNS: usize, const FUSED: bool>(mut self) {
        self.layer.backward(
            |at| N::parameter(self.theta, self.direction, at),
            |at| N::load(self.input, at),
            |at| N::load(self.output_gradient, at),
            |at, value| self.gradient[at] = value.last(),
            |at, value| {
                if let Some(planes) = &mut self.input_gradient {
                    value.store(planes, at);
                }
            },
        );
    }
}

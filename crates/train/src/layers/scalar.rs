//! The numbers that the reference runs on.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

use dpscope_core::math;

use crate::gradient::elementary;

/// A number with the operations of a network: `f32`, `f64` and [`Dual`] numbers over them.
pub trait Scalar:
    Copy
    + Debug
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
{
    /// The number, rounded.
    fn from_f64(value: f64) -> Self;

    /// Without its slope.
    fn to_f64(self) -> f64;

    /// e^x.
    #[must_use]
    fn exp(self) -> Self;

    /// Natural logarithm.
    #[must_use]
    fn ln(self) -> Self;

    /// Hyperbolic tangent.
    #[must_use]
    fn tanh(self) -> Self;

    /// The larger; the first of equals, and NaN where one is.
    #[must_use]
    fn max(self, other: Self) -> Self {
        let (left, right) = (self.to_f64(), other.to_f64());
        if right > left || right.is_nan() { other } else { self }
    }
}

impl Scalar for f64 {
    fn from_f64(value: f64) -> Self {
        value
    }

    fn to_f64(self) -> f64 {
        self
    }

    fn exp(self) -> Self {
        math::exp(self)
    }

    fn ln(self) -> Self {
        math::ln(self)
    }

    fn tanh(self) -> Self {
        math::tanh(self)
    }
}

impl Scalar for f32 {
    fn from_f64(value: f64) -> Self {
        value as f32
    }

    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    fn exp(self) -> Self {
        elementary::exp(self)
    }

    fn ln(self) -> Self {
        math::ln(f64::from(self)) as f32
    }

    fn tanh(self) -> Self {
        elementary::tanh(self)
    }
}

/// v + s·ε with ε² = 0: a value and its derivative along one direction.
///
/// Over another `Dual` it carries second derivatives.
///
/// # Guarantee
/// The slope of a gradient is the Hessian times the direction
/// (`crates/train/tests/derivatives.rs::dual_numbers_give_second_derivatives`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dual<S> {
    /// v.
    pub value: S,
    /// s.
    pub slope: S,
}

impl<S: Scalar> Dual<S> {
    /// f(v) with the slope s·f′(v).
    fn chain(self, value: S, derivative: S) -> Self {
        Self { value, slope: self.slope * derivative }
    }
}

impl<S: Scalar> Scalar for Dual<S> {
    fn from_f64(value: f64) -> Self {
        Self { value: S::from_f64(value), slope: S::from_f64(0.0) }
    }

    fn to_f64(self) -> f64 {
        self.value.to_f64()
    }

    fn exp(self) -> Self {
        let exp = self.value.exp();
        self.chain(exp, exp)
    }

    fn ln(self) -> Self {
        self.chain(self.value.ln(), S::from_f64(1.0) / self.value)
    }

    fn tanh(self) -> Self {
        let tanh = self.value.tanh();
        self.chain(tanh, S::from_f64(1.0) - tanh * tanh)
    }
}

impl<S: Scalar> Add for Dual<S> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { value: self.value + other.value, slope: self.slope + other.slope }
    }
}

impl<S: Scalar> AddAssign for Dual<S> {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl<S: Scalar> Sub for Dual<S> {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { value: self.value - other.value, slope: self.slope - other.slope }
    }
}

impl<S: Scalar> Neg for Dual<S> {
    type Output = Self;

    fn neg(self) -> Self {
        Self { value: -self.value, slope: -self.slope }
    }
}

impl<S: Scalar> Mul for Dual<S> {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let slope = self.slope * other.value + self.value * other.slope;
        Self { value: self.value * other.value, slope }
    }
}

impl<S: Scalar> Div for Dual<S> {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        let value = self.value / other.value;
        Self { value, slope: (self.slope - value * other.slope) / other.value }
    }
}

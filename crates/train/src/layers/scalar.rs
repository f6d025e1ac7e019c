//! Number types of the reference implementation.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

use dpscope_core::math;

use crate::gradient::elementary;

/// 1/√(2π).
const FRAC_1_SQRT_2PI: f64 = 0.398_942_280_401_432_7;

/// Numbers, [`Dual`] numbers, and vectors of them.
pub trait Arithmetic:
    Copy
    + Debug
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
{
    /// Rounds an f64 to this type.
    fn from_f64(value: f64) -> Self;

    /// Square root.
    #[must_use]
    fn sqrt(self) -> Self;
}

/// A number type with the operations of a network: `f32`, `f64`, and [`Dual`] numbers over them.
pub trait Scalar: Arithmetic {
    /// The value without derivatives.
    fn to_f64(self) -> f64;

    /// Exponential.
    #[must_use]
    fn exp(self) -> Self;

    /// Natural logarithm.
    #[must_use]
    fn ln(self) -> Self;

    /// Hyperbolic tangent.
    #[must_use]
    fn tanh(self) -> Self;

    /// Logistic function 1/(1 + e^−x).
    #[must_use]
    fn sigmoid(self) -> Self;

    /// ln(1 + e^x).
    #[must_use]
    fn softplus(self) -> Self;

    /// Distribution function Φ of the standard normal distribution.
    #[must_use]
    fn normal_cdf(self) -> Self;

    /// Density φ of the standard normal distribution.
    #[must_use]
    #[inline(always)]
    fn normal_density(self) -> Self {
        (-(self * self * Self::from_f64(0.5))).exp() * Self::from_f64(FRAC_1_SQRT_2PI)
    }

    /// Maximum; the first of equal numbers, NaN if either is NaN.
    #[must_use]
    fn max(self, other: Self) -> Self {
        let (left, right) = (self.to_f64(), other.to_f64());
        if right > left || right.is_nan() { other } else { self }
    }
}

impl Arithmetic for f64 {
    fn from_f64(value: f64) -> Self {
        value
    }

    fn sqrt(self) -> Self {
        self.sqrt()
    }
}

impl Scalar for f64 {
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

    fn sigmoid(self) -> Self {
        1.0 / (1.0 + math::exp(-self))
    }

    fn softplus(self) -> Self {
        self.max(0.0) + math::ln_1p(math::exp(-self.abs()))
    }

    fn normal_cdf(self) -> Self {
        0.5 * math::erfc(-self * std::f64::consts::FRAC_1_SQRT_2)
    }
}

impl Arithmetic for f32 {
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value as f32
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        self.sqrt()
    }
}

impl Scalar for f32 {
    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn exp(self) -> Self {
        elementary::exp(self)
    }

    #[inline(always)]
    fn ln(self) -> Self {
        math::ln(f64::from(self)) as f32
    }

    #[inline(always)]
    fn tanh(self) -> Self {
        elementary::tanh(self)
    }

    #[inline(always)]
    fn sigmoid(self) -> Self {
        1.0 / (1.0 + elementary::exp(-self))
    }

    #[inline(always)]
    fn softplus(self) -> Self {
        elementary::softplus(self)
    }

    #[inline(always)]
    fn normal_cdf(self) -> Self {
        elementary::normal_cdf(self)
    }
}

/// A dual number v + s·ε with ε² = 0: a value and its derivative along one direction.
///
/// Nested dual numbers represent second derivatives.
///
/// # Guarantee
/// The derivative of a gradient is the Hessian times the direction
/// (`crates/train/tests/derivatives.rs::dual_numbers_compute_second_derivatives`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dual<S> {
    /// Value v.
    pub value: S,
    /// Derivative s.
    pub derivative: S,
}

impl<S: Arithmetic> Dual<S> {
    /// f(v) with the derivative s·f′(v).
    #[inline(always)]
    fn chain(self, value: S, derivative: S) -> Self {
        Self { value, derivative: self.derivative * derivative }
    }
}

impl<S: Arithmetic> Arithmetic for Dual<S> {
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        Self { value: S::from_f64(value), derivative: S::from_f64(0.0) }
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        self.chain(root, S::from_f64(0.5) / root)
    }
}

impl<S: Scalar> Scalar for Dual<S> {
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self.value.to_f64()
    }

    #[inline(always)]
    fn exp(self) -> Self {
        let exp = self.value.exp();
        self.chain(exp, exp)
    }

    #[inline(always)]
    fn ln(self) -> Self {
        self.chain(self.value.ln(), S::from_f64(1.0) / self.value)
    }

    #[inline(always)]
    fn tanh(self) -> Self {
        let tanh = self.value.tanh();
        self.chain(tanh, S::from_f64(1.0) - tanh * tanh)
    }

    #[inline(always)]
    fn sigmoid(self) -> Self {
        let sigmoid = self.value.sigmoid();
        self.chain(sigmoid, sigmoid * (S::from_f64(1.0) - sigmoid))
    }

    #[inline(always)]
    fn softplus(self) -> Self {
        self.chain(self.value.softplus(), self.value.sigmoid())
    }

    #[inline(always)]
    fn normal_cdf(self) -> Self {
        self.chain(self.value.normal_cdf(), self.value.normal_density())
    }
}

impl<S: Arithmetic> Add for Dual<S> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { value: self.value + other.value, derivative: self.derivative + other.derivative }
    }
}

impl<S: Arithmetic> AddAssign for Dual<S> {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl<S: Arithmetic> Sub for Dual<S> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self { value: self.value - other.value, derivative: self.derivative - other.derivative }
    }
}

impl<S: Arithmetic> Neg for Dual<S> {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        Self { value: -self.value, derivative: -self.derivative }
    }
}

impl<S: Arithmetic> Mul for Dual<S> {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        let derivative = self.derivative * other.value + self.value * other.derivative;
        Self { value: self.value * other.value, derivative }
    }
}

impl<S: Arithmetic> Div for Dual<S> {
    type Output = Self;

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        let value = self.value / other.value;
        Self { value, derivative: (self.derivative - value * other.derivative) / other.value }
    }
}

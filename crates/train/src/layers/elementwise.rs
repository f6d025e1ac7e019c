//! Layers that transform each value by itself.

use super::scalar::Scalar;

/// A function of one number.
pub(crate) trait Pointwise: Copy {
    /// The function.
    fn apply<S: Scalar>(self, x: S) -> S;

    /// Its derivative at `x`, where it has the value `y`, times `factor`.
    fn pull<S: Scalar>(self, x: S, y: S, factor: S) -> S;
}

/// tanh x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Tanh;

/// max(x, 0).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Relu;

/// x·Φ(x).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Gelu;

/// ln(1 + e^x).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Softplus;

/// x times a constant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale(pub(crate) f64);

impl Pointwise for Tanh {
    #[inline(always)]
    fn apply<S: Scalar>(self, x: S) -> S {
        x.tanh()
    }

    #[inline(always)]
    fn pull<S: Scalar>(self, _: S, y: S, factor: S) -> S {
        factor * (S::from_f64(1.0) - y * y)
    }
}

impl Pointwise for Relu {
    #[inline(always)]
    fn apply<S: Scalar>(self, x: S) -> S {
        if x.to_f64() <= 0.0 { S::from_f64(0.0) } else { x }
    }

    #[inline(always)]
    fn pull<S: Scalar>(self, x: S, _: S, factor: S) -> S {
        if x.to_f64() > 0.0 { factor } else { S::from_f64(0.0) }
    }
}

impl Pointwise for Gelu {
    #[inline(always)]
    fn apply<S: Scalar>(self, x: S) -> S {
        x * x.normal_cdf()
    }

    #[inline(always)]
    fn pull<S: Scalar>(self, x: S, _: S, factor: S) -> S {
        factor * (x.normal_cdf() + x * x.normal_density())
    }
}

impl Pointwise for Softplus {
    #[inline(always)]
    fn apply<S: Scalar>(self, x: S) -> S {
        x.softplus()
    }

    #[inline(always)]
    fn pull<S: Scalar>(self, x: S, _: S, factor: S) -> S {
        factor * x.sigmoid()
    }
}

impl Pointwise for Scale {
    #[inline(always)]
    fn apply<S: Scalar>(self, x: S) -> S {
        x * S::from_f64(self.0)
    }

    #[inline(always)]
    fn pull<S: Scalar>(self, _: S, _: S, factor: S) -> S {
        factor * S::from_f64(self.0)
    }
}

/// Any of the functions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Elementwise {
    Tanh(Tanh),
    Relu(Relu),
    Gelu(Gelu),
    Softplus(Softplus),
    Scale(Scale),
}

/// Evaluates `$body` with `$function` bound to the type of the function, so that each has its own
/// loop.
macro_rules! with_function {
    ($elementwise:expr, $function:ident => $body:expr) => {
        match $elementwise {
            $crate::layers::Elementwise::Tanh($function) => $body,
            $crate::layers::Elementwise::Relu($function) => $body,
            $crate::layers::Elementwise::Gelu($function) => $body,
            $crate::layers::Elementwise::Softplus($function) => $body,
            $crate::layers::Elementwise::Scale($function) => $body,
        }
    };
}
pub(crate) use with_function;

impl Elementwise {
    pub(crate) fn apply<S: Scalar>(self, input: &[S], output: &mut [S]) {
        with_function!(self, function => {
            output.iter_mut().zip(input).for_each(|(y, &x)| *y = function.apply(x));
        });
    }

    /// out = derivative ∘ `factors`.
    pub(crate) fn pull<S: Scalar>(
        self,
        (input, output): (&[S], &[S]),
        factors: &[S],
        out: &mut [S],
    ) {
        with_function!(self, function => {
            for (at, out) in out.iter_mut().enumerate() {
                *out = function.pull(input[at], output[at], factors[at]);
            }
        });
    }
}

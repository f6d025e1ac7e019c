//! The numbers that flow through a network: values, or values with tangents. Kernels of layers are
//! written once, for both.

/// What `Real` is in a kernel, in `values`, `theta` and `sums`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Numbers {
    /// An f32.
    #[default]
    Value,
    /// A dual number: a value, followed by its derivative along a direction.
    Dual,
}

impl Numbers {
    /// 4-byte words per number.
    #[must_use]
    pub const fn words(self) -> usize {
        match self {
            Numbers::Value => 1,
            Numbers::Dual => 2,
        }
    }

    /// The types and their arithmetic. Sums, differences and products with an f32 are operators of
    /// both types; the rest are functions.
    pub(super) const fn source(self) -> &'static str {
        match self {
            Numbers::Value => VALUE,
            Numbers::Dual => DUAL,
        }
    }
}

/// `lifted` is a function at x, from its value and its derivative there.
const VALUE: &str = "\
alias Real = f32;
alias Reals = vec4<f32>;
fn real(x: f32) -> Real { return x; }
fn primal(x: Real) -> f32 { return x; }
fn times(a: Real, b: Real) -> Real { return a * b; }
fn lifted(x: Real, value: f32, derivative: f32) -> Real { return value; }
fn reals(a: Real, b: Real, c: Real, d: Real) -> Reals { return vec4<f32>(a, b, c, d); }
fn plus_reals(a: Reals, b: Reals) -> Reals { return a + b; }
fn plus_product(sum: Reals, a: Real, b: Reals) -> Reals { return sum + a * b; }
fn component(x: Reals, at: u32) -> Real { return x[at]; }
";

const DUAL: &str = "\
alias Real = vec2<f32>;
struct Reals {
primal: vec4<f32>,
tangent: vec4<f32>,
}
fn real(x: f32) -> Real { return vec2<f32>(x, 0.0); }
fn primal(x: Real) -> f32 { return x.x; }
fn times(a: Real, b: Real) -> Real { return vec2<f32>(a.x * b.x, a.y * b.x + a.x * b.y); }
fn lifted(x: Real, value: f32, derivative: f32) -> Real {
return vec2<f32>(value, derivative * x.y);
}
fn reals(a: Real, b: Real, c: Real, d: Real) -> Reals {
return Reals(vec4<f32>(a.x, b.x, c.x, d.x), vec4<f32>(a.y, b.y, c.y, d.y));
}
fn plus_reals(a: Reals, b: Reals) -> Reals {
return Reals(a.primal + b.primal, a.tangent + b.tangent);
}
fn plus_product(sum: Reals, a: Real, b: Reals) -> Reals {
return Reals(sum.primal + a.x * b.primal, sum.tangent + (a.y * b.primal + a.x * b.tangent));
}
fn component(x: Reals, at: u32) -> Real { return vec2<f32>(x.primal[at], x.tangent[at]); }
";

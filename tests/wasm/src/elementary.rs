//! The elementary functions of core, each over its whole range.

use dpscope_core::math;

use crate::{Fingerprints, bits, grid};

type Function = fn(f64) -> f64;

/// Points of each function.
const POINTS: u32 = 2_000;

const ON_THE_LINE: [(Function, f64); 16] = [
    (math::exp, 745.5),
    (math::exp2, 1_075.5),
    (math::exp_m1, 60.3),
    (math::sin, 1e4),
    (math::cos, 1e4),
    (|x| math::sin_cos(x).0, 1e6),
    (|x| math::sin_cos(x).1, 1e6),
    (math::tan, 1e4),
    (math::sinh, 30.3),
    (math::cosh, 30.3),
    (math::tanh, 20.3),
    (math::atan, 50.3),
    (math::cbrt, 1e3),
    (math::erf, 6.1),
    (math::erfc, 27.1),
    (|x| math::powi(x, -7), 3.3),
];

const ABOVE_ZERO: [Function; 6] =
    [math::ln, math::ln_1p, math::log2, math::log10, math::lgamma, |x| math::powf(x, 0.37)];

pub(crate) fn collect(found: &mut Fingerprints) {
    const GROUP: &str = "elementary functions";
    for (function, limit) in ON_THE_LINE {
        found.hashed(GROUP, grid(-limit, limit, POINTS).map(|x| bits(function(x))));
        found.hashed(GROUP, grid(-1e-3, 1e-3, POINTS).map(|x| bits(function(x))));
    }
    let magnitudes = grid(-300.0, 300.0, POINTS).map(|power| math::powf(10.0, power));
    for function in ABOVE_ZERO {
        found.hashed(GROUP, magnitudes.clone().map(|x| bits(function(x))));
        found.hashed(GROUP, grid(0.5, 2.5, POINTS).map(|x| bits(function(x))));
    }
    let plane = || grid(-3.3, 3.3, 61).flat_map(|x| grid(-7.7, 7.7, 61).map(move |y| (x, y)));
    found.hashed(GROUP, plane().map(|(x, y)| bits(math::atan2(y, x))));
    found.hashed(GROUP, plane().map(|(x, y)| bits(math::hypot(x, y))));
    found.hashed(GROUP, plane().map(|(x, y)| bits(math::powf(x.abs(), y))));
    found.hashed(GROUP, plane().map(|(x, y)| bits(math::two_product(x, y).1)));
    found.hashed(GROUP, plane().map(|(x, y)| bits(math::two_sum(x, 1e9 * y).1)));
}

//! The standard library's `exp`, which is not the same function on every target.

use std::hint::black_box;

use crate::{Fingerprints, grid};

/// Points at which it is taken: on x86-64 a tenth of them differ from WebAssembly.
const POINTS: u32 = 2_000;

#[expect(clippy::disallowed_methods, reason = "the broken twin of dpscope_core::math::exp")]
pub(crate) fn collect(found: &mut Fingerprints) {
    for x in grid(-40.0, 40.0, POINTS) {
        found.float(crate::PLATFORM, black_box(x).exp());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_exp_and_not_always_that_of_core() {
        let mut found = Fingerprints::default();
        collect(&mut found);
        let ours: Vec<f64> = grid(-40.0, 40.0, POINTS).map(dpscope_core::math::exp).collect();
        let pairs = found.0.iter().zip(&ours);
        let close = |(&(_, bits), ours): (&(&str, u64), &f64)| {
            (f64::from_bits(bits) / ours - 1.0).abs() < 1e-15
        };
        assert!(pairs.clone().all(close));
        assert!(pairs.clone().any(|(&(_, bits), ours)| bits != ours.to_bits()));
    }
}

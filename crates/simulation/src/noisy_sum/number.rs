//! The number of canaries.

use dpscope_core::audit::one_shot::CanaryDesign;
use dpscope_core::math;
use dpscope_core::random::Words;

/// Draws the number of canaries of a design.
///
/// # Guarantee
/// Mean and variance are those of the design (`unit::numbers_have_mean_and_variance_of_their_design`).
#[must_use]
pub fn canary_number(design: CanaryDesign, words: &mut Words) -> u64 {
    match design {
        CanaryDesign::Fixed { canaries } => canaries,
        CanaryDesign::Bernoulli { slots, inclusion } => {
            (0..slots).filter(|_| words.uniform() < inclusion).count() as u64
        }
        CanaryDesign::Poisson { mean } => {
            // arrivals of a Poisson process of rate 1 before `mean`
            let mut arrivals = 0;
            let mut time = -math::ln(words.uniform());
            while time < mean {
                arrivals += 1;
                time -= math::ln(words.uniform());
            }
            arrivals
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpscope_core::random::Purpose;

    #[test]
    fn numbers_have_mean_and_variance_of_their_design() {
        for (design, mean, variance) in [
            (CanaryDesign::Poisson { mean: 30.0 }, 30.0, 30.0),
            (CanaryDesign::Bernoulli { slots: 90, inclusion: 1.0 / 3.0 }, 30.0, 20.0),
            (CanaryDesign::Fixed { canaries: 30 }, 30.0, 0.0),
        ] {
            let number =
                |seed| canary_number(design, &mut Words::new(seed, Purpose::Test, 0)) as f64;
            let numbers: Vec<f64> = (0..2_000).map(number).collect();
            let found = numbers.iter().sum::<f64>() / 2_000.0;
            let square = numbers.iter().map(|n| (n - found) * (n - found)).sum::<f64>() / 2_000.0;
            assert!((found - mean).abs() < 0.5, "{design:?} {found}");
            assert!((square - variance).abs() < 0.1 * variance + 1e-9, "{design:?} {square}");
        }
    }
}

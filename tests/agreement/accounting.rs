//! Accountants: monotone in each argument, lower below upper.

use dpscope_core::accounting::{DeterministicBatches, Directions, PoissonSampling};
use proptest::prelude::*;

const ERROR: f64 = 1e-2;

fn bracket(training: PoissonSampling, delta: f64, directions: Directions) -> (f64, f64) {
    let lower = training.epsilon_lower(delta, directions, ERROR).expect("in the domain").value();
    let upper = training.epsilon_upper(delta, directions, ERROR).expect("in the domain").value();
    (lower, upper)
}

/// Is the first bracket not proven to be above the second?
fn may_be_below(first: (f64, f64), second: (f64, f64)) -> bool {
    first.0 <= second.1
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn poisson_is_monotone(
        sigma in 0.5..4.0_f64, rate in 0.002..0.5_f64, steps in 1_u64..400, ln_delta in -20.0..-3.0_f64
    ) {
        let delta = dpscope_core::math::exp(ln_delta);
        let training =
            PoissonSampling { noise_multiplier: sigma, sampling_rate: rate, steps };
        for directions in [Directions::Remove, Directions::Add, Directions::Both] {
            let here = bracket(training, delta, directions);
            prop_assert!(here.0 <= here.1);
            let noisier = PoissonSampling { noise_multiplier: 1.2 * sigma, ..training };
            prop_assert!(may_be_below(bracket(noisier, delta, directions), here));
            let longer = PoissonSampling { steps: 2 * steps, ..training };
            prop_assert!(may_be_below(here, bracket(longer, delta, directions)));
            let denser = PoissonSampling { sampling_rate: 1.3 * rate, ..training };
            prop_assert!(may_be_below(here, bracket(denser, delta, directions)));
            prop_assert!(may_be_below(here, bracket(training, 0.5 * delta, directions)));
        }
    }

    #[test]
    fn every_batch_is_the_gaussian_mechanism(
        sigma in 0.5..5.0_f64, steps in 1_u64..50, ln_delta in -20.0..-3.0_f64
    ) {
        let delta = dpscope_core::math::exp(ln_delta);
        let training =
            PoissonSampling { noise_multiplier: sigma, sampling_rate: 1.0, steps };
        let (lower, upper) = bracket(training, delta, Directions::Both);
        let gaussian = DeterministicBatches { noise_multiplier: sigma, epochs: steps };
        prop_assert!(lower <= gaussian.epsilon_upper(delta).unwrap().value());
        prop_assert!(upper >= gaussian.epsilon_lower(delta).unwrap().value());
    }
}

#[test]
fn a_bracket_above_is_seen() {
    let training = PoissonSampling { noise_multiplier: 1.0, sampling_rate: 0.01, steps: 100 };
    let noisier = PoissonSampling { noise_multiplier: 1.2, ..training };
    let of = |training| bracket(training, 1e-5, Directions::Both);
    assert!(may_be_below(of(noisier), of(training)) && !may_be_below(of(training), of(noisier)));
}

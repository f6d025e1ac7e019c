//! Accountants: monotone in each argument, lower below upper.

use dpscope_core::accounting::{
    Accountant, Deterministic, Directions, Given, Kind, Poisson, Query, Training,
};
use proptest::prelude::*;

const ERROR: f64 = 1e-2;

/// All steps in one epoch.
fn training(noise_multiplier: f64, sampling_rate: f64, steps: u64) -> Training {
    let sampling_rate = Some(sampling_rate);
    Training { noise_multiplier, steps_per_epoch: steps, epochs: 1, sampling_rate }
}

fn bracket(training: Training, delta: f64, directions: Directions) -> (f64, f64) {
    let epsilon = |kind| {
        let query = Query::upper(training, Given::Delta(delta));
        let query = Query { kind, directions, error: Some(ERROR), ..query };
        Poisson.account(&query).expect("in the domain").epsilon
    };
    (epsilon(Kind::Lower), epsilon(Kind::Upper))
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
        let training = training(sigma, rate, steps);
        for directions in [Directions::Remove, Directions::Add, Directions::Both] {
            let here = bracket(training, delta, directions);
            prop_assert!(here.0 <= here.1);
            let noisier = Training { noise_multiplier: 1.2 * sigma, ..training };
            prop_assert!(may_be_below(bracket(noisier, delta, directions), here));
            let longer = Training { steps_per_epoch: 2 * steps, ..training };
            prop_assert!(may_be_below(here, bracket(longer, delta, directions)));
            let denser = Training { sampling_rate: Some(1.3 * rate), ..training };
            prop_assert!(may_be_below(here, bracket(denser, delta, directions)));
            prop_assert!(may_be_below(here, bracket(training, 0.5 * delta, directions)));
        }
    }

    #[test]
    fn every_batch_is_the_gaussian_mechanism(
        sigma in 0.5..5.0_f64, steps in 1_u64..50, ln_delta in -20.0..-3.0_f64
    ) {
        let delta = dpscope_core::math::exp(ln_delta);
        let training = training(sigma, 1.0, steps);
        let (lower, upper) = bracket(training, delta, Directions::Both);
        let every_step = Training { steps_per_epoch: 1, epochs: steps, ..training };
        let given = Given::Delta(delta);
        let epsilon = |query| Deterministic.account(&query).unwrap().epsilon;
        prop_assert!(lower <= epsilon(Query::upper(every_step, given)));
        prop_assert!(upper >= epsilon(Query::lower(every_step, given)));
    }
}

#[test]
fn a_shifted_bracket_is_rejected() {
    let training = training(1.0, 0.01, 100);
    let noisier = Training { noise_multiplier: 1.2, ..training };
    let of = |training| bracket(training, 1e-5, Directions::Both);
    assert!(may_be_below(of(noisier), of(training)) && !may_be_below(of(training), of(noisier)));
}

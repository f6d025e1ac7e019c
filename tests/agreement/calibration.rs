//! Calibrated values against the same accountant's own bound.

use dpscope_core::accounting::{
    Accountant, AccountingError, BallsInBins, Deterministic, FixedSize, Given, Parameter,
    PersistentShuffle, Poisson, PoissonReplace, PrivacyTarget, Query, RandomAllocation, Shuffle,
    ShuffleMethod, Training, TruncatedPoisson, calibrate,
};
use dpscope_core::adjacency::Adjacency;
use dpscope_core::format::given;
use dpscope_core::math::exp;
use dpscope_core::mechanism::Truncation;
use proptest::prelude::*;

const BEST: ShuffleMethod = ShuffleMethod::Best;

/// Every accountant with an upper value.
fn accountants() -> Vec<Box<dyn Accountant>> {
    let mut all: Vec<Box<dyn Accountant>> = vec![
        Box::new(Poisson),
        Box::new(PoissonReplace),
        Box::new(Deterministic),
        Box::new(Shuffle(BEST)),
        Box::new(PersistentShuffle(BEST)),
        Box::new(BallsInBins),
        Box::new(RandomAllocation),
    ];
    let truncation = Truncation { dataset_size: 400, max_batch_size: 60 };
    for adjacency in [Adjacency::ZeroOut, Adjacency::Replace, Adjacency::AddRemove] {
        all.push(Box::new(FixedSize { adjacency }));
        all.push(Box::new(TruncatedPoisson { adjacency, truncation }));
    }
    all
}

/// The bound as commands show it: from a query without an error.
fn shown(accountant: &dyn Accountant, training: Training, delta: f64) -> f64 {
    let found = accountant.account(&Query::upper(training, Given::Delta(delta)));
    found.map_or(f64::INFINITY, |bound| bound.epsilon)
}

/// Calibrates and checks; false if no value in the range reaches the target.
fn passes_its_own_check(
    accountant: &dyn Accountant,
    parameter: Parameter,
    (epsilon, delta): (f64, f64),
    training: Training,
) -> Result<bool, String> {
    let target = PrivacyTarget { epsilon, delta, error: None };
    let found = match calibrate(accountant, parameter, &target, &training) {
        Ok(found) => found,
        Err(AccountingError::Unreachable { .. }) => return Ok(false),
        Err(error) => return Err(error.to_string()),
    };
    // as it is printed
    let value: f64 = given(found.value).parse().map_err(|_| given(found.value))?;
    let at = |value: f64| match parameter {
        Parameter::Noise => Training { noise_multiplier: value, ..training },
        Parameter::Epochs => Training { epochs: value as u64, ..training },
        Parameter::Steps => Training {
            steps_per_epoch: value as u64,
            epochs: 1,
            sampling_rate: Some(training.sampling_rate()),
            ..training
        },
    };
    let here = shown(accountant, at(value), delta);
    if here != found.epsilon || !(here <= epsilon) {
        return Err(format!("{found:?}: the bound is {here}, the target {epsilon}"));
    }
    if !found.is_end_of_range {
        let more =
            if parameter == Parameter::Noise { 0.9 * value } else { (1.15 * value).ceil() + 1.0 };
        let beyond = shown(accountant, at(more), delta);
        if !(beyond > epsilon) {
            return Err(format!("{found:?}: {more} has {beyond}, the target is {epsilon}"));
        }
    }
    Ok(true)
}

#[test]
fn calibrated_noise_passes_its_own_check() {
    let fixed = &FixedSize::ZERO_OUT;
    for (accountant, target, steps, rate) in [
        (fixed as &dyn Accountant, (1.0, 1e-6), 100, None),
        (&Poisson, (0.05, 1e-12), 2, None),
        (&Poisson, (0.05, 1e-12), 2, Some(0.01)),
        (&BallsInBins, (0.5, 1e-6), 20, None),
    ] {
        let training = Training {
            noise_multiplier: 1.0,
            steps_per_epoch: steps,
            epochs: 1,
            sampling_rate: rate,
        };
        let found = passes_its_own_check(accountant, Parameter::Noise, target, training);
        assert_eq!(found, Ok(true), "{target:?} {training:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn calibrated_values_pass_their_own_check(
        which in 0..13_usize,
        ln_epsilon in -3.0..2.0_f64,
        ln_delta in -28.0..-9.0_f64,
        steps_per_epoch in 1..12_u64,
        epochs in 1..4_u64,
        parameter in prop_oneof![
            4 => Just(Parameter::Noise),
            1 => Just(Parameter::Steps),
            1 => Just(Parameter::Epochs),
        ],
    ) {
        let accountants = accountants();
        prop_assert_eq!(accountants.len(), 13);
        let training = Training {
            noise_multiplier: 2.5,
            steps_per_epoch,
            epochs,
            sampling_rate: None,
        };
        let target = (exp(ln_epsilon), exp(ln_delta));
        let has_parameter = parameter != Parameter::Steps
            || accountants[which]
                .search_range(
                    parameter,
                    &PrivacyTarget { epsilon: target.0, delta: target.1, error: None },
                    &training,
                )
                .is_ok_and(|range| range.is_some());
        let parameter = if has_parameter { parameter } else { Parameter::Noise };
        let found = passes_its_own_check(accountants[which].as_ref(), parameter, target, training);
        prop_assert!(found.is_ok(), "{}: {:?}", which, found);
    }
}

//! Matrix mechanisms against jax_privacy, dp_accounting and dense numpy: `matrix/generate.py`.

use dpscope_core::accounting::matrix::{
    LinearBuffers, MatrixMechanism, MatrixParticipation, MatrixStrategy, PrefixObjective,
    StrategyDesign,
};
use serde_json::Value;

fn cases(group: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("matrix/matrix.json")).expect("json");
    all[group].as_array().expect("cases").clone()
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn count(value: &Value) -> u32 {
    value.as_u64().expect("a count") as u32
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(number).collect()
}

fn strategy(case: &Value) -> MatrixStrategy {
    let steps = count(&case["steps"]);
    if case["tree"] == true {
        return MatrixStrategy::tree(steps);
    }
    if let Some(rows) = case["matrix"].as_array() {
        let entries: Vec<f64> = rows.iter().flat_map(numbers).collect();
        return MatrixStrategy::lower_triangular(steps as usize, &entries).expect("a matrix");
    }
    MatrixStrategy::toeplitz(steps, &numbers(&case["coefficients"])).expect("coefficients")
}

fn worst(strategy: &MatrixStrategy, participation: MatrixParticipation) -> (f64, bool) {
    let found = strategy.l2_sensitivity(&participation).expect("a participation");
    (found.worst, found.is_exact)
}

fn is_close(found: f64, expected: f64) -> bool {
    (found / expected - 1.0).abs() < 1e-9
}

/// The participation of a key `b,k`.
fn separated(key: &str) -> MatrixParticipation {
    let (separation, participations) = key.split_once(',').expect("two numbers");
    let number = |text: &str| text.parse::<u32>().expect("a number");
    MatrixParticipation::MinSeparation {
        separation: number(separation),
        participations: Some(number(participations)),
    }
}

#[test]
fn sensitivities_are_those_of_jax_privacy() {
    let mut compared = [0; 3];
    for case in cases("strategies") {
        let (strategy, name) = (strategy(&case), &case["name"]);
        let (single, _) = worst(&strategy, MatrixParticipation::Single);
        assert!(is_close(single, number(&case["single"])), "{name}");
        for (epochs, expected) in case["epochs"].as_object().expect("epochs") {
            let epochs = epochs.parse().expect("a number");
            let (found, is_exact) = worst(&strategy, MatrixParticipation::Epochs { epochs });
            // the bound by absolute values, for Toeplitz matrices with signs by a larger one
            let expected = number(expected);
            assert!(found > expected * (1.0 - 1e-9), "{name} {epochs}");
            assert!(!is_exact || is_close(found, expected), "{name} {epochs}");
            compared[0] += usize::from(is_close(found, expected));
        }
        for (key, expected) in case["separated_bound"].as_object().expect("bounds") {
            let (found, is_exact) = worst(&strategy, separated(key));
            let is_toeplitz = strategy.coefficients().is_some();
            let most = if is_toeplitz && !is_exact { 1.3 } else { 1.0 + 1e-9 };
            assert!(found < most * number(expected), "{name} {key}: {found} {expected}");
            compared[1] += 1;
        }
        for (key, expected) in case["separated_exact"].as_object().expect("values") {
            let (found, is_exact) = worst(&strategy, separated(key));
            assert!(is_exact && is_close(found, number(expected)), "{name} {key}");
            compared[2] += 1;
        }
    }
    assert!(compared[0] > 15 && compared[1] > 20 && compared[2] > 10, "{compared:?}");
}

#[test]
fn errors_are_those_of_jax_privacy() {
    let all: Value = serde_json::from_str(include_str!("matrix/matrix.json")).expect("json");
    let buffers = &all["buffers"];
    let buffers =
        LinearBuffers::new(&numbers(&buffers["decays"]), &numbers(&buffers["output_scales"]));
    let buffers = buffers.expect("buffers");
    let is_error = |strategy: &MatrixStrategy, case: &Value| {
        let found = strategy.prefix_error().expect("an error");
        is_close(found.root_mean_square, number(&case["mean_error"]))
            && is_close(found.largest, number(&case["largest_error"]))
    };
    for case in cases("strategies") {
        assert!(is_error(&strategy(&case), &case), "{}", case["name"]);
        let generated = MatrixStrategy::buffered(60, buffers.clone()).expect("a strategy");
        assert_eq!(is_error(&generated, &case), case["name"] == "buffers");
    }
}

#[test]
fn epsilons_are_those_of_the_gaussian_mechanism() {
    for case in cases("strategies") {
        let strategy = strategy(&case);
        let mechanism = MatrixMechanism::new(&strategy, MatrixParticipation::Single);
        let statement = &case["epsilon"];
        let [sigma, delta] = ["noise_multiplier", "delta"].map(|name| number(&statement[name]));
        let account = mechanism.expect("a mechanism").account(sigma, delta).expect("an account");
        let expected = number(&statement["value"]);
        assert!(account.epsilon >= expected * (1.0 - 1e-11), "{}", case["name"]);
        assert!(is_close(account.epsilon, expected), "{}", case["name"]);
    }
}

#[test]
fn optimised_errors_are_those_of_jax_privacy() {
    for case in cases("optimised") {
        let steps = count(&case["steps"]);
        let objective = match case["objective"].as_str() {
            Some("mean") => PrefixObjective::Mean,
            _ => PrefixObjective::Largest,
        };
        let (design, participation) = if case["bands"].is_null() {
            let participation = MatrixParticipation::MinSeparation {
                separation: count(&case["separation"]),
                participations: Some(count(&case["participations"])),
            };
            let buffers = count(&case["buffers"]);
            (StrategyDesign::BufferedOptimised { buffers, objective }, participation)
        } else {
            let bands = count(&case["bands"]);
            (StrategyDesign::BandedOptimised { bands, objective }, MatrixParticipation::Single)
        };
        let strategy = design.build(steps, &participation).expect("a strategy");
        let error = strategy.prefix_error().expect("an error");
        let error = match objective {
            PrefixObjective::Mean => error.root_mean_square,
            PrefixObjective::Largest => error.largest,
        };
        let (cost, expected) = (error * worst(&strategy, participation).0, number(&case["cost"]));
        assert!(cost < expected * (1.0 + 1e-6), "{case}: {cost}");
        assert!(cost > expected * 0.98, "{case}: {cost}");
    }
}

#[test]
fn sampled_steps_are_those_of_dp_accounting() {
    for case in cases("sampled") {
        let (steps, groups) = (count(&case["steps"]), count(&case["groups"]));
        let strategy = MatrixStrategy::banded_square_root(steps, groups);
        let sampling_rate = number(&case["rate"]);
        let participation = MatrixParticipation::CyclicPoisson { groups, sampling_rate };
        let mechanism = MatrixMechanism::new(&strategy, participation).expect("a mechanism");
        let [sigma, delta] = ["noise_multiplier", "delta"].map(|name| number(&case[name]));
        let account = mechanism.account(sigma, delta).expect("an account");
        let expected = number(&case["epsilon"]);
        // pessimistic by the interval of its grid
        assert!((account.epsilon - expected).abs() < 0.01 * expected, "{case}: {account:?}");
        assert!(account.epsilon < expected + 1e-4, "{case}: {account:?}");
        // one band more than groups overlaps
        let wider = MatrixStrategy::banded_square_root(steps, (groups + 1).min(steps));
        assert_eq!(MatrixMechanism::new(&wider, participation).is_err(), groups < steps);
    }
}

//! Numbers of the prose for which there is no command.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use dpscope_core::accounting::{Given, PrivacyLossDistribution, Rounding};
use dpscope_core::audit::bound::ThresholdRule;
use dpscope_core::audit::one_run::{CanaryGame, Guesses};
use dpscope_core::audit::one_shot::NullTails;
use dpscope_core::audit::{AuditOptions, Scores};
use dpscope_core::math;
use dpscope_core::special::normal_cdf;
use dpscope_simulation::noisy_sum::PublishedRule;
use dpscope_tests::Draws;

const SIGNIFICANCE: f64 = 0.05;

/// Audits of two worlds.
const AUDITS: u64 = 1_000;

/// Trainings with canaries.
const TRAININGS: u64 = 10_000;

/// A number by its name in `findings.json`, computed once.
pub(super) fn computed(name: &str) -> Option<f64> {
    static COMPUTED: Mutex<BTreeMap<String, Option<f64>>> = Mutex::new(BTreeMap::new());
    let mut computed = COMPUTED.lock().unwrap_or_else(PoisonError::into_inner);
    *computed.entry(name.to_owned()).or_insert_with(|| compute(name))
}

fn compute(name: &str) -> Option<f64> {
    Some(match name {
        "largest_over_cuts_without_leak" => {
            share(AUDITS, |run| audited(run, ThresholdRule::MaxUncorrected) > 0.0)
        }
        "split_without_leak" => share(AUDITS, |run| audited(run, ThresholdRule::Split) > 0.0),
        "published_limit_without_leak" => share(TRAININGS, |run| published_limit(run) > 0.0),
        "runs_of_cuts" => AUDITS as f64,
        "runs_of_canaries" => TRAININGS as f64,
        "half_split_as_coins" => half_split_as_coins(),
        "informed_records_with_poisson" => informed_records_with_poisson(),
        _ => return None,
    })
}

/// The share of runs in which something happens.
fn share(runs: u64, is_so: impl Fn(u64) -> bool) -> f64 {
    (0..runs).filter(|&run| is_so(run)).count() as f64 / runs as f64
}

/// ε at δ = 10⁻⁵ of 1,000 scores of each world, all from one normal distribution.
fn audited(run: u64, threshold_rule: ThresholdRule) -> f64 {
    let mut draws = Draws::of_run(1, run);
    let [target, zero_out] =
        [(); 2].map(|()| (0..1_000).map(|_| draws.normal()).collect::<Vec<_>>());
    let options = AuditOptions { threshold_rule, seed: run, ..AuditOptions::default() };
    let scores = Scores { target: &target, zero_out: &zero_out, likelihood_ratios: false };
    scores.audit(&options).expect("valid").epsilon()
}

/// The published lower limit of 1,000 canaries that took no part, at δ = 10⁻⁶.
fn published_limit(run: u64) -> f64 {
    const CANARIES: u64 = 1_000;
    let mut draws = Draws::of_run(2, run);
    let ln_p = (0..CANARIES).map(|_| math::ln(draws.uniform())).collect();
    let rule = PublishedRule::new(CANARIES, SIGNIFICANCE).expect("valid");
    rule.epsilon(&NullTails::new(ln_p).expect("valid"), 1e-6)
}

/// The chance that 30 canaries without any leak, exactly 15 of them included, refute ε = 0 if they are
/// audited as fair coins: H of the 15 largest scores are included, and 2H of 30 guesses are correct.
fn half_split_as_coins() -> f64 {
    let p_value = |correct: u64| {
        let game = CanaryGame::coins(30).expect("valid");
        Guesses::new(game, 30, correct).and_then(|counts| counts.p_value(0.0, 0.0)).expect("valid")
    };
    let choose =
        |n: u32, k: u32| (0..k).map(|i| f64::from(n - i) / f64::from(i + 1)).product::<f64>();
    let hypergeometric = |h: u32| choose(15, h) * choose(15, 15 - h) / choose(30, 15);
    (0..=15).filter(|&h| p_value(2 * u64::from(h)) < SIGNIFICANCE).map(hypergeometric).sum()
}

/// ε at δ = 10⁻⁵, σ = 1 of 100 Poisson batches, q = 0.01, if every batch has a record with the opposed
/// gradient unless it has the target or ⊥: losses are rounded down, so that the value is not above ε.
fn informed_records_with_poisson() -> f64 {
    const RATE: f64 = 0.01;
    const STEPS: u64 = 100;
    const LOSS_STEP: f64 = 2e-5;
    // outputs relative to a batch without either
    let cell = |place: i32| [place, place + 1].map(|at| f64::from(at) * 2e-4 - 9.0);
    let mass = |[low, high]: [f64; 2], mean: f64| normal_cdf(high - mean) - normal_cdf(low - mean);
    let ratio = |at: f64, mean: f64| 1.0 - RATE + RATE * math::exp(at * mean - 0.5 * mean * mean);
    let loss = |at: f64| math::ln(ratio(at, 2.0) / ratio(at, 1.0));
    let index = |at: f64| (loss(at) / LOSS_STEP).floor() as i64;
    let cells = || (0..100_000).map(cell);
    let lowest = cells().map(|[low, _]| index(low)).min().expect("cells");
    let highest = cells().map(|[low, _]| index(low)).max().expect("cells");
    let mut masses = vec![0.0; (highest - lowest) as usize + 1];
    for outputs in cells() {
        let likely = (1.0 - RATE) * mass(outputs, 0.0) + RATE * mass(outputs, 2.0);
        masses[(index(outputs[0]).min(index(outputs[1])) - lowest) as usize] += likely;
    }
    let step = PrivacyLossDistribution::from_masses(LOSS_STEP, lowest, masses, 0.0).expect("valid");
    let step = step.with_rounding(Rounding::Optimistic);
    let composed = step.self_composed_near(STEPS, Given::Delta(1e-5)).expect("valid");
    composed.epsilon_at(1e-5).expect("valid")
}

#[test]
fn numbers_are_those_of_other_routes() {
    let of = |name: &str| computed(name).expect("a number");
    // by coverage tests and by quadrature
    assert!((of("half_split_as_coins") - 0.0716).abs() < 1e-4);
    assert!((of("published_limit_without_leak") - 0.74).abs() < 0.05);
    let poisson = of("informed_records_with_poisson");
    assert!((5.055..5.066).contains(&poisson), "{poisson}");
    assert!(of("split_without_leak") <= SIGNIFICANCE + 0.02);
    assert_eq!(computed("nothing"), None);
}

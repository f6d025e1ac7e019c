//! Phases of other accountants: against quadrature, and against dp-accounting.

use dpscope_core::accounting::{Phase, PhasesEpsilon, account_phases};
use dpscope_core::adjacency::Adjacency;
use dpscope_formats::accountants::{AccountantRecord, read_accountant_record};
use serde_json::Value;

use crate::accounting::{Step, simpson};

const GOLDEN: &str = include_str!("phases/phases.json");

/// ε at which δ of two steps, one after the other, falls to `delta`, by quadrature.
fn epsilon_of_two([first, second]: [Step; 2], delta: f64) -> f64 {
    let reach = 10.0 * first.sigma;
    let delta_at = |epsilon: f64| {
        simpson(-reach, 1.0 + reach, |x| {
            let (density, loss) = first.at(x);
            density * second.delta(epsilon - loss)
        })
    };
    let (mut low, mut high) = (0.0, 30.0);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if delta_at(middle) > delta { low = middle } else { high = middle }
    }
    low
}

fn phase(step: Step) -> Phase {
    Phase { noise_multiplier: step.sigma, sampling_rate: step.q, steps: 1 }
}

#[test]
fn phases_of_one_step_bracket_quadrature() {
    for ([(a, p), (b, q)], delta) in
        [([(1.0, 0.2), (0.7, 0.05)], 1e-3), ([(0.8, 0.5), (3.0, 1.0)], 1e-4)]
    {
        let steps = |add| [Step { sigma: a, q: p, add }, Step { sigma: b, q, add }];
        let exact = [false, true].map(|add| epsilon_of_two(steps(add), delta));
        let exact = exact[0].max(exact[1]);
        let brackets = |phases: [Phase; 2]| {
            let found =
                account_phases(&phases, Adjacency::AddRemove, delta).expect("in the domain");
            let [lower, upper] = [found.lower.epsilon, found.upper.epsilon];
            assert!(upper - lower < 1e-3, "{lower} {upper}");
            lower <= exact + 1e-6 && exact <= upper + 1e-6
        };
        let phases = steps(false).map(phase);
        assert!(brackets(phases), "{phases:?}: {exact}");
        let noisier = phases.map(|it| Phase { noise_multiplier: 1.01 * it.noise_multiplier, ..it });
        assert!(!brackets(noisier), "{phases:?}: more noise is not seen");
    }
}

/// A case of the file: phases, δ, and ε of dp-accounting: rounded down, up, and by its accountant.
fn golden() -> Vec<(Vec<Phase>, f64, [f64; 3])> {
    let document: Value = serde_json::from_str(GOLDEN).expect("golden file is json");
    let case = |case: &Value| {
        let bytes = serde_json::to_vec(&case["event"]).expect("json");
        let record = read_accountant_record(&bytes).expect("a tree of events");
        let AccountantRecord::DpEvent(phases) = record else { unreachable!("{record:?}") };
        let phases = phases.iter().map(|phase| Phase {
            noise_multiplier: phase.noise_multiplier,
            sampling_rate: phase.sampling_rate,
            steps: phase.steps,
        });
        let number = |name: &str| case[name].as_f64().expect("a number");
        let values = [number("lower"), number("upper"), number("accountant")];
        (phases.collect(), number("delta"), values)
    };
    document["cases"].as_array().expect("cases").iter().map(case).collect()
}

/// Whether our interval meets theirs, and their accountant lies within its discretisation above ours.
fn agrees(found: &PhasesEpsilon, [low, high, accountant]: [f64; 3]) -> bool {
    let [lower, upper] = [found.lower.epsilon, found.upper.epsilon];
    let meets = lower <= high + 1e-9 && low <= upper + 1e-9;
    meets && lower <= accountant + 1e-9 && accountant <= upper + 1e-3
}

#[test]
fn trees_agree_with_dp_accounting() {
    let cases = golden();
    assert_eq!(cases.len(), 9);
    for (phases, delta, theirs) in cases {
        let found = account_phases(&phases, Adjacency::AddRemove, delta).expect("in the domain");
        assert!(agrees(&found, theirs), "{phases:?}: {found:?} against {theirs:?}");
        assert!(found.upper.epsilon - found.lower.epsilon < 2e-3, "{found:?}");
        let less =
            phases.iter().map(|it| Phase { noise_multiplier: 0.99 * it.noise_multiplier, ..*it });
        let less = account_phases(&less.collect::<Vec<_>>(), Adjacency::AddRemove, delta)
            .expect("in the domain");
        assert!(!agrees(&less, theirs), "{phases:?}: less noise is not seen");
    }
}

//! Truncated Poisson batches: against data sets that are enumerated, by quadrature, and against
//! dp-accounting.

use dpscope_core::accounting::{
    Accountant, Given, Kind, Poisson, Query, Training, TruncatedPoisson,
};
use dpscope_core::adjacency::Adjacency;
use dpscope_core::mechanism::Truncation;
use serde_json::Value;

use crate::quadrature::{ERROR, Pair, normal};

const GOLDEN: &str = include_str!("truncated_poisson/values.json");

type Gradient = [f64; 2];

const DELTA: f64 = 1e-3;
const SIGMA: f64 = 0.9;
/// Records with the target, and most records of a batch.
const RECORDS: usize = 6;
const MOST: u32 = 3;
const RATE: f64 = 0.4;
const TARGET: Gradient = [1.0, 0.0];
const NONE: Gradient = [0.0, 0.0];
const ADJACENCIES: [Adjacency; 3] = [Adjacency::ZeroOut, Adjacency::Replace, Adjacency::AddRemove];

fn run(noise_multiplier: f64, sampling_rate: f64, steps: u64) -> Training {
    let sampling_rate = Some(sampling_rate);
    Training { noise_multiplier, steps_per_epoch: steps, epochs: 1, sampling_rate }
}

/// Lower and upper ε.
fn bounds(accountant: &dyn Accountant, training: Training, delta: f64) -> [f64; 2] {
    [Kind::Lower, Kind::Upper].map(|kind| {
        let error = Some(if training.steps() < 10 { 1e-4 } else { 1e-3 });
        let query = Query { kind, error, ..Query::upper(training, Given::Delta(delta)) };
        accountant.account(&query).expect("in the domain").epsilon
    })
}

fn truncated(adjacency: Adjacency, dataset_size: u64, max_batch_size: u64) -> TruncatedPoisson {
    TruncatedPoisson { adjacency, truncation: Truncation { dataset_size, max_batch_size } }
}

fn small(adjacency: Adjacency) -> TruncatedPoisson {
    truncated(adjacency, RECORDS as u64, MOST.into())
}

/// The sums of all batches of these records, with their probabilities.
fn sums(records: &[Gradient], most: u32) -> Vec<(Gradient, f64)> {
    let mut found: Vec<(Gradient, f64)> = Vec::new();
    let sum = |members: usize| {
        let of = |axis: usize| {
            let drawn = records.iter().enumerate().filter(|(at, _)| members >> at & 1 == 1);
            drawn.map(|(_, gradient)| gradient[axis]).sum::<f64>()
        };
        [of(0), of(1)]
    };
    for drawn in 0..1_usize << records.len() {
        let count = drawn.count_ones();
        let absent = records.len() as i32 - count as i32;
        let chance = (0..count).map(|_| RATE).product::<f64>()
            * (0..absent).map(|_| 1.0 - RATE).product::<f64>();
        let is_kept = |kept: &usize| kept & !drawn == 0 && kept.count_ones() == count.min(most);
        let kept: Vec<usize> = (0..1 << records.len()).filter(is_kept).collect();
        for batch in &kept {
            let (at, share) = (sum(*batch), chance / kept.len() as f64);
            let is_same = |known: &&mut (Gradient, f64)| {
                (known.0[0] - at[0]).abs() + (known.0[1] - at[1]).abs() < 1e-9
            };
            match found.iter_mut().find(is_same) {
                Some(known) => known.1 += share,
                None => found.push((at, share)),
            }
        }
    }
    found
}

/// The larger ε of both directions, of one step with these other gradients.
fn of_data(others: [Gradient; RECORDS - 1], adjacency: Adjacency, most: u32) -> f64 {
    let and = |own: Gradient| [&others[..], &[own]].concat();
    let with = sums(&and(TARGET), most);
    let without = match adjacency {
        Adjacency::ZeroOut => sums(&and(NONE), most),
        Adjacency::Replace => sums(&and([-1.0, 0.0]), most),
        Adjacency::AddRemove => sums(&others, most),
    };
    let reach = RECORDS as f64;
    let density = |[x, y]: Gradient, sums: &[(Gradient, f64)]| {
        let of =
            |([a, b], share): &(Gradient, f64)| share * normal(x, *a, SIGMA) * normal(y, *b, SIGMA);
        sums.iter().map(of).sum::<f64>()
    };
    let of = |p: &[(Gradient, f64)], q: &[(Gradient, f64)]| {
        Pair::new(SIGMA, [-reach, reach], |at| (density(at, p), density(at, q))).epsilon_at(DELTA)
    };
    of(&with, &without).max(of(&without, &with))
}

/// Others that are opposed, equal, absent and mixed.
const DATA: [[Gradient; RECORDS - 1]; 4] = [
    [[-1.0, 0.0]; 5],
    [TARGET; 5],
    [NONE; 5],
    [[-0.6, 0.8], [-0.6, 0.8], [0.6, -0.8], [0.0, 1.0], [-1.0, 0.0]],
];

#[test]
fn no_data_set_leaks_more_than_the_bound() {
    for adjacency in ADJACENCIES {
        let worst =
            DATA.map(|others| of_data(others, adjacency, MOST)).into_iter().fold(0.0, f64::max);
        let [lower, upper] = bounds(&small(adjacency), run(SIGMA, RATE, 1), DELTA);
        assert!(lower < worst + 2.0 * ERROR, "{adjacency:?}: {lower} {worst}");
        assert!(worst < upper + 2.0 * ERROR, "{adjacency:?}: {worst} {upper}");
        // others of zero are a data set whose pair is known
        let zero = of_data(DATA[2], adjacency, MOST);
        assert!((zero - lower).abs() < 4.0 * ERROR, "{adjacency:?}: {zero} {lower}");
    }
}

#[test]
fn ignored_truncation_and_other_sizes_are_detected() {
    for adjacency in ADJACENCIES {
        let zero = of_data(DATA[2], adjacency, MOST);
        let [lower, upper] = bounds(&small(adjacency), run(SIGMA, RATE, 1), DELTA);
        let is_exact = |lower: f64| (lower - zero).abs() < 4.0 * ERROR;
        assert!(is_exact(lower), "{adjacency:?}: {lower} {zero}");
        for broken in [
            truncated(adjacency, RECORDS as u64 + 1, MOST.into()),
            truncated(adjacency, RECORDS as u64, u64::from(MOST) - 1),
            truncated(adjacency, RECORDS as u64, RECORDS as u64),
        ] {
            let [other, _] = bounds(&broken, run(SIGMA, RATE, 1), DELTA);
            assert!(!is_exact(other), "{adjacency:?} {broken:?}: {other} {zero}");
        }
        if adjacency != Adjacency::Replace {
            let [_, claimed] = bounds(&Poisson, run(SIGMA, RATE, 1), DELTA);
            assert!(upper > 1.02 * claimed, "{adjacency:?}: {upper} {claimed}");
        }
    }
}

/// Truncation of nearly every batch: the pair of batches of fixed size at the rate B/N.
#[test]
fn full_batches_are_those_of_fixed_size() {
    for adjacency in ADJACENCIES {
        let [fixed_lower, fixed_upper] =
            bounds(&dpscope_core::accounting::FixedSize { adjacency }, run(1.0, 0.1, 20), 1e-5);
        let always = truncated(adjacency, 100, 10);
        let [lower, upper] = bounds(&always, run(1.0, 1.0, 20), 1e-5);
        let near = |a: f64, b: f64| (a - b).abs() < 0.01 * b;
        assert!(near(upper, fixed_upper), "{adjacency:?}: {upper} {fixed_upper}");
        assert!(near(lower, fixed_lower), "{adjacency:?}: {lower} {fixed_lower}");
    }
}

/// The composed worst case of two steps, by quadrature of mixtures that both sides see.
#[test]
fn two_steps_lie_below_the_bound_and_near_it() {
    let choose =
        |n: u32, k: u32| (0..k).map(|i| f64::from(n - i) / f64::from(i + 1)).product::<f64>();
    let others = RECORDS as u32 - 1;
    let pmf = |n: u32| {
        choose(others, n)
            * (0..n).map(|_| RATE).product::<f64>()
            * (n..others).map(|_| 1.0 - RATE).product::<f64>()
    };
    let full: f64 = (MOST..=others).map(pmf).sum();
    let kept: f64 =
        (MOST..=others).map(|n| pmf(n) * RATE * f64::from(MOST) / f64::from(n + 1)).sum();
    let rate = kept / full;
    // the cases are seen: outputs of full batches lie far from the others
    const APART: f64 = 40.0;
    let step = |x: f64, [open, filled]: [f64; 2]| {
        let mixed = |x: f64, mean: f64, rate: f64| {
            (1.0 - rate) * normal(x, 0.0, SIGMA) + rate * normal(x, mean, SIGMA)
        };
        (1.0 - full) * mixed(x, open, RATE) + full * mixed(x - APART, filled, rate)
    };
    let pair = |with: [f64; 2], without: [f64; 2]| {
        let both =
            |[x, y]: Gradient| (step(x, with) * step(y, with), step(x, without) * step(y, without));
        let reversed = |at| {
            let (p, q) = both(at);
            (q, p)
        };
        let at = |both: &dyn Fn(Gradient) -> (f64, f64)| {
            Pair::new(SIGMA, [0.0, APART + 2.0], both).epsilon_at(DELTA)
        };
        at(&both).max(at(&reversed))
    };
    for (adjacency, exact) in [
        (Adjacency::ZeroOut, pair([1.0, 2.0], [0.0, 1.0])),
        (Adjacency::AddRemove, pair([1.0, 2.0], [0.0, 0.0])),
    ] {
        let [_, upper] = bounds(&small(adjacency), run(SIGMA, RATE, 2), DELTA);
        assert!(exact <= upper + ERROR && upper < 1.01 * exact, "{adjacency:?}: {exact} {upper}");
        let [_, noisier] = bounds(&small(adjacency), run(1.02 * SIGMA, RATE, 2), DELTA);
        assert!(noisier < exact, "{adjacency:?}: more noise is not seen");
    }
}

#[test]
fn values_hold_those_of_dp_accounting() {
    let document: Value = serde_json::from_str(GOLDEN).expect("golden file is json");
    for case in document["cases"].as_array().expect("cases") {
        let number = |name: &str| case[name].as_f64().expect("a number");
        let whole = |name: &str| case[name].as_u64().expect("a whole number");
        let training = run(number("noise_multiplier"), number("sampling_rate"), whole("steps"));
        let of = |adjacency, more: u64| {
            let (dataset_size, max_batch_size) =
                (whole("dataset_size"), whole("max_batch_size") + more);
            let truncated = truncated(adjacency, dataset_size, max_batch_size);
            bounds(&truncated, training, number("delta"))
        };
        let [_, removed] = of(Adjacency::AddRemove, 0);
        let slack = 2e-3 * removed.max(1.0);
        // their lower value is far below
        let meets =
            |value: f64| number("lower") <= value && (value - number("upper")).abs() <= slack;
        assert!(meets(removed), "{case}: {removed}");
        // theirs replaces the record of a full batch under every relation
        let claimed = |relation: &str| case["accountant"][relation].as_f64().expect("a number");
        let [lower, upper] = of(Adjacency::ZeroOut, 0);
        assert!(lower <= claimed("zero-out"), "{case}: {lower}");
        assert!(upper <= claimed("zero-out") + slack, "{case}: {upper}");
        let [lower, upper] = of(Adjacency::Replace, 0);
        assert!(lower <= claimed("replace") + slack, "{case}: {lower}");
        assert!(upper <= claimed("replace") + slack, "{case}: {upper}");
        // where truncation matters, another maximum is seen
        if number("full") > 1e-3 {
            let [_, other] = of(Adjacency::AddRemove, 1);
            assert!(!meets(other), "{case}: {other}");
        }
    }
}

/// Finer grids close numeric errors, and not what theory leaves open.
#[test]
fn gaps_of_theory_are_not_numeric_errors() {
    let both = |truncated: TruncatedPoisson, training, error| {
        let query = Query { error: Some(error), ..Query::upper(training, Given::Delta(1e-5)) };
        truncated.both(&query).expect("in the domain")
    };
    for adjacency in ADJACENCIES {
        let rows = [1e-2, 1e-3].map(|error| {
            let rows = both(truncated(adjacency, 10_000, 110), run(1.0, 0.01, 100), error);
            for row in rows {
                assert!(row.numeric_error <= 5.0 * error, "{adjacency:?}: {row:?}");
            }
            let [lower, upper] = rows;
            assert_eq!(lower.theory_gap, Some(upper.epsilon - lower.epsilon));
            assert_eq!(lower.theory_gap, upper.theory_gap);
            upper.epsilon - lower.epsilon
        });
        assert!(rows[0] > 2.0 && (rows[1] - rows[0]).abs() < 0.05, "{adjacency:?}: {rows:?}");
    }
    // without truncation nothing is open
    let [lower, upper] = both(truncated(ADJACENCIES[0], 100, 100), run(1.0, 0.1, 10), 1e-3);
    assert!(upper.epsilon - lower.epsilon < 2e-3, "{lower:?} {upper:?}");
}

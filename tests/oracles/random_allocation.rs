//! Random allocation: against quadrature of the pair.

use dpscope_core::accounting::{
    Accountant, BallsInBins, Given, Kind, Query, RandomAllocation, Training,
};
use dpscope_core::math::exp;

use crate::quadrature::normal;

/// The reach of the grids beyond both means, in units of σ.
const REACH: f64 = 6.5;

/// Limit of the error of the quadrature in ε.
const ERROR: f64 = 3e-3;

fn run(noise_multiplier: f64, [steps, uses, epochs]: [u64; 3]) -> Training {
    let sampling_rate = Some(uses as f64 / steps as f64);
    Training { noise_multiplier, steps_per_epoch: steps, epochs, sampling_rate }
}

/// Lower and upper ε.
fn bounds(training: Training, delta: f64) -> [f64; 2] {
    [Kind::Lower, Kind::Upper].map(|kind| {
        let query = Query { kind, ..Query::upper(training, Given::Delta(delta)) };
        RandomAllocation.account(&query).expect("in the domain").epsilon
    })
}

/// ε of two uses in so many steps, the larger of both directions.
///
/// A point of the grid is the mass under Q of the outputs so far, the sum of their likelihood ratios W
/// and that of the products of two.
fn of_two_uses(steps: u32, sigma: f64, delta: f64) -> f64 {
    let points = if steps == 3 { 110 } else { 44 };
    let width = (1.0 + 2.0 * REACH * sigma) / f64::from(points);
    let point = |place: i32| {
        let x = (f64::from(place) + 0.5) * width - REACH * sigma;
        (normal(x, 0.0, sigma) * width, exp((x - 0.5) / (sigma * sigma)))
    };
    let outputs: Vec<(f64, f64)> = (0..points).map(point).collect();
    let mut cells = vec![(1.0, 0.0, 0.0)];
    for _ in 0..steps {
        let with = |&(mass, sum, pairs): &(f64, f64, f64)| {
            let next =
                move |&(own, ratio): &(f64, f64)| (mass * own, sum + ratio, pairs + ratio * sum);
            outputs.iter().map(next).collect::<Vec<_>>()
        };
        cells = cells.iter().flat_map(with).collect();
    }
    let sets = f64::from(steps * (steps - 1) / 2);
    let epsilon_at = |delta_at: &dyn Fn(f64) -> f64| {
        let (mut low, mut high) = (0.0, 20.0);
        while high - low > 1e-3 {
            let middle = 0.5 * (low + high);
            if delta_at(exp(middle)) > delta { low = middle } else { high = middle }
        }
        low
    };
    let over =
        |of: &dyn Fn(f64) -> f64| cells.iter().map(|it| it.0 * of(it.2 / sets).max(0.0)).sum();
    let remove = epsilon_at(&|factor| over(&|ratio| ratio - factor));
    let add = epsilon_at(&|factor| over(&|ratio| 1.0 - factor * ratio));
    remove.max(add)
}

#[test]
fn sets_of_two_steps_bracket_quadrature() {
    for (steps, sigma, delta) in [(3, 1.0, 1e-2), (3, 2.0, 1e-3), (4, 1.0, 1e-2)] {
        let exact = of_two_uses(steps, sigma, delta);
        let of = |sigma| bounds(run(sigma, [steps.into(), 2, 1]), delta);
        let brackets = |[lower, upper]: [f64; 2]| lower <= exact + ERROR && exact <= upper + ERROR;
        let found = of(sigma);
        assert!(brackets(found) && found[0] > 0.9 * exact, "{steps} {sigma}: {exact} {found:?}");
        // less noise, or more, is noticed
        assert!(!brackets(of(0.75 * sigma)) && !brackets(of(1.5 * sigma)), "{exact} {found:?}");
    }
}

#[test]
fn lower_values_are_near_where_many_steps_use_few_records() {
    for length in [[1000, 10, 1], [1000, 10, 10], [200, 4, 2]] {
        let [lower, upper] = bounds(run(1.0, length), 1e-5);
        assert!(lower <= upper && upper < 1.05 * lower, "{length:?}: {lower} {upper}");
    }
}

/// Where the two worlds hardly overlap, grids alone show much less: 20.1 and 0.
#[test]
fn lower_values_are_at_least_those_of_sums() {
    for (sigma, [steps, uses, epochs], least) in [
        (1.0, [1000, 333, 1], 99.5),
        (1.0, [1000, 500, 1], 191.5),
        (0.1, [100, 10, 2], 159.0),
        (0.02, [50, 25, 1], 0.0),
    ] {
        let gdp_mu = uses as f64 * (epochs as f64 / steps as f64).sqrt() / sigma;
        let sums = dpscope_core::gdp::gdp_epsilon(gdp_mu, 1e-5).expect("in the domain");
        let [lower, upper] = bounds(run(sigma, [steps, uses, epochs]), 1e-5);
        assert!(lower >= sums * (1.0 - 1e-9) && sums > least, "{sigma} {uses}: {lower} {sums}");
        assert!(lower <= upper, "{sigma} {uses}: {lower} {upper}");
        // the sums of a record that is used twice as often leak too much
        let more = dpscope_core::gdp::gdp_epsilon(2.0 * gdp_mu, 1e-5).expect("in the domain");
        assert!(more > upper || sigma < 0.2, "{sigma} {uses}: {more} {upper}");
    }
}

/// Masses that a rounded factor lacks once made the bound of the direction *add* too large.
#[test]
fn lower_values_stay_below_upper_ones_in_the_tails() {
    for (sigma, shape, delta) in [
        (10.0, [10_000, 2, 1], 1e-12),
        (10.0, [100_000, 3_000, 1], 1e-5),
        (1.0, [100_000, 30, 1], 1e-8),
        (1.0, [30_000, 10, 1], 1e-9),
        (5.0, [50_000, 100, 1], 1e-7),
        (0.9, [700, 7, 3], 1e-11),
    ] {
        let [lower, upper] = bounds(run(sigma, shape), delta);
        assert!(lower <= upper, "{sigma} {shape:?} {delta}: {lower} {upper}");
    }
}

#[test]
fn one_use_and_all_uses_have_closed_answers() {
    let query = Query::upper(run(1.0, [20, 1, 2]), Given::Delta(1e-5));
    let bins = BallsInBins.account(&query).expect("in the domain").epsilon;
    assert_eq!(bounds(run(1.0, [20, 1, 2]), 1e-5)[1], bins);
    let [lower, upper] = bounds(run(4.0, [20, 20, 2]), 1e-5);
    // 40 steps with σ = 4 are the Gaussian mechanism of μ = √40/4
    let exact = dpscope_core::gdp::gdp_epsilon(40.0_f64.sqrt() / 4.0, 1e-5).expect("in the domain");
    assert!((lower - exact).abs() < 1e-9 && (upper - exact).abs() < 1e-9, "{lower} {upper}");
}

/// ε of blocks of one step and of two, one use in each, the larger of both directions.
fn of_blocks_of_one_and_two(sigma: f64, delta: f64) -> f64 {
    let points = 110;
    let width = (1.0 + 2.0 * REACH * sigma) / f64::from(points);
    let point = |place: i32| {
        let x = (f64::from(place) + 0.5) * width - REACH * sigma;
        (normal(x, 0.0, sigma) * width, exp((x - 0.5) / (sigma * sigma)))
    };
    let outputs: Vec<(f64, f64)> = (0..points).map(point).collect();
    let mut cells = Vec::new();
    for (mass, alone) in &outputs {
        for (second, first_ratio) in &outputs {
            let of_third = |(third, ratio): &(f64, f64)| {
                (mass * second * third, alone * 0.5 * (first_ratio + ratio))
            };
            cells.extend(outputs.iter().map(of_third));
        }
    }
    let epsilon_at = |over: &dyn Fn(f64, f64) -> f64| {
        let (mut low, mut high) = (0.0, 20.0);
        while high - low > 1e-3 {
            let middle = 0.5 * (low + high);
            let factor = exp(middle);
            let at = cells.iter().map(|(mass, ratio)| mass * over(*ratio, factor).max(0.0));
            if at.sum::<f64>() > delta { low = middle } else { high = middle }
        }
        low
    };
    epsilon_at(&|ratio, factor| ratio - factor)
        .max(epsilon_at(&|ratio, factor| 1.0 - factor * ratio))
}

/// Two uses in three steps: blocks of one step and of two.
#[test]
fn unequal_blocks_are_composed() {
    let (sigma, delta) = (1.1, 1e-3);
    let exact = of_blocks_of_one_and_two(sigma, delta);
    let training = run(sigma, [3, 2, 1]);
    let of = |accountant: &dyn Accountant, training: Training| {
        let query = Query::upper(training, Given::Delta(delta));
        accountant.account(&Query { error: Some(1e-4), ..query }).expect("in the domain").epsilon
    };
    let upper = of(&RandomAllocation, training);
    let is_exact = |upper: f64| (upper - exact).abs() < 2.0 * ERROR;
    assert!(is_exact(upper), "{upper} {exact}");
    // equal blocks, of one step or of two, are seen
    for steps_per_epoch in [1, 2] {
        let equal = Training { steps_per_epoch, epochs: 2, sampling_rate: None, ..training };
        let broken = of(&BallsInBins, equal);
        assert!(!is_exact(broken), "{steps_per_epoch}: {broken} {exact}");
    }
}

//! Plausible mistakes, each as a small broken implementation that a check rejects.

use dpscope_core::adjacency::{Direction, World};
use dpscope_core::audit::bound::{
    PredictedErrors, at_fixed_cut, choose_cuts, epsilon_from_rates, max_uncorrected, simultaneous,
};
use dpscope_core::audit::trade_off::{Cut, ErrorCounts, TradeOff, Trials};
use dpscope_core::interval::clopper_pearson_upper;
use dpscope_tests::Draws;

use crate::SIGNIFICANCE;
use crate::bounds::{ManyCuts, TightCut, counted, worst_excess};
use crate::budget::Misses;
use crate::pairs::{IntegerScores, LaplacePair};

fn value_at(cut: Cut, trials: Trials, delta: f64) -> f64 {
    at_fixed_cut(cut, trials, delta, SIGNIFICANCE).expect("valid").value()
}

fn skewed_scores(n: usize) -> [Vec<f64>; 2] {
    let pair = IntegerScores::skewed();
    let mut draws = Draws::of_run(501, 0);
    World::BOTH.map(|world| {
        (0..n).map(|_| pair.draw(world, &mut draws) as f64 * pair.unit).collect::<Vec<f64>>()
    })
}

/// On a pair that is skewed towards D the inequality with D first decides; exchanged rates give the
/// same number and the other direction, exchanged worlds give none.
#[test]
fn swapped_worlds_are_caught() {
    let [d, d_prime] = skewed_scores(20_000);
    let found = max_uncorrected(&counted(&d, &d_prime), 1e-5, SIGNIFICANCE).unwrap();
    let evidence = found.evidence();
    assert!(found.value() > 1.0 && evidence.direction == Direction::Remove);

    let rates = epsilon_from_rates(evidence.fnr_upper, evidence.fpr_upper, 1e-5);
    assert_eq!((rates.epsilon, rates.direction), (found.value(), Direction::Add));
    let swapped = max_uncorrected(&counted(&d_prime, &d), 1e-5, SIGNIFICANCE).unwrap();
    assert!(swapped.value() < 0.1 * found.value(), "{}", swapped.value());
}

fn unequal() -> Vec<TightCut> {
    let grid = [(2.0, 0.0), (2.0, 0.5), (4.0, 0.0)].map(|(epsilon, along)| {
        [(2000, 500), (500, 2000)].map(|(target, zero_out)| {
            TightCut::new(epsilon, 1e-5, along, Trials { target, zero_out })
        })
    });
    grid.concat()
}

#[test]
fn observations_of_the_wrong_world_are_caught() {
    let with = |trials: fn(Trials) -> Trials| {
        let bound = move |tight: &TightCut, errors: ErrorCounts| {
            let Trials { target, zero_out } = trials(tight.distribution.trials);
            let errors = ErrorCounts {
                false_positives: errors.false_positives.min(zero_out),
                false_negatives: errors.false_negatives.min(target),
            };
            let cut = Cut { threshold: f64::NAN, errors };
            value_at(cut, Trials { target, zero_out }, tight.delta)
        };
        worst_excess(&unequal(), bound).0
    };
    assert!(with(|trials| trials) <= SIGNIFICANCE);
    let total = |t: Trials| {
        let all = t.target + t.zero_out;
        Trials { target: all, zero_out: all }
    };
    assert!(with(total) > 2.0 * SIGNIFICANCE, "a total taken for each world passed");
    let swapped = |t: Trials| Trials { target: t.zero_out, zero_out: t.target };
    assert!(with(swapped) > 2.0 * SIGNIFICANCE, "exchanged numbers of observations passed");
}

/// Cuts after every score, D′ first among equals: the attack that ties allow only with hindsight.
fn cuts_inside_ties(d: &[f64], d_prime: &[f64]) -> Vec<Cut> {
    let label = |world: World| move |&score: &f64| (score, world);
    let mut pooled: Vec<(f64, World)> = d.iter().map(label(World::Target)).collect();
    pooled.extend(d_prime.iter().map(label(World::ZeroOut)));
    pooled.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.index().cmp(&a.1.index())));
    let mut errors = ErrorCounts { false_positives: d_prime.len() as u64, false_negatives: 0 };
    let cut = |(threshold, world): (f64, World)| {
        match world {
            World::Target => errors.false_negatives += 1,
            World::ZeroOut => errors.false_positives -= 1,
        }
        Cut { threshold, errors }
    };
    pooled.into_iter().map(cut).collect()
}

#[test]
fn cuts_inside_ties_are_caught() {
    let pair = LaplacePair { epsilon: 1.0 };
    let (mut ours, mut inside) = (Misses::default(), Misses::default());
    for run in 0..300 {
        let mut draws = Draws::of_run(502, run);
        // Rounded to whole numbers the scores tie, and the pair stays 1-DP.
        let [d, d_prime] = World::BOTH.map(|world| {
            pair.scores(world, 500, &mut draws).into_iter().map(f64::round).collect::<Vec<f64>>()
        });
        let all = counted(&d, &d_prime);
        let bound = simultaneous(&all, &[0.5, 1.5], 0.0, SIGNIFICANCE).unwrap();
        ours.count(bound.value() > pair.epsilon);
        let middles = cuts_inside_ties(&d, &d_prime).into_iter().step_by(25);
        let values = middles.map(|cut| value_at(cut, all.trials(), 0.0));
        inside.count(values.fold(0.0, f64::max) > pair.epsilon);
    }
    assert!(!ours.refute(SIGNIFICANCE) && inside.refute(SIGNIFICANCE), "{ours:?} {inside:?}");

    let equal = [1.0; 400];
    assert_eq!(max_uncorrected(&counted(&equal, &equal), 0.0, SIGNIFICANCE).unwrap().value(), 0.0);
    let inside = cuts_inside_ties(&equal, &equal);
    let trials = Trials { target: 400, zero_out: 400 };
    assert!(inside.iter().any(|&cut| value_at(cut, trials, 0.0) > 4.0));
}

/// Largest value along `thresholds` where each step replaces both counters by R times their upper
/// limits and the next step counts on from there.
fn limits_overwriting_counters(d: &[f64], d_prime: &[f64], thresholds: &[f64]) -> f64 {
    let above = |scores: &[f64], t: f64| scores.iter().filter(|&&s| s > t).count() as i64;
    let limit = |events: i64, scores: &[f64]| {
        let (n, events) = (scores.len() as u64, events.clamp(0, scores.len() as i64) as u64);
        clopper_pearson_upper(events, n, SIGNIFICANCE / 2.0).expect("valid")
    };
    let (mut false_positives, mut false_negatives) = (d_prime.len() as i64, 0);
    let mut before = f64::NEG_INFINITY;
    let mut largest = 0.0_f64;
    for &threshold in thresholds {
        false_positives += above(d_prime, threshold) - above(d_prime, before);
        false_negatives -= above(d, threshold) - above(d, before);
        before = threshold;
        let (fpr, fnr) = (limit(false_positives, d_prime), limit(false_negatives, d));
        largest = largest.max(epsilon_from_rates(fpr, fnr, 1e-5).epsilon);
        false_positives = (fpr * d_prime.len() as f64) as i64;
        false_negatives = (fnr * d.len() as f64) as i64;
    }
    largest
}

#[test]
fn limits_that_overwrite_their_counters_are_caught() {
    let [mut d, mut d_prime] = skewed_scores(20_000);
    let mut thresholds: Vec<f64> = (0..60).map(|i| f64::from(i) * 0.1).collect();
    let ours = |d: &[f64], d_prime: &[f64], thresholds: &[f64]| {
        simultaneous(&counted(d, d_prime), thresholds, 1e-5, SIGNIFICANCE).unwrap().value()
    };
    let all_cuts = |d: &[f64], d_prime: &[f64]| {
        max_uncorrected(&counted(d, d_prime), 1e-5, SIGNIFICANCE).unwrap()
    };
    let before = ours(&d, &d_prime, &thresholds);
    let (largest, rising) =
        (all_cuts(&d, &d_prime), limits_overwriting_counters(&d, &d_prime, &thresholds));
    assert!(rising < 0.9 * before, "not tight: {rising} of {before}");

    let mut draws = Draws::of_run(503, 0);
    draws.shuffle(&mut d);
    draws.shuffle(&mut d_prime);
    thresholds.reverse();
    assert_eq!(ours(&d, &d_prime, &thresholds), before);
    assert_eq!(all_cuts(&d, &d_prime), largest);
    let falling = limits_overwriting_counters(&d, &d_prime, &thresholds);
    assert!((falling - rising).abs() > 0.01, "{falling} {rising}");
}

/// A pilot may choose a cut; the counted scores may not: their choice exceeds the truth in 10 % of
/// these runs.
#[test]
fn a_cut_chosen_on_the_counted_scores_is_caught() {
    let setting = ManyCuts::new(4000, 4000);
    let mut draws = Draws::of_run(504, 0);
    let pilot = World::BOTH.map(|world| setting.pair.scores(world, 4000, &mut draws));
    let pilot = counted(&pilot[0], &pilot[1]);
    let value = |chosen_on: &TradeOff, all: &TradeOff| {
        let predicted = PredictedErrors::from_counts(chosen_on);
        let cut = choose_cuts(&predicted, all.trials(), 0.0, SIGNIFICANCE, 1).unwrap();
        simultaneous(all, &cut, 0.0, SIGNIFICANCE).unwrap().value()
    };
    let [by_pilot, by_counted] = setting.excess((505, 1000), |d, d_prime| {
        let all = counted(d, d_prime);
        [value(&pilot, &all), value(&all, &all)]
    });
    assert!(!by_pilot.refute(SIGNIFICANCE), "{by_pilot:?}");
    assert!(by_counted.refute(SIGNIFICANCE), "{by_counted:?}");
}

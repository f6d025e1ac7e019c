//! A threshold that few runs choose: coverage, and how much so few runs show.

use dpscope_core::adjacency::World;
use dpscope_core::audit::bound::{at_fixed_cut, max_uncorrected, split, split_at_midpoint};
use dpscope_core::audit::trade_off::TradeOff;
use dpscope_core::special::normal_quantile;
use dpscope_tests::Draws;

use crate::SIGNIFICANCE;
use crate::bounds::counted;
use crate::budget::Misses;
use crate::pairs::LaplacePair;

/// A third of the runs chooses, as many as an attack leaves for that beside those that it evaluates.
fn parts(d: &[f64], d_prime: &[f64]) -> [TradeOff; 2] {
    let at = d.len() / 3;
    [counted(&d[..at], &d_prime[..at]), counted(&d[at..], &d_prime[at..])]
}

/// Two limits at half the significance are wrong together far less often; at a confidence of 60 % a choice
/// among evaluated scores shows.
#[test]
fn a_threshold_of_few_scores_covers_and_that_of_evaluated_ones_does_not() {
    const SIGNIFICANCE: f64 = 0.4;
    for (epsilon, runs) in [(0.5, 120), (1.0, 300)] {
        let pair = LaplacePair { epsilon };
        let [mut bound, mut mutant] = [Misses::default(); 2];
        for run in 0..1000 {
            let mut draws = Draws::of_run(106, run);
            let [d, d_prime] = World::BOTH.map(|world| pair.scores(world, runs, &mut draws));
            let [choose, evaluate] = parts(&d, &d_prime);
            let found = split_at_midpoint(&choose, &evaluate, 0.0, SIGNIFICANCE).unwrap();
            bound.count(found.value() > epsilon);
            let best = max_uncorrected(&evaluate, 0.0, SIGNIFICANCE).unwrap();
            mutant.count(best.value() > epsilon);
        }
        assert!(!bound.refute(SIGNIFICANCE), "{epsilon} {bound:?}");
        assert!(mutant.refute(SIGNIFICANCE), "a threshold of evaluated runs passed: {mutant:?}");
    }
}

/// Mean bounds on N(μ, 1) against N(0, 1): of the best fixed threshold, of [`split_at_midpoint`] and of
/// [`split`], whose correction for many thresholds lets fewer than eleven runs choose none.
fn means(mu: f64, runs: usize) -> [f64; 3] {
    let mut sums = [0.0; 3];
    for run in 0..200 {
        let mut draws = Draws::of_run(107, run);
        let mut world = |mean: f64| -> Vec<f64> {
            (0..runs).map(|_| mean + normal_quantile(draws.uniform()).expect("valid")).collect()
        };
        let [choose, evaluate] = parts(&world(mu), &world(0.0));
        let cut = evaluate.at_threshold(mu / 2.0);
        let values = [
            at_fixed_cut(cut, evaluate.trials(), 1e-5, SIGNIFICANCE).expect("valid").value(),
            split_at_midpoint(&choose, &evaluate, 1e-5, SIGNIFICANCE).expect("valid").value(),
            split(&choose, &evaluate, 1e-5, SIGNIFICANCE).expect("valid").value(),
        ];
        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value / 200.0);
    }
    sums
}

#[test]
fn few_runs_show_what_they_can() {
    for (mu, runs, share) in [(8.0, 12, 0.98), (8.0, 30, 0.98), (4.0, 30, 0.9), (3.0, 60, 0.85)] {
        let [best, midpoint, _] = means(mu, runs);
        assert!(midpoint >= share * best, "{mu} {runs}: {midpoint} {best}");
    }
    // thresholds by a corrected maximum see nothing in ten runs of each world
    let [best, _, split] = means(8.0, 30);
    assert!(split < 0.1 * best, "{split} {best}");
}

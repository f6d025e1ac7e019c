//! Bets that may be looked at after every run.

use dpscope_core::audit::anytime::AnytimeTest;
use dpscope_core::gdp::gdp_epsilon;
use dpscope_core::interval::clopper_pearson_lower;
use dpscope_core::math;
use dpscope_tests::Draws;

use crate::SIGNIFICANCE;

const AUDITS: usize = 2_000;
const PAIRS: usize = 150;
/// 5 % of the audits and four standard errors.
const MOST: usize = 139;

/// Randomised response with ε: the score of the target world is positive with probability q, and that of the
/// other with 1 − q. Looked at after every pair, bets against ε succeed in at most 5 % of audits; a test of a
/// fixed number of runs does far more often.
#[test]
fn bets_hold_after_every_run_and_a_fixed_test_does_not() {
    let epsilon = 1.0_f64;
    let q = 1.0 / (1.0 + math::exp(-epsilon));
    let needed = -math::ln(SIGNIFICANCE);
    let mut draws = Draws::new(456);
    let (mut bets, mut looks) = (0, 0);
    for _ in 0..AUDITS {
        let mut pair = || {
            let side = |positive: bool, size: f64| if positive { 1.0 + size } else { -1.0 - size };
            let target = draws.uniform() < q;
            let other = draws.uniform() >= q;
            [side(target, draws.uniform()), side(other, draws.uniform())]
        };
        let pairs: Vec<[f64; 2]> = (0..PAIRS).map(|_| pair()).collect();
        let test = AnytimeTest::of_pilot(&pairs);
        let wealth = test.wealth(AnytimeTest::after_pilot(&pairs), epsilon, 0.0).unwrap();
        bets += usize::from(wealth.ln_largest >= needed);
        let mut positive = 0;
        let is_refuted = pairs.iter().enumerate().any(|(index, pair)| {
            positive += u64::from(pair[0] > 0.0);
            clopper_pearson_lower(positive, index as u64 + 1, SIGNIFICANCE).unwrap() > q
        });
        looks += usize::from(is_refuted);
    }
    assert!(bets <= MOST, "{bets} of {AUDITS}");
    assert!(looks > 2 * MOST, "{looks}: the mutant must fail");
}

/// A leak is found by so many pairs of runs, and the bound never exceeds what is true.
#[test]
fn a_leak_is_found_and_more_runs_lose_nothing() {
    let mut draws = Draws::new(457);
    let pairs: Vec<[f64; 2]> = (0..2_000).map(|_| [draws.normal() + 1.5, draws.normal()]).collect();
    let bound = |count: usize| AnytimeTest::bound(&pairs[..count], 1e-5, 0.05).unwrap();
    let (few, _) = bound(300);
    let (more, reached) = bound(2_000);
    assert!(few > 0.5 && more >= few, "{few} {more}");
    assert!(more <= gdp_epsilon(1.5, 1e-5).unwrap(), "{more}");
    assert!(more <= AnytimeTest::ceiling(1_980, 1e-5, 0.05).unwrap());
    assert!(reached.unwrap() <= 1_980);
    assert_eq!(bound(10), (0.0, None));
}

/// Many pairs of which neither run counts lose more at small ε than at large ones: the bound ends at the first
/// point of the grid that is not rejected, and not at a later one.
#[test]
fn the_bound_ends_at_the_first_epsilon_that_is_not_rejected() {
    let mut draws = Draws::new(458);
    let pilot = (0..20).map(|_| [-1.0 + 0.3 * draws.uniform(), -1.0 + 0.3 * draws.uniform()]);
    let neither = (0..7_000).map(|_| [-2.0, -2.0]);
    let wins = (0..100).map(|_| [1.0, -2.0]);
    let pairs: Vec<[f64; 2]> = pilot.chain(neither).chain(wins).collect();
    let (delta, needed) = (0.01, -math::ln(SIGNIFICANCE));
    let test = AnytimeTest::of_pilot(&pairs);
    let bets = AnytimeTest::after_pilot(&pairs);
    let is_rejected = |point: u32| {
        let epsilon = 0.005 * f64::from(point);
        test.wealth(bets, epsilon, delta).unwrap().ln_largest >= needed
    };
    let first = (0..400).find(|&point| !is_rejected(point)).unwrap();
    let expected = 0.005 * f64::from(first.saturating_sub(1));
    let (found, _) = AnytimeTest::bound(&pairs, delta, SIGNIFICANCE).unwrap();
    assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    assert!((first..400).any(is_rejected), "the wealth must rise again for the test to fail");
}

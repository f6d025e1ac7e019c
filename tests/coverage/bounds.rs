//! Lower bounds on ε: the chance that they exceed the truth.

use dpscope_core::adjacency::World;
use dpscope_core::audit::bound::{
    ExpectedRates, at_expected_rates, at_fixed_cut, max_uncorrected, simultaneous, split,
    split_by_pilot,
};
use dpscope_core::audit::trade_off::{Cut, ErrorCounts, RateIntervals, TradeOff, Trials};
use dpscope_core::math::{exp, ln, ln_1p};
use dpscope_tests::Draws;

use crate::SIGNIFICANCE;
use crate::budget::Misses;
use crate::enumeration::{CutDistribution, chance_all_allowed};
use crate::pairs::LaplacePair;

/// A pair of worlds that is exactly (ε, δ)-tight at one cut.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TightCut {
    pub(crate) epsilon: f64,
    pub(crate) delta: f64,
    pub(crate) distribution: CutDistribution,
}

impl TightCut {
    /// The cut on the line 1 − FNR − δ = e^ε FPR that lies the share `along` of the way from the
    /// corner FPR = FNR, where the other direction is tight too, to FPR = 0.
    pub(crate) fn new(epsilon: f64, delta: f64, along: f64, trials: Trials) -> Self {
        let corner = (1.0 - delta) / (1.0 + exp(epsilon));
        let fpr = corner * (1.0 - along);
        let fnr = 1.0 - delta - exp(epsilon) * fpr;
        TightCut { epsilon, delta, distribution: CutDistribution { fpr, fnr, trials } }
    }

    /// This cut with the worlds' roles exchanged: the line 1 − FPR − δ = e^ε FNR.
    fn mirrored(self) -> Self {
        let CutDistribution { fpr, fnr, trials } = self.distribution;
        let trials = Trials { target: trials.zero_out, zero_out: trials.target };
        TightCut { distribution: CutDistribution { fpr: fnr, fnr: fpr, trials }, ..self }
    }

    pub(crate) fn fixed_bound(&self, errors: ErrorCounts, significance: f64) -> f64 {
        let cut = Cut { threshold: f64::NAN, errors };
        at_fixed_cut(cut, self.distribution.trials, self.delta, significance)
            .expect("valid")
            .value()
    }
}

/// Tight pairs: weak and strong, balanced and not, with one direction deciding or both.
fn tight_cuts() -> Vec<TightCut> {
    let mut grid = Vec::new();
    for epsilon in [0.1, 1.0, 2.0, 4.0, 6.0] {
        for delta in [1e-5, 0.05] {
            for (target, zero_out) in [(50, 50), (400, 400), (1000, 300), (2000, 2000)] {
                for along in [0.0, 0.4, 0.9] {
                    let trials = Trials { target, zero_out };
                    let tight = TightCut::new(epsilon, delta, along, trials);
                    grid.extend([tight, tight.mirrored()]);
                }
            }
        }
        // Just enough observations for a bound above ε without errors, in either world.
        let rate = 1.0 / (1.0 + exp(epsilon));
        let enough = (1.03 * ln(SIGNIFICANCE / 2.0) / ln_1p(-rate)).ceil() as u64;
        let trials = Trials { target: enough, zero_out: enough };
        grid.push(TightCut::new(epsilon, 0.0, 0.0, trials));
    }
    grid
}

/// The largest Pr[bound > ε] over tight pairs, and where it is.
pub(crate) fn worst_excess(
    grid: &[TightCut],
    bound: impl Fn(&TightCut, ErrorCounts) -> f64,
) -> (f64, TightCut) {
    let chances = grid.iter().map(|tight| {
        let chance = tight.distribution.chance_above(tight.epsilon, |errors| bound(tight, errors));
        (chance, *tight)
    });
    chances.max_by(|a, b| a.0.total_cmp(&b.0)).expect("valid")
}

/// The bound exceeds ε with probability 0.0442 at the worst of these pairs; at a tail of 0.05 for
/// each rate, with 0.08.
#[test]
fn fixed_cut_covers_by_enumeration_and_its_twin_does_not() {
    let grid = tight_cuts();
    let (chance, at) = worst_excess(&grid, |tight, errors| tight.fixed_bound(errors, SIGNIFICANCE));
    assert!(chance <= SIGNIFICANCE, "exceeds with probability {chance} at {at:?}");
    assert!(chance >= 0.85 * SIGNIFICANCE, "never close to its significance: {chance}");

    let one_sided = |tight: &TightCut, errors| tight.fixed_bound(errors, 2.0 * SIGNIFICANCE);
    let (chance, at) = worst_excess(&grid, one_sided);
    assert!(chance > 1.3 * SIGNIFICANCE, "a tail of .05 for each rate passed: {chance} at {at:?}");
}

#[test]
fn fixed_cut_covers_by_every_pair_of_counts() {
    let trials = Trials { target: 60, zero_out: 45 };
    for (epsilon, along) in [(0.5, 0.0), (2.0, 0.0), (2.0, 0.5)] {
        let tight = TightCut::new(epsilon, 1e-5, along, trials);
        let bound = |errors| tight.fixed_bound(errors, SIGNIFICANCE);
        let chance = tight.distribution.chance_above_by_pairs(epsilon, bound);
        assert!(chance <= SIGNIFICANCE);
        assert!((chance - tight.distribution.chance_above(epsilon, bound)).abs() < 1e-12);
    }
}

/// Right and wrong expectations cover; a staircase with twice the area does not.
#[test]
fn joint_region_covers_by_enumeration_and_its_twin_does_not() {
    let mut grid = Vec::new();
    for (epsilon, delta) in [(0.5, 1e-5), (1.0, 0.05), (3.0, 0.0)] {
        for (target, zero_out) in [(60, 60), (200, 90)] {
            for along in [0.05, 0.6, 0.95] {
                let trials = Trials { target, zero_out };
                let tight = TightCut::new(epsilon, delta, along, trials);
                grid.extend([tight, tight.mirrored()]);
            }
        }
    }
    let at = |tight: &TightCut, expected, errors, significance| {
        let cut = Cut { threshold: f64::NAN, errors };
        let trials = tight.distribution.trials;
        at_expected_rates(cut, trials, expected, tight.delta, significance).unwrap().value()
    };
    let mut largest = 0.0_f64;
    for factor in [1.0, 0.5, 1.6] {
        let by = |tight: &TightCut, errors, significance| {
            let CutDistribution { fpr, fnr, .. } = tight.distribution;
            let expected =
                ExpectedRates { fpr: (fpr * factor).min(1.0), fnr: fnr / factor.max(1.0) };
            at(tight, expected, errors, significance)
        };
        let (chance, place) = worst_excess(&grid, |tight, errors| by(tight, errors, SIGNIFICANCE));
        assert!(chance <= SIGNIFICANCE, "exceeds with probability {chance} at {place:?}");
        largest = largest.max(chance);
        if factor == 1.0 {
            let (chance, place) =
                worst_excess(&grid, |tight, errors| by(tight, errors, 2.0 * SIGNIFICANCE));
            assert!(chance > SIGNIFICANCE, "twice the area passed: {chance} at {place:?}");
        }
    }
    assert!(largest >= 0.5 * SIGNIFICANCE, "never close to its significance: {largest}");
}

/// A setting of the Laplace pair in which choosing among cuts matters, with 64 cuts fixed
/// beforehand, all of them tight.
pub(crate) struct ManyCuts {
    pub(crate) pair: LaplacePair,
    trials: Trials,
    thresholds: Vec<f64>,
}

impl ManyCuts {
    pub(crate) fn new(target: u64, zero_out: u64) -> Self {
        let (pair, trials) = (LaplacePair { epsilon: 4.0 }, Trials { target, zero_out });
        let outward = (0..32).map(|step| f64::from(step) * 0.12);
        let thresholds = outward.flat_map(|out| [-out, pair.epsilon + out]).collect();
        ManyCuts { pair, trials, thresholds }
    }

    /// How often each of several values, computed from the scores of D and D′, exceeds the truth.
    pub(crate) fn excess<const N: usize>(
        &self,
        (seed, runs): (u64, u64),
        values: impl Fn(&[f64], &[f64]) -> [f64; N],
    ) -> [Misses; N] {
        let mut misses = [Misses::default(); N];
        for run in 0..runs {
            let mut draws = Draws::of_run(seed, run);
            let d = self.pair.scores(World::Target, self.trials.target as usize, &mut draws);
            let d_prime =
                self.pair.scores(World::ZeroOut, self.trials.zero_out as usize, &mut draws);
            for (misses, value) in misses.iter_mut().zip(values(&d, &d_prime)) {
                misses.count(value > self.pair.epsilon);
            }
        }
        misses
    }

    fn simultaneous(&self, all: &TradeOff) -> f64 {
        simultaneous(all, &self.thresholds, 0.0, SIGNIFICANCE).expect("valid").value()
    }
}

pub(crate) fn counted(d: &[f64], d_prime: &[f64]) -> TradeOff {
    TradeOff::from_scores(d, d_prime).expect("valid")
}

/// The uncorrected maximum exceeds the truth in 14 % of these runs, 64 cuts at an undivided tail in
/// 9 %, the bound in 0.2 %.
#[test]
fn simultaneous_covers_on_a_laplace_pair() {
    let setting = ManyCuts::new(4000, 4000);
    let [bound, undivided, maximum] = setting.excess((102, 1000), |d, d_prime| {
        let all = counted(d, d_prime);
        let undivided = setting.thresholds.iter().map(|&threshold| {
            let cut = all.at_threshold(threshold);
            at_fixed_cut(cut, all.trials(), 0.0, SIGNIFICANCE).unwrap().value()
        });
        [
            setting.simultaneous(&all),
            undivided.fold(0.0, f64::max),
            max_uncorrected(&all, 0.0, SIGNIFICANCE).unwrap().value(),
        ]
    });
    assert!(bound.stay_below(SIGNIFICANCE), "{bound:?}");
    assert!(undivided.refute(SIGNIFICANCE), "a tail not divided by m passed: {undivided:?}");
    assert!(maximum.refute(SIGNIFICANCE), "the uncorrected maximum passed: {maximum:?}");
}

fn halves(d: &[f64], d_prime: &[f64]) -> [TradeOff; 2] {
    let ((d, d_rest), (d_prime, d_prime_rest)) =
        (d.split_at(d.len() / 2), d_prime.split_at(d_prime.len() / 2));
    [counted(d, d_prime), counted(d_rest, d_prime_rest)]
}

/// The cut chosen and scored on the same half exceeds the truth in 10 % of these runs, on the other
/// half in about 1 %.
#[test]
fn split_covers_on_a_laplace_pair() {
    let setting = ManyCuts::new(4000, 4000);
    let [bound, same_half] = setting.excess((103, 1000), |d, d_prime| {
        let [chosen_on, evaluated] = halves(d, d_prime);
        [&chosen_on, &evaluated]
            .map(|choose| split(choose, &evaluated, 0.0, SIGNIFICANCE).unwrap().value())
    });
    assert!(bound.stay_below(SIGNIFICANCE), "{bound:?}");
    assert!(same_half.refute(SIGNIFICANCE), "one half for both passed: {same_half:?}");
}

/// A threshold that is chosen on the evaluated half exceeds the truth too often.
#[test]
fn split_by_pilot_covers_on_a_laplace_pair() {
    let setting = ManyCuts::new(4000, 4000);
    let [bound, mutant] = setting.excess((105, 1000), |d, d_prime| {
        let [pilot, evaluated] = halves(d, d_prime);
        [
            split_by_pilot(&pilot, &evaluated, 0.0, SIGNIFICANCE).unwrap().value(),
            split(&evaluated, &evaluated, 0.0, SIGNIFICANCE).unwrap().value(),
        ]
    });
    assert!(!bound.refute(SIGNIFICANCE), "{bound:?}");
    assert!(mutant.refute(SIGNIFICANCE), "{mutant:?}");
}

#[test]
fn unequal_worlds_cover_on_a_laplace_pair() {
    for (target, zero_out) in [(4000, 1000), (1000, 4000)] {
        let setting = ManyCuts::new(target, zero_out);
        let [simultaneous, split, maximum] = setting.excess((104, 1000), |d, d_prime| {
            let all = counted(d, d_prime);
            let [chosen_on, evaluated] = halves(d, d_prime);
            [
                setting.simultaneous(&all),
                split(&chosen_on, &evaluated, 0.0, SIGNIFICANCE).unwrap().value(),
                max_uncorrected(&all, 0.0, SIGNIFICANCE).unwrap().value(),
            ]
        });
        assert!(simultaneous.stay_below(SIGNIFICANCE), "{simultaneous:?}");
        assert!(split.stay_below(SIGNIFICANCE), "{split:?}");
        assert!(maximum.refute(SIGNIFICANCE), "the uncorrected maximum passed: {maximum:?}");
    }
}

/// Probability that every true rate lies in its interval at once, by enumeration over the counts at
/// all thresholds; `band` returns the intervals from a trade-off curve.
fn chance_of_a_correct_band(
    pair: &LaplacePair,
    thresholds: &[f64],
    trials: Trials,
    band: impl Fn(&TradeOff) -> Vec<RateIntervals>,
) -> f64 {
    let world = |world: World, n: u64| {
        let above: Vec<f64> = thresholds.iter().map(|&t| pair.above(world, t)).collect();
        // The band for k scores above: all thresholds see the same counts if the scores lie far
        // out.
        let mut allowed = vec![Vec::new(); thresholds.len()];
        for k in 0..=n {
            let outside = |n: u64, k: u64| {
                let high = |i: u64| if i < k { 1e9 } else { -1e9 };
                (0..n).map(high).collect::<Vec<f64>>()
            };
            let other = |n: u64| outside(n, n / 2);
            let counted = match world {
                World::Target => counted(&outside(n, k), &other(trials.zero_out)),
                World::ZeroOut => counted(&other(trials.target), &outside(n, k)),
            };
            for ((found, allowed), &above) in band(&counted).iter().zip(&mut allowed).zip(&above) {
                allowed.push(match world {
                    World::Target => (found.fnr_lower..=found.fnr_upper).contains(&(1.0 - above)),
                    World::ZeroOut => (found.fpr_lower..=found.fpr_upper).contains(&above),
                });
            }
        }
        chance_all_allowed(n, &above, &allowed)
    };
    world(World::Target, trials.target) * world(World::ZeroOut, trials.zero_out)
}

#[test]
fn simultaneous_band_covers_all_cuts_at_once() {
    let pair = LaplacePair { epsilon: 1.0 };
    let trials = Trials { target: 150, zero_out: 250 };
    let thresholds: Vec<f64> = (0..16).map(|i| f64::from(i) * 0.4 - 2.5).collect();
    let chance = |thresholds: &[f64], shared_by: usize| {
        chance_of_a_correct_band(&pair, thresholds, trials, |counted| {
            let tail = SIGNIFICANCE / (4.0 * shared_by as f64);
            let at = |&t: &f64| counted.rates_at(&counted.at_threshold(t), tail).unwrap();
            thresholds.iter().map(at).collect()
        })
    };
    let band = chance_of_a_correct_band(&pair, &thresholds, trials, |counted| {
        counted.simultaneous_band(&thresholds, SIGNIFICANCE).unwrap()
    });
    assert!(band >= 1.0 - SIGNIFICANCE, "all rates at once with probability {band}");
    assert_eq!(band, chance(&thresholds, 16));
    let pointwise = chance(&thresholds, 1);
    assert!(pointwise < 1.0 - SIGNIFICANCE, "a pointwise band passed: {pointwise}");
    assert!(chance(&thresholds[8..9], 1) >= 1.0 - SIGNIFICANCE);
}

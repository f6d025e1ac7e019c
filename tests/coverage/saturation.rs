//! Scores beyond the edges of a histogram: counted on their side of every cut, never cut between.

use dpscope_core::adjacency::World;
use dpscope_core::audit::AuditHistograms;
use dpscope_core::audit::bound::{Statement, ThresholdRule, at_fixed_cut, simultaneous};
use dpscope_core::audit::histogram::{ScoreBins, ScoreHistogram};
use dpscope_core::audit::trade_off::{ErrorCounts, TradeOff};
use dpscope_tests::Draws;

use crate::SIGNIFICANCE;
use crate::bounds::counted;
use crate::budget::Misses;
use crate::pairs::LaplacePair;

const UNIT: f64 = 0.01;
const PAIR: LaplacePair = LaplacePair { epsilon: 4.0 };

/// Edges from −0.5 to 4.5: three scores in ten lie outside them, all where the pair is tight.
fn narrow() -> ScoreBins {
    ScoreBins::new(UNIT, -50, 2, 127).expect("valid")
}

fn integer_scores(n: usize, draws: &mut Draws) -> [Vec<i64>; 2] {
    World::BOTH.map(|world| {
        let scores = PAIR.scores(world, n, draws);
        scores.into_iter().map(|score| (score / UNIT).round() as i64).collect()
    })
}

fn histograms(bins: &ScoreBins, [d, d_prime]: &[Vec<i64>; 2]) -> [ScoreHistogram; 2] {
    [d, d_prime].map(|scores| {
        let mut histogram = ScoreHistogram::empty(bins);
        scores.iter().for_each(|&score| histogram.add(bins, score));
        histogram
    })
}

fn sorted([d, d_prime]: &[Vec<i64>; 2]) -> TradeOff {
    let nats = |scores: &[i64]| scores.iter().map(|&s| s as f64 * UNIT).collect::<Vec<f64>>();
    counted(&nats(d), &nats(d_prime))
}

/// Errors at every edge, of a histogram and of the sorted scores.
fn differ(binned: &[(f64, ErrorCounts)], sorted: &TradeOff) -> bool {
    binned.iter().any(|&(threshold, errors)| errors != sorted.at_threshold(threshold).errors)
}

#[test]
fn saturated_histograms_match_sorting() {
    let bins = narrow();
    let scores = integer_scores(5000, &mut Draws::of_run(401, 0));
    let [d, d_prime] = histograms(&bins, &scores);
    let outside = [&d, &d_prime].map(|h| h.saturated().0 + h.saturated().1);
    assert!(outside.iter().all(|&n| n > 1000), "{outside:?}");
    let (binned, exact) =
        (TradeOff::from_histograms(&bins, &d, &d_prime).unwrap(), sorted(&scores));
    let seen: Vec<(f64, ErrorCounts)> =
        binned.cuts().map(|cut| (cut.threshold, cut.errors)).collect();
    assert_eq!(seen.len(), bins.edges());
    assert!(!differ(&seen, &exact));
    let thresholds: Vec<f64> = seen.iter().map(|cut| cut.0).step_by(9).collect();
    let bound = |counted| simultaneous(counted, &thresholds, 0.0, SIGNIFICANCE).unwrap().value();
    assert!(bound(&binned) > 3.0 && bound(&binned) == bound(&exact));

    let (n, d_prime) = (d_prime.total(), d_prime.counts());
    let twins: [(&str, &dyn Fn(usize) -> u64); 2] = [
        ("the bin above counted below", &|edge| n - d_prime[..=edge + 1].iter().sum::<u64>()),
        ("no scores above the edges", &|edge| d_prime[edge + 1..bins.edges()].iter().sum()),
    ];
    for (name, false_positives) in twins {
        let edge = |(edge, &(threshold, errors)): (usize, &(f64, ErrorCounts))| {
            (threshold, ErrorCounts { false_positives: false_positives(edge), ..errors })
        };
        let twin: Vec<(f64, ErrorCounts)> = seen.iter().enumerate().map(edge).collect();
        assert!(differ(&twin, &exact), "{name}");
    }
}

#[test]
fn no_cut_lies_inside_an_end_bin() {
    let bins = narrow();
    let scores = integer_scores(3000, &mut Draws::of_run(402, 0));
    let of = |scores: &[Vec<i64>; 2]| {
        let [d, d_prime] = histograms(&bins, scores);
        TradeOff::from_histograms(&bins, &d, &d_prime).unwrap()
    };
    let all = of(&scores);
    assert!(all.cuts().all(|cut| (-0.51..=4.5).contains(&cut.threshold)));
    // Where in an end bin a score lies makes no difference, to counts or to thresholds beyond it.
    let far = scores.clone().map(|world| {
        let push = |s: i64| {
            if s < -50 {
                i64::MIN
            } else if s >= 450 {
                i64::MAX
            } else {
                s
            }
        };
        world.into_iter().map(push).collect::<Vec<i64>>()
    });
    assert_eq!(of(&far), all);
    for beyond in [4.6, 1e9, f64::INFINITY] {
        assert_eq!(all.at_threshold(beyond).errors, all.cut(bins.edges() - 1).errors);
    }
    for below in [-0.6, -1e9, f64::NEG_INFINITY] {
        assert_eq!(all.at_threshold(below).errors, all.cut(0).errors);
    }
}

/// Bounds from saturated histograms exceed the truth in fewer than 1 % of runs; without the
/// saturated scores of D′, in three runs of four.
#[test]
fn saturated_histograms_cover_and_dropped_scores_do_not() {
    let bins = narrow();
    let thresholds: Vec<f64> =
        (0..bins.edges()).step_by(9).map(|edge| bins.threshold(edge)).collect();
    let [mut simultaneous, mut split, mut dropped] = [Misses::default(); 3];
    for run in 0..700 {
        let scores = integer_scores(2000, &mut Draws::of_run(403, run));
        let mut audit = AuditHistograms::empty(&bins);
        for (world, scores) in World::BOTH.into_iter().zip(&scores) {
            for (observation, &score) in scores.iter().enumerate() {
                audit.add(&bins, world, observation as u64, score);
            }
        }
        let value = |rule| {
            let level = Statement { delta: 0.0, significance: SIGNIFICANCE };
            audit.evaluate(&bins, rule, &thresholds, level, true).unwrap().value()
        };
        simultaneous.count(value(ThresholdRule::Simultaneous) > PAIR.epsilon);
        split.count(value(ThresholdRule::Split) > PAIR.epsilon);

        let all = audit.trade_off(&bins).unwrap();
        let mut cut = all.at_threshold(PAIR.epsilon);
        let above = audit.whole(World::ZeroOut).unwrap().saturated().1;
        cut.errors.false_positives -= above.min(cut.errors.false_positives);
        let bound = at_fixed_cut(cut, all.trials(), 0.0, SIGNIFICANCE).unwrap();
        dropped.count(bound.value() > PAIR.epsilon);
    }
    assert!(simultaneous.stay_below(SIGNIFICANCE), "{simultaneous:?}");
    assert!(split.stay_below(SIGNIFICANCE), "{split:?}");
    assert!(dropped.refute(SIGNIFICANCE), "dropped scores passed: {dropped:?}");
}

//! ε from observed rates without limits, and its bootstrap quantiles.

use crate::adjacency::World;
use crate::audit::bound::Statement;
use crate::audit::trade_off::{Cut, ErrorCounts, TradeOff, Trials};
use crate::math::{exp, ln};
use crate::random::{Purpose, Words};
use crate::special::ln_binomial_pmf;

/// Errors that a rate in a denominator must have where the best of many thresholds is taken.
const FEWEST_ERRORS: u64 = 50;

/// Resamples of the bootstrap.
const RESAMPLES: u32 = 400;

/// The largest ratio of observed rates, with bootstrap quantiles: an estimate, never a bound.
///
/// ε̂ = max over thresholds of ln((TPR − δ)/FPR) where FP ≥ 50 and ln((TNR − δ)/FNR) where FN ≥ 50,
/// at least 0; one error suffices at a single threshold. The quantiles describe how ε̂ varies from data set to data set, not where ε lies:
/// the maximum over thresholds is biased upward, the minimum of 50 errors downward, and a bootstrap
/// repeats both.
///
/// # Numerics
/// Thresholds are those at geometrically spaced ranks of both worlds. A resample draws the
/// multinomial counts between them, each binomial by inversion from its mode.
///
/// # Reference
/// B. Efron, "Bootstrap methods: another look at the jackknife" (1979), percentile intervals; the
/// estimate as `epsilon_raw_counts` of jax-privacy 2.0.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlugInEpsilon {
    /// Estimate of ε, in nats.
    pub value: f64,
    /// The significance/2 quantile of the resamples.
    pub bootstrap_low: f64,
    /// The 1 − significance/2 quantile of the resamples.
    pub bootstrap_high: f64,
    /// Number of resamples.
    pub resamples: u32,
    /// Errors that a rate in a denominator must have.
    pub fewest_errors: u64,
}

impl PlugInEpsilon {
    pub(super) fn of_trade_off(all: &TradeOff, statement: Statement, seed: u64) -> Option<Self> {
        Self::of_cuts(&few_cuts(all), FEWEST_ERRORS, all.trials(), statement, seed)
    }

    pub(super) fn of_cut(
        cut: Cut,
        trials: Trials,
        statement: Statement,
        seed: u64,
    ) -> Option<Self> {
        Self::of_cuts(&[cut], 1, trials, statement, seed)
    }

    /// From cuts by rising threshold; none if no rate has enough errors.
    fn of_cuts(
        cuts: &[Cut],
        fewest_errors: u64,
        trials: Trials,
        statement: Statement,
        seed: u64,
    ) -> Option<Self> {
        let Statement { delta, significance } = statement;
        let value = estimate(cuts.iter().map(|cut| cut.errors), fewest_errors, trials, delta)?;
        let resampled = (0..RESAMPLES).map(|resample| {
            let draw = |world| redrawn(cuts, trials, world, seed, resample);
            let [target, zero_out] = World::BOTH.map(draw);
            let errors =
                target.iter().zip(&zero_out).map(|(&below, &below_zero_out)| ErrorCounts {
                    false_negatives: below,
                    false_positives: trials.zero_out - below_zero_out,
                });
            estimate(errors, fewest_errors, trials, delta).unwrap_or(0.0)
        });
        let mut values: Vec<f64> = resampled.collect();
        values.sort_unstable_by(f64::total_cmp);
        let quantile = |share: f64| {
            let rank = (share * f64::from(RESAMPLES)).ceil() as usize;
            values[rank.clamp(1, values.len()) - 1]
        };
        Some(PlugInEpsilon {
            value,
            bootstrap_low: quantile(significance / 2.0),
            bootstrap_high: quantile(1.0 - significance / 2.0),
            resamples: RESAMPLES,
            fewest_errors,
        })
    }
}

/// ε̂ of the counts at several thresholds; none if no rate has enough errors.
fn estimate(
    errors: impl Iterator<Item = ErrorCounts>,
    fewest_errors: u64,
    trials: Trials,
    delta: f64,
) -> Option<f64> {
    let rate = |events: u64, trials: u64| events as f64 / trials as f64;
    let ratio = |hits: f64, events: u64, trials: u64| {
        let is_usable = events >= fewest_errors;
        is_usable
            .then(|| if hits > delta { ln((hits - delta) / rate(events, trials)) } else { 0.0 })
    };
    let both = errors.flat_map(|ErrorCounts { false_positives: fp, false_negatives: fn_ }| {
        let tpr = rate(trials.target - fn_, trials.target);
        let tnr = rate(trials.zero_out - fp, trials.zero_out);
        [ratio(tpr, fp, trials.zero_out), ratio(tnr, fn_, trials.target)]
    });
    both.flatten().reduce(f64::max).map(|epsilon| epsilon.max(0.0))
}

/// Cuts at ranks of both worlds from both ends, each rank a sixteenth above the last.
pub(super) fn few_cuts(all: &TradeOff) -> Vec<Cut> {
    let Trials { target, zero_out } = all.trials();
    let mut indices = Vec::new();
    let mut rank = 1;
    while rank <= target.max(zero_out) {
        let first = |holds: &dyn Fn(ErrorCounts) -> bool| all.first_cut_where(holds);
        indices.extend([
            first(&|errors| errors.false_negatives >= rank),
            first(&|errors| target - errors.false_negatives < rank),
            first(&|errors| zero_out - errors.false_positives >= rank),
            first(&|errors| errors.false_positives < rank),
        ]);
        rank += (rank / 16).max(1);
    }
    indices.extend([0, all.cut_count()]);
    indices.sort_unstable();
    indices.dedup();
    indices.into_iter().map(|index| all.cut(index)).collect()
}

/// Resampled counts of one world at or below each cut.
fn redrawn(cuts: &[Cut], trials: Trials, world: World, seed: u64, resample: u32) -> Vec<u64> {
    let (below, all): (fn(&Cut, Trials) -> u64, u64) = match world {
        World::Target => (|cut, _| cut.errors.false_negatives, trials.target),
        World::ZeroOut => {
            (|cut, trials| trials.zero_out - cut.errors.false_positives, trials.zero_out)
        }
    };
    let stream = 2 * u64::from(resample) + world.index() as u64;
    let mut words = Words::new(seed, Purpose::Bootstrap, stream);
    let (mut seen, mut drawn) = (0, 0);
    let at = |cut: &Cut| {
        let cell = below(cut, trials) - seen;
        // given those below: binomial among the observations that are left
        let share = cell as f64 / (all - seen).max(1) as f64;
        drawn += binomial(all - drawn, share, &mut words);
        seen += cell;
        drawn
    };
    cuts.iter().map(at).collect()
}

/// A binomial draw by inversion: from the mode outward, until the probabilities exceed a uniform
/// number.
///
/// `rand_distr` would bring the platform's own elementary functions, and other bits with them.
fn binomial(trials: u64, probability: f64, words: &mut Words) -> u64 {
    if trials == 0 || probability <= 0.0 {
        return 0;
    }
    if probability >= 1.0 {
        return trials;
    }
    let odds = probability / (1.0 - probability);
    let mode = (((trials + 1) as f64 * probability) as u64).min(trials);
    let at_mode = ln_binomial_pmf(mode, trials, probability).map_or(0.0, exp);
    let mut rest = words.uniform() - at_mode;
    let (mut low, mut high) = (mode, mode);
    let (mut below, mut above) = (at_mode, at_mode);
    while rest > 0.0 {
        if high < trials {
            above *= odds * (trials - high) as f64 / (high + 1) as f64;
            high += 1;
            rest -= above;
            if rest <= 0.0 {
                return high;
            }
        }
        if low > 0 {
            below *= low as f64 / (odds * (trials - low + 1) as f64);
            low -= 1;
            rest -= below;
            if rest <= 0.0 {
                return low;
            }
        }
        let is_exhausted = (high == trials || above == 0.0) && (low == 0 || below == 0.0);
        if is_exhausted {
            return mode;
        }
    }
    mode
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::normal_quantile;

    const AT: Statement = Statement { delta: 1e-5, significance: 0.05 };

    #[test]
    fn binomial_draws_have_the_mean_and_variance_of_the_distribution() {
        for (trials, probability) in
            [(1, 0.3), (40, 0.02), (1000, 0.5), (1_000_000, 0.0004), (900, 0.999)]
        {
            let mut words = Words::new(1, Purpose::Test, trials);
            let draws: Vec<f64> =
                (0..4000).map(|_| binomial(trials, probability, &mut words) as f64).collect();
            let mean = draws.iter().sum::<f64>() / 4000.0;
            let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 4000.0;
            let expected = trials as f64 * probability * (1.0 - probability);
            let error = (expected / 4000.0).sqrt();
            assert!((mean - trials as f64 * probability).abs() < 5.0 * error, "{trials}: {mean}");
            // the kurtosis is at most 3 + 1/variance
            let error = expected * ((2.0 + 1.0 / expected) / 4000.0).sqrt();
            assert!((variance - expected).abs() < 5.0 * error, "{trials}: {variance} {expected}");
        }
        let mut words = Words::new(1, Purpose::Test, 0);
        assert_eq!(
            [(0, 0.5), (9, 0.0), (9, 1.0)].map(|(n, p)| binomial(n, p, &mut words)),
            [0, 0, 9]
        );
    }

    #[test]
    fn quantiles_are_those_of_new_data_sets() {
        // P(S > 0) = 0.8413 and P(S′ > 0) = 0.1587: ln of their ratio has the standard deviation
        // √(0.1587/(0.8413 n) + 0.8413/(0.1587 n)) by the delta method.
        let n = 4000;
        let errors = ErrorCounts { false_positives: 635, false_negatives: 635 };
        let trials = Trials { target: n, zero_out: n };
        let cut = Cut { threshold: 0.0, errors };
        let found = PlugInEpsilon::of_cut(cut, trials, AT, 3).unwrap();
        let rate = 635.0 / n as f64;
        assert!((found.value - ln((1.0 - rate - 1e-5) / rate)).abs() < 1e-12);
        let deviation = ((rate / (1.0 - rate) + (1.0 - rate) / rate) / n as f64).sqrt();
        let width = found.bootstrap_high - found.bootstrap_low;
        // the larger of two directions, whose values are almost independent: a narrower interval
        let relative = width / (2.0 * 1.96 * deviation);
        assert!((0.7..1.1).contains(&relative), "{found:?} {relative}");
        let other = PlugInEpsilon::of_cut(cut, trials, AT, 4).unwrap();
        assert!(other.bootstrap_low != found.bootstrap_low && other.value == found.value);
    }

    #[test]
    fn a_few_cuts_find_the_largest_ratio() {
        let scores = |mean: f64, n: u32| -> Vec<f64> {
            let quantile = |i| normal_quantile((f64::from(i) + 0.5) / f64::from(n)).unwrap();
            (0..n).map(|i| mean + quantile(i)).collect()
        };
        for n in [200, 6000] {
            let all = TradeOff::from_scores(scores(1.0, n), scores(0.0, n)).unwrap();
            let few = few_cuts(&all);
            assert!(few.len() < 700 && few.is_sorted_by(|a, b| a.threshold <= b.threshold));
            let value = |cuts: &mut dyn Iterator<Item = Cut>| {
                estimate(cuts.map(|cut| cut.errors), FEWEST_ERRORS, all.trials(), 1e-5).unwrap()
            };
            let (found, every) = (value(&mut few.into_iter()), value(&mut all.cuts()));
            assert!(found <= every && found > 0.97 * every, "{n}: {found} {every}");
        }
        let few = TradeOff::from_scores([1.0; 49], [0.0; 49]).unwrap();
        assert_eq!(PlugInEpsilon::of_trade_off(&few, AT, 1), None);
    }
}

//! Pairs of one observation of each world, by which of them has the higher score.

use super::{Source, TradeOff};

/// Pairs of one observation of D and one of D′.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::audit) struct OrderedPairs {
    /// The observation of D has the higher score.
    pub(in crate::audit) above: u128,
    /// The two scores are equal.
    pub(in crate::audit) tied: u128,
    /// The two scores are in one bin of a histogram: their order is unknown.
    pub(in crate::audit) unresolved: u128,
    /// All pairs.
    pub(in crate::audit) all: u128,
}

impl TradeOff {
    /// Counts the pairs. A failed run is the lower one in D and the higher one in D′.
    pub(in crate::audit) fn ordered_pairs(&self) -> OrderedPairs {
        let trials = self.trials();
        let product = |a: u64, b: u64| u128::from(a) * u128::from(b);
        let (mut above, mut tied, mut unresolved) = (0, 0, 0);
        match &self.source {
            Source::Edges(cuts) => {
                let (mut fp, mut fn_) = (trials.zero_out, 0);
                for cut in cuts {
                    let here = fp - cut.errors.false_positives;
                    above += product(here, trials.target - cut.errors.false_negatives);
                    unresolved += product(here, cut.errors.false_negatives - fn_);
                    (fp, fn_) = (cut.errors.false_positives, cut.errors.false_negatives);
                }
                unresolved += product(fp, trials.target - fn_);
            }
            Source::Scores(worlds) => {
                let [target, zero_out] = worlds.ordered();
                let (mut below, mut not_above) = (0, 0);
                for score in zero_out {
                    while target.get(below).is_some_and(|s| s < score) {
                        below += 1;
                    }
                    not_above = not_above.max(below);
                    while target.get(not_above).is_some_and(|s| s <= score) {
                        not_above += 1;
                    }
                    above += (target.len() - not_above) as u128;
                    tied += (not_above - below) as u128;
                }
            }
        }
        OrderedPairs { above, tied, unresolved, all: product(trials.target, trials.zero_out) }
    }
}

impl TradeOff {
    /// Whether the order of a few thousand blocks shows that D is higher in at least half of the pairs; false if
    /// they leave it open.
    pub(in crate::audit) fn is_above_in_half(&self) -> bool {
        let Source::Scores(worlds) = &self.source else { return false };
        let trials = self.trials();
        let least: u128 = if let Some(coarse) = self.coarse() {
            coarse.ordered_pairs().above
        } else {
            let [target, zero_out] = worlds.ordered();
            let above = |block: &[f64]| {
                let highest = block.last().copied().unwrap_or(f64::INFINITY);
                let not_above = target.partition_point(|&score| score <= highest);
                block.len() as u128 * (target.len() - not_above) as u128
            };
            zero_out.chunks((zero_out.len() / 4096).max(1)).map(above).sum()
        };
        2 * least >= u128::from(trials.target) * u128::from(trials.zero_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::histogram::{ScoreBins, ScoreHistogram};

    fn brute(target: &[f64], zero_out: &[f64]) -> OrderedPairs {
        let pairs = || target.iter().flat_map(|t| zero_out.iter().map(move |z| (*t, *z)));
        let finite = |&(t, z): &(f64, f64)| t.is_finite() && z.is_finite();
        OrderedPairs {
            above: pairs().filter(finite).filter(|(t, z)| t > z).count() as u128,
            tied: pairs().filter(finite).filter(|(t, z)| t == z).count() as u128,
            unresolved: 0,
            all: pairs().count() as u128,
        }
    }

    #[test]
    fn pairs_equal_those_counted_one_by_one() {
        let scores = |n: usize, step: usize| -> Vec<f64> {
            (0..n).map(|i| (i * step % 23) as f64 / 4.0).collect()
        };
        for (n, m) in [(1, 1), (7, 40), (40, 7), (60, 60)] {
            let (mut target, zero_out) = (scores(n, 7), scores(m, 11));
            let counted = TradeOff::from_scores(&target[..], &zero_out[..]).unwrap();
            assert_eq!(counted.ordered_pairs(), brute(&target, &zero_out));
            target[0] = f64::NAN;
            let counted = TradeOff::from_scores(&target[..], &zero_out[..]).unwrap();
            assert_eq!(counted.ordered_pairs(), brute(&target, &zero_out));
            let reversed = TradeOff::from_scores(&zero_out[..], &target[..]).unwrap();
            assert_eq!(reversed.ordered_pairs(), brute(&zero_out, &target));
        }
    }

    #[test]
    fn searches_agree_with_the_pairs() {
        let zero_out: Vec<f64> = (0..20_000).map(|i| f64::from(i * 7919 % 20_000)).collect();
        for (shift, expected) in [(-3000.0, false), (0.0, false), (3000.0, true), (3e4, true)] {
            let target: Vec<f64> = zero_out.iter().map(|score| score + shift).collect();
            let seen = TradeOff::from_scores(&target[..], &zero_out[..]).unwrap();
            let OrderedPairs { above, all, .. } = seen.ordered_pairs();
            assert_eq!(seen.is_above_in_half(), expected, "{shift}");
            assert!(!expected || 2 * above >= all);
        }
    }

    #[test]
    fn pairs_of_histograms_are_those_of_their_bins() {
        let bins = ScoreBins::new(1.0, 0, 0, 9).unwrap();
        let (mut d, mut d_prime) = (ScoreHistogram::empty(&bins), ScoreHistogram::empty(&bins));
        let (target, zero_out) = ([-3, 1, 4, 4, 5, 30, 30], [-9, 0, 1, 4, 7, 40]);
        target.iter().for_each(|&score| d.add(&bins, score));
        zero_out.iter().for_each(|&score| d_prime.add(&bins, score));
        let seen = TradeOff::from_histograms(&bins, &d, &d_prime).unwrap().ordered_pairs();
        let bin = |score: &i64| bins.bin(*score);
        let pairs = || target.iter().flat_map(|t| zero_out.iter().map(move |z| (bin(t), bin(z))));
        let expected = OrderedPairs {
            above: pairs().filter(|(t, z)| t > z).count() as u128,
            tied: 0,
            unresolved: pairs().filter(|(t, z)| t == z).count() as u128,
            all: 42,
        };
        assert!(expected.unresolved >= 4, "both ends and the middle hold ties");
        assert_eq!(seen, expected);
    }
}

//! Whether coins are fair and independent of what was known before the training.

use super::canary_scores::{Units, ascending_places};
use super::{CanaryError, CanaryFeature, CanaryScores, OneRunFinding};
use crate::math;
use crate::special::BetaDistribution;

/// Coins that are as unbalanced by chance are refused.
const UNBALANCED: f64 = 1e-9;
/// Coins and scores that follow the order of the file by chance are reported.
pub(super) const ORDERED: f64 = 1e-6;
/// Above this share, ties are reported.
pub(in crate::audit) const NOTABLE_TIES: f64 = 0.5;
/// Chance of a false refusal by all features together.
const DIFFERENT: f64 = 1e-4;
/// Normal quantile of a chance of 5·10⁻⁴.
const REVERSED: f64 = -3.29;
/// Chance of a false refusal by the scores of all runs together.
const MISPLACED: f64 = 1e-5;
/// Distances along the file at which coins are compared.
const LAGS: usize = 8;

/// A two-sided test of ranks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RankTest {
    /// Share of the pairs of an included and another canary in which the included one has the larger
    /// value, ties counted half.
    pub(super) auc: f64,
    /// Standard normal under fair coins; positive where included canaries have larger values.
    pub(super) z: f64,
}

impl RankTest {
    fn reversed(self) -> Option<OneRunFinding> {
        let is_reversed = self.z < REVERSED;
        is_reversed.then_some(OneRunFinding::ScoresReversed { auc: self.auc })
    }
}

impl CanaryScores<'_> {
    /// Refuses coins of another probability than the stated one, two-sided binomial p below 10⁻⁹.
    pub(super) fn check_balance(&self) -> Result<(), CanaryError> {
        let canaries = self.coins.len() as u64;
        let included = self.coins.iter().filter(|&&coin| coin).count() as u64;
        let p_value = two_sided_binomial(included, canaries, self.inclusion);
        let is_fair = self.units != Units::Coins || p_value >= UNBALANCED;
        if is_fair {
            return Ok(());
        }
        let inclusion = self.inclusion;
        Err(CanaryError::Unbalanced { included, canaries, inclusion, p_value })
    }

    /// Refuses canaries whose coins follow a feature; the chance of a false refusal is 10⁻⁴ for all
    /// features together.
    pub(super) fn check_features(
        &self,
        features: &[(CanaryFeature, &[f64])],
    ) -> Result<(), CanaryError> {
        let index: Vec<f64> = (0..self.coins.len()).map(|index| index as f64).collect();
        let all = features.iter().copied().chain([(CanaryFeature::Index, &index[..])]);
        for (feature, values) in all {
            let (found, expected) = (values.len(), self.coins.len());
            if found != expected {
                let what = "values of a feature";
                return Err(CanaryError::Length { what, found, expected });
            }
            let p_value = self.difference(values);
            if p_value < DIFFERENT / (features.len() + 1) as f64 {
                return Err(CanaryError::DifferBefore { feature, p_value });
            }
        }
        Ok(())
    }

    /// Chance of so large a difference between included and other canaries, in either direction.
    fn difference(&self, values: &[f64]) -> f64 {
        match &self.units {
            Units::Sets { members, set_size: 2, is_matching: false } => {
                let larger = |pair: &[usize]| {
                    let included = usize::from(self.coins[pair[1]]);
                    let (one, other) = (values[pair[included]], values[pair[1 - included]]);
                    (one != other).then_some(one > other)
                };
                let signs: Vec<bool> = members.chunks(2).filter_map(larger).collect();
                let larger = signs.iter().filter(|&&sign| sign).count() as u64;
                fair_two_sided(larger, signs.len() as u64)
            }
            _ => rank_test(values, self.coins).map_or(1.0, |test| two_sided(test.z)),
        }
    }

    /// The smallest chance, over distances of 1 to 8, of so few or many equal neighbours with fair coins.
    ///
    /// Coins at a distance agree as often as fair coins show heads, exactly. Of other coins, disjoint
    /// pairs are compared, whose agreements are independent, too. Of sets, the places of their included
    /// canaries are compared, and the number at each place.
    pub(super) fn order_of_coins(&self) -> f64 {
        if let Units::Sets { members, set_size, is_matching: false } = &self.units {
            return self.order_of_places(members, *set_size);
        }
        let p_value = |lag: usize| {
            let is_counted =
                |&first: &usize| self.inclusion == 0.5 || (first / lag).is_multiple_of(2);
            let pairs: Vec<usize> =
                (0..self.coins.len().saturating_sub(lag)).filter(is_counted).collect();
            let is_equal = |&&first: &&usize| self.coins[first] == self.coins[first + lag];
            let equal = pairs.iter().filter(is_equal).count() as u64;
            let included = self.inclusion;
            let agreement = included * included + (1.0 - included) * (1.0 - included);
            two_sided_binomial(equal, pairs.len() as u64, agreement)
        };
        (1..=LAGS).map(p_value).fold(1.0, f64::min)
    }

    /// The smallest chance, over distances and places, of so few or many equal places of the included
    /// canary among uniform and independent ones.
    fn order_of_places(&self, members: &[usize], set_size: usize) -> f64 {
        let place = |set: &[usize]| set.iter().position(|&canary| self.coins[canary]);
        let places: Vec<Option<usize>> = members.chunks(set_size).map(place).collect();
        let share = 1.0 / set_size as f64;
        let equal = |lag: usize| {
            let pairs = places.iter().zip(places.iter().skip(lag));
            let equal = pairs.clone().filter(|(one, other)| one == other).count() as u64;
            two_sided_binomial(equal, pairs.count() as u64, share)
        };
        let at_place = |place: usize| {
            let found = places.iter().filter(|&&found| found == Some(place)).count() as u64;
            two_sided_binomial(found, places.len() as u64, share)
        };
        let of_places = (0..set_size).map(at_place).fold(1.0, f64::min);
        (1..=LAGS).map(equal).fold(of_places, f64::min)
    }

    /// Spearman's correlation of scores and index, and its two-sided p-value.
    pub(super) fn correlation_with_index(&self) -> (f64, f64) {
        let known: Vec<f64> = self.scores.iter().copied().filter(|score| !score.is_nan()).collect();
        let ranks = centred_ranks(&known);
        let middle = (known.len() as f64 - 1.0) / 2.0;
        let product: f64 =
            ranks.iter().zip(0_u32..).map(|(r, i)| r * (f64::from(i) - middle)).sum();
        let squares: f64 = ranks.iter().map(|rank| rank * rank).sum();
        let n = known.len() as f64;
        let correlation = product / (squares * n * (n * n - 1.0) / 12.0).sqrt();
        (correlation, two_sided(correlation * (n - 1.0).sqrt()))
    }

    /// Share of the canaries whose score another one has, too.
    pub(super) fn share_of_ties(&self) -> f64 {
        share_of_ties(self.scores)
    }

    /// Reports included canaries whose scores are lower than those of the others.
    pub(super) fn reversed(&self) -> Option<OneRunFinding> {
        self.ranks_of_scores().and_then(RankTest::reversed)
    }

    /// The scores against the coins; none if all canaries are included, or none.
    pub(super) fn ranks_of_scores(&self) -> Option<RankTest> {
        let known: Vec<usize> =
            (0..self.scores.len()).filter(|&canary| !self.scores[canary].is_nan()).collect();
        let scores: Vec<f64> = known.iter().map(|&canary| self.scores[canary]).collect();
        let coins: Vec<bool> = known.iter().map(|&canary| self.coins[canary]).collect();
        rank_test(&scores, &coins)
    }
}

/// Refuses scores that are given for two runs, and scores that do not follow their own coins but those
/// of another run, whose scores do not follow them either.
///
/// The chance of a false refusal is 10⁻⁵ for all runs together, by Hoeffding's inequality for coins
/// that are independent of the scores. A run that starts from the model of another one may follow
/// the coins of both.
pub(super) fn check_order(runs: &[CanaryScores<'_>]) -> Result<(), CanaryError> {
    let pairs = (runs.len() * runs.len()) as f64;
    let ranks: Vec<Vec<f64>> = runs.iter().map(|run| centred_ranks(run.scores)).collect();
    let square = |ranks: &Vec<f64>| ranks.iter().map(|rank| rank * rank).sum();
    let squares: Vec<f64> = ranks.iter().map(square).collect();
    let follows = |run: usize, other: usize| {
        let (ranks, coins) = (&ranks[run], runs[other].coins);
        if runs[run].units != Units::Coins || coins.len() != ranks.len() {
            return false;
        }
        let included = ranks.iter().zip(coins).filter(|(_, coin)| **coin);
        let sum: f64 = included.map(|(rank, _)| rank).sum();
        sum > 0.0 && pairs * math::exp(-2.0 * sum * sum / squares[run]) < MISPLACED
    };
    let own: Vec<bool> = (0..runs.len()).map(|run| follows(run, run)).collect();
    for run in 0..runs.len() {
        let is_same = |&other: &usize| {
            squares[run] > 0.0
                && squares[run] == squares[other]
                && runs[run].scores == runs[other].scores
                && runs[run].coins != runs[other].coins
        };
        if let Some(first) = (0..run).find(is_same) {
            return Err(CanaryError::SameScores { first: first + 1, second: run + 1 });
        }
        let is_from = |&other: &usize| !own[other] && follows(run, other);
        if !own[run]
            && let Some(coins) = (0..runs.len()).find(is_from)
        {
            return Err(CanaryError::OtherRun { scores: run + 1, coins: coins + 1 });
        }
    }
    Ok(())
}

/// Share of the scores that another one equals.
pub(in crate::audit) fn share_of_ties(scores: &[f64]) -> f64 {
    let mut sorted: Vec<f64> = scores.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let groups = sorted.chunk_by(|one, other| one == other).map(<[f64]>::len);
    groups.filter(|&length| length > 1).sum::<usize>() as f64 / scores.len() as f64
}

/// Reports included canaries whose scores are lower than those of the others.
pub(in crate::audit) fn reversed_finding(scores: &[f64], coins: &[bool]) -> Option<OneRunFinding> {
    rank_test(scores, coins).and_then(RankTest::reversed)
}

/// Wilcoxon's rank sum of the included canaries, with the variance of a random order of these ranks.
fn rank_test(values: &[f64], coins: &[bool]) -> Option<RankTest> {
    let ranks = centred_ranks(values);
    let n = ranks.len() as f64;
    let included = coins.iter().filter(|&&coin| coin).count() as f64;
    let others = n - included;
    if included < 1.0 || others < 1.0 {
        return None;
    }
    let pairs = ranks.iter().zip(coins).filter(|(_, coin)| **coin);
    let sum: f64 = pairs.map(|(rank, _)| rank).sum();
    let squares: f64 = ranks.iter().map(|rank| rank * rank).sum();
    let variance = included * others * squares / (n * (n - 1.0));
    let z = if variance > 0.0 { sum / variance.sqrt() } else { 0.0 };
    Some(RankTest { auc: 0.5 + sum / (included * others), z })
}

/// Ranks less their mean; equal values share the mean of their ranks, and NaN has rank 0.
fn centred_ranks(values: &[f64]) -> Vec<f64> {
    let order = ascending_places(values.iter().copied());
    let middle = (order.len() as f64 - 1.0) / 2.0;
    let (mut ranks, mut start) = (vec![0.0; values.len()], 0);
    for equal in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let rank = start as f64 + (equal.len() as f64 - 1.0) / 2.0 - middle;
        equal.iter().for_each(|&place| ranks[place] = rank);
        start += equal.len();
    }
    ranks
}

/// P\[|Z| ≥ |z|\] of a standard normal Z.
fn two_sided(z: f64) -> f64 {
    math::erfc(z.abs() / std::f64::consts::SQRT_2)
}

/// Twice the smaller tail of Bin(n, ½), at most 1.
fn fair_two_sided(events: u64, trials: u64) -> f64 {
    two_sided_binomial(events, trials, 0.5)
}

/// Twice the smaller tail of Bin(n, p), at most 1.
fn two_sided_binomial(events: u64, trials: u64, probability: f64) -> f64 {
    let at_least = |events: u64, probability: f64| match events {
        0 => 1.0,
        _ => {
            let tail = BetaDistribution::new(events as f64, (trials - events) as f64 + 1.0);
            tail.and_then(|tail| tail.cdf(probability)).unwrap_or(0.5)
        }
    };
    let smaller = at_least(events, probability).min(at_least(trials - events, 1.0 - probability));
    (2.0 * smaller).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Words};

    fn fair(seed: u64, canaries: usize) -> Vec<bool> {
        let mut words = Words::new(seed, Purpose::Test, 0);
        (0..canaries).map(|_| words.next_word() & 1 == 1).collect()
    }

    fn noise(seed: u64, canaries: usize) -> Vec<f64> {
        let mut words = Words::new(seed, Purpose::Test, 1);
        (0..canaries).map(|_| words.uniform()).collect()
    }

    #[test]
    fn scores_in_another_order_than_the_coins_are_refused() {
        let coins: Vec<Vec<bool>> = (0..3).map(|seed| fair(seed, 200)).collect();
        let scores_of = |run: usize, shift: f64| -> Vec<f64> {
            let add = |(noise, &coin): (f64, &bool)| noise + if coin { shift } else { 0.0 };
            noise(10 + run as u64, 200).into_iter().zip(&coins[run]).map(add).collect()
        };
        let checked = |order: [usize; 3], shift: f64| {
            let scores = order.map(|run| scores_of(run, shift));
            let runs: Vec<CanaryScores<'_>> = (scores.iter().zip(&coins))
                .map(|(scores, coins)| CanaryScores::coins(scores, coins).unwrap())
                .collect();
            check_order(&runs)
        };
        assert_eq!(checked([0, 1, 2], 0.5), Ok(()));
        assert_eq!(checked([0, 2, 1], 0.5), Err(CanaryError::OtherRun { scores: 2, coins: 3 }));
        assert_eq!(checked([0, 1, 0], 0.5), Err(CanaryError::SameScores { first: 1, second: 3 }));
        // a run that starts from the model of the first one may follow its coins alone
        let scores = [scores_of(0, 0.5), scores_of(1, 0.5), scores_of(0, 0.4)];
        let runs: Vec<CanaryScores<'_>> = (scores.iter().zip(&coins))
            .map(|(scores, coins)| CanaryScores::coins(scores, coins).unwrap())
            .collect();
        assert_eq!(check_order(&runs), Ok(()));
        // without a leak no order is known
        assert_eq!(checked([0, 2, 1], 0.0), Ok(()));
    }

    #[test]
    fn fair_coins_pass_and_unfair_ones_are_refused() {
        for seed in 0..50 {
            let (coins, scores) = (fair(seed, 300), noise(seed, 300));
            let found = CanaryScores::coins(&scores, &coins).unwrap();
            found.check_balance().unwrap();
            found.check_features(&[(CanaryFeature::Label, &noise(seed + 99, 300))]).unwrap();
            assert!(found.order_of_coins() > ORDERED && found.correlation_with_index().1 > ORDERED);
        }
        let coins: Vec<bool> = (0..300).map(|i| i % 4 != 0).collect();
        let scores = noise(1, 300);
        let found = CanaryScores::coins(&scores, &coins).unwrap();
        assert!(matches!(found.check_balance(), Err(CanaryError::Unbalanced { .. })));
    }

    #[test]
    fn coins_of_another_probability_than_stated_are_refused() {
        let scores = noise(1, 400);
        let checked = |coins: &[bool], inclusion: f64| {
            let found = CanaryScores::coins(&scores, coins).unwrap();
            let found = found.with_inclusion_probability(inclusion).unwrap();
            (found.check_balance().is_ok(), found.order_of_coins())
        };
        let mut words = Words::new(7, Purpose::Test, 2);
        let tenth: Vec<bool> = (0..400).map(|_| words.uniform() < 0.1).collect();
        let (is_balanced, order) = checked(&tenth, 0.1);
        assert!(is_balanced && order > ORDERED, "{order}");
        assert!(!checked(&tenth, 0.5).0 && !checked(&tenth, 0.3).0);
        let periodic: Vec<bool> = (0..400).map(|i| i / 4 % 10 == 0).collect();
        let (is_balanced, order) = checked(&periodic, 0.1);
        assert!(is_balanced && order < ORDERED, "{order}");
    }

    #[test]
    fn coins_that_follow_a_feature_are_refused() {
        let (coins, scores) = (fair(3, 400), noise(3, 400));
        let found = CanaryScores::coins(&scores, &coins).unwrap();
        let labels: Vec<f64> = coins
            .iter()
            .zip(noise(4, 400))
            .map(|(&c, u)| f64::from(u < if c { 0.4 } else { 0.7 }))
            .collect();
        let refused = found.check_features(&[(CanaryFeature::Label, &labels)]).unwrap_err();
        assert!(matches!(refused, CanaryError::DifferBefore { feature: CanaryFeature::Label, .. }));
        let sorted: Vec<bool> = (0..400).map(|i| i < 190).collect();
        let found = CanaryScores::coins(&scores, &sorted).unwrap();
        let refused = found.check_features(&[]).unwrap_err();
        assert!(matches!(refused, CanaryError::DifferBefore { feature: CanaryFeature::Index, .. }));
    }

    #[test]
    fn alternating_coins_follow_the_order() {
        let coins: Vec<bool> = (0..100).map(|i| i / 2 % 2 == 0).collect();
        let scores = noise(5, 100);
        let found = CanaryScores::coins(&scores, &coins).unwrap();
        found.check_features(&[]).unwrap();
        assert!(found.order_of_coins() < ORDERED);
    }

    #[test]
    fn patterned_places_follow_the_order() {
        let order = |coins: &[bool], set_size: usize| {
            let scores = noise(6, coins.len());
            let sets: Vec<u64> = (0..coins.len()).map(|i| (i / set_size) as u64).collect();
            CanaryScores::sets(&scores, coins, &sets).unwrap().order_of_coins()
        };
        let of_places = |set_size: usize, place: &mut dyn FnMut(usize) -> usize| {
            let set = |set: usize| {
                let place = place(set);
                (0..set_size).map(move |member| member == place)
            };
            let coins: Vec<bool> = (0..120).flat_map(set).collect();
            order(&coins, set_size)
        };
        for set_size in [2, 3] {
            let mut words = Words::new(8, Purpose::Test, set_size as u64);
            let mut drawn = |_: usize| words.below(set_size as u32) as usize;
            assert!(of_places(set_size, &mut drawn) > ORDERED);
            assert!(of_places(set_size, &mut |_| 0) < ORDERED);
            assert!(of_places(set_size, &mut |set| set % set_size) < ORDERED);
        }
        // exactly half, drawn in a pattern
        let alternating: Vec<bool> = (0..100).map(|i| i % 2 == 0).collect();
        let scores = noise(5, 100);
        let matched = CanaryScores::matched(&scores, &alternating, 1).unwrap();
        assert!(matched.order_of_coins() < ORDERED);
    }

    #[test]
    fn the_rank_test_has_its_size() {
        // 2,000 runs at 5 %: 100 ± 10 rejections
        let coins: Vec<Vec<bool>> = (0..2_000).map(|seed| fair(seed, 60)).collect();
        let rejected = coins.iter().zip(0..).filter(|(coins, seed)| {
            let test = rank_test(&noise(10_000 + seed, 60), coins);
            test.is_some_and(|test| two_sided(test.z) < 0.05)
        });
        assert!((60..140).contains(&rejected.count()));
    }

    #[test]
    fn tails_of_fair_coins_are_exact() {
        assert_eq!(fair_two_sided(5, 10), 1.0);
        assert!((fair_two_sided(10, 10) - 2.0 / 1024.0).abs() < 1e-15);
        assert!((fair_two_sided(1, 10) - 22.0 / 1024.0).abs() < 1e-15);
        assert!((two_sided_binomial(3, 3, 0.1) - 2e-3).abs() < 1e-15);
        assert!((two_sided_binomial(0, 3, 0.9) - 2e-3).abs() < 1e-15);
    }
}

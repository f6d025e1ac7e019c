//! Canaries with scores and coins, ranked by confidence.

use super::{CanaryError, CanaryGame, FixedSize, InferredDraw};
use crate::random::{Purpose, Words};

/// Scores of the canaries of one run, with what was drawn for them.
///
/// Larger scores mean "more likely included". Which canaries are guessed, and in which order, follows
/// from scores and tie order alone, never from coins or from the place in a file.
#[derive(Debug, Clone)]
pub struct CanaryScores<'a> {
    pub(super) scores: &'a [f64],
    pub(super) coins: &'a [bool],
    pub(super) units: Units,
    /// Probability of inclusion of each canary with a coin of its own.
    pub(super) inclusion: f64,
    /// The number of included canaries, if it may have been fixed.
    pub(super) fixed_size: Option<FixedSize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Units {
    /// Each canary has a coin of its own.
    Coins,
    /// One of each set is included; canaries by set, sets in order.
    Sets { members: Vec<usize>, set_size: usize, is_matching: bool },
}

/// A guess, in the order of confidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankedGuess {
    /// The guessed canary; of a set, the one that is guessed to be included.
    pub canary: usize,
    /// Whether the guess is "included"; always for sets.
    pub is_included: bool,
    /// Whether the coin agrees; never for a canary whose score is NaN.
    pub is_correct: bool,
}

impl<'a> CanaryScores<'a> {
    /// m canaries, each with a fair coin.
    ///
    /// # Errors
    /// [`CanaryError::Length`], [`CanaryError::TooFew`], [`CanaryError::Constant`],
    /// [`CanaryError::Infinite`], [`CanaryError::NotANumber`] above 1 % NaN.
    pub fn coins(scores: &'a [f64], coins: &'a [bool]) -> Result<Self, CanaryError> {
        Self::new(scores, coins, Units::Coins)
    }

    /// Sets the probability with which each of these canaries was included, which is known.
    ///
    /// Coins that are not fair have a bound for guesses of one side.
    ///
    /// # Errors
    /// [`OneRunError::Inclusion`](super::OneRunError::Inclusion) outside (0, 1),
    /// [`CanaryError::SidesOfSets`].
    pub fn with_inclusion_probability(self, inclusion: f64) -> Result<Self, CanaryError> {
        if !(inclusion > 0.0 && inclusion < 1.0) {
            return Err(super::OneRunError::Inclusion { inclusion }.into());
        }
        match self.units {
            Units::Coins => Ok(Self { inclusion, ..self }),
            Units::Sets { .. } => Err(CanaryError::SidesOfSets),
        }
    }

    /// These canaries without the statement that their coins are independent.
    ///
    /// If the number of included canaries is as close to its mean as in a draw without replacement,
    /// bounds allow for such a draw ([`FixedSize`]), provided it was uniform over all subsets of this
    /// size. Call this after [`CanaryScores::with_inclusion_probability`]. Sets are not changed.
    #[must_use]
    pub fn with_unknown_draw(self) -> Self {
        let canaries = self.coins.len() as u64;
        let included = self.coins.iter().filter(|&&coin| coin).count() as u64;
        let is_suspected =
            !self.is_sets() && FixedSize::is_suspected(canaries, included, self.inclusion);
        // with all or none included, a test of coins rejects nothing
        let fixed_size = FixedSize::new(canaries, included).ok().filter(|_| is_suspected);
        Self { fixed_size, ..self }
    }

    /// Sets of canaries of which exactly one is included, by the number of each canary's set.
    ///
    /// # Errors
    /// As [`CanaryScores::coins`], and [`CanaryError::Set`], [`CanaryError::SetSize`].
    pub fn sets(scores: &'a [f64], coins: &'a [bool], sets: &[u64]) -> Result<Self, CanaryError> {
        check_length("set numbers", sets.len(), scores.len())?;
        check_length("coins", coins.len(), scores.len())?;
        let mut members: Vec<usize> = (0..sets.len()).collect();
        members.sort_by_key(|&canary| (sets[canary], canary));
        let groups: Vec<&[usize]> =
            members.chunk_by(|&one, &other| sets[one] == sets[other]).collect();
        let expected = groups.first().map_or(0, |group| group.len());
        for group in &groups {
            let set = sets[group[0]];
            if group.len() != expected || expected < 2 {
                return Err(CanaryError::SetSize { set, found: group.len(), expected });
            }
            let included = group.iter().filter(|&&canary| coins[canary]).count();
            if included != 1 {
                return Err(CanaryError::Set { set, included });
            }
        }
        Self::new(scores, coins, Units::Sets { members, set_size: expected, is_matching: false })
    }

    /// Canaries of which exactly half were included, drawn without replacement, as pairs of an
    /// included and another one, matched at random.
    ///
    /// Such coins are not independent, but given a uniformly random matching, the order within each
    /// pair is a fair coin of its own. `seed` must not depend on which scores belong to which coin.
    /// Independent coins may happen to include half, too: where they are audited as pairs for that
    /// reason alone, no leak is reported more often than by coins
    /// (`unit::choosing_pairs_where_half_are_included_costs_nothing`).
    ///
    /// # Errors
    /// As [`CanaryScores::coins`], and [`CanaryError::NotHalf`].
    pub fn matched(scores: &'a [f64], coins: &'a [bool], seed: u64) -> Result<Self, CanaryError> {
        check_length("coins", coins.len(), scores.len())?;
        let (included, mut others): (Vec<usize>, Vec<usize>) =
            (0..coins.len()).partition(|&canary| coins[canary]);
        if included.len() != others.len() {
            return Err(CanaryError::NotHalf { included: included.len(), canaries: coins.len() });
        }
        Words::new(seed, Purpose::FileSplit, MATCHING).shuffle(&mut others);
        // by the smaller index, so that the order of pairs does not show the coins
        let mut pairs: Vec<[usize; 2]> = included
            .into_iter()
            .zip(others)
            .map(|(one, other)| [one.min(other), one.max(other)])
            .collect();
        pairs.sort_unstable();
        let members = pairs.into_iter().flatten().collect();
        let found =
            Self::new(scores, coins, Units::Sets { members, set_size: 2, is_matching: true });
        let draw = InferredDraw::ExactlyHalf { canaries: coins.len() };
        found.map_err(|error| error.of_draw(Some(draw)))
    }

    /// Pairs of an included and another canary, matched at random, and how many have the larger score on the
    /// included one; none for sets.
    ///
    /// A fixed seed decides the matching and the order of equal scores; a score that is NaN is wrong.
    #[must_use]
    pub fn ordered_pairs(&self) -> Option<[u64; 2]> {
        if self.is_sets() && !self.is_matching() {
            return None;
        }
        let (included, mut others): (Vec<usize>, Vec<usize>) =
            (0..self.coins.len()).partition(|&canary| self.coins[canary]);
        let mut words = Words::new(0, Purpose::FileSplit, PAIRS);
        let mut kept = included;
        words.shuffle(&mut kept);
        words.shuffle(&mut others);
        let pairs = kept.len().min(others.len());
        let is_right = |&(&one, &other): &(&usize, &usize)| {
            let favours_one = words.below(2) == 1;
            let (one, other) = (self.scores[one], self.scores[other]);
            one > other || (one == other && favours_one)
        };
        let right = kept.iter().zip(&others).filter(is_right).count();
        (pairs > 0).then_some([pairs as u64, right as u64])
    }

    fn new(scores: &'a [f64], coins: &'a [bool], units: Units) -> Result<Self, CanaryError> {
        let canaries = scores.len();
        check_length("coins", coins.len(), canaries)?;
        let found = Self { scores, coins, units, inclusion: 0.5, fixed_size: None };
        if found.unit_count() < 5 {
            let is_sets = found.units != Units::Coins;
            return Err(CanaryError::TooFew { units: found.unit_count() as u64, is_sets });
        }
        if let Some(index) = scores.iter().position(|score| score.is_infinite()) {
            return Err(CanaryError::Infinite { index });
        }
        let count = found.nan_scores();
        if let Some(first) = scores.iter().position(|score| score.is_nan())
            && count * 100 > canaries
        {
            return Err(CanaryError::NotANumber { count, canaries, first });
        }
        let mut numbers = scores.iter().filter(|score| !score.is_nan());
        let first = numbers.next();
        if numbers.all(|score| Some(score) == first) {
            return Err(CanaryError::Constant { canaries });
        }
        Ok(found)
    }

    /// Canaries or sets, and the size of a set.
    ///
    /// # Errors
    /// Above 10¹² canaries.
    pub fn game(&self) -> Result<CanaryGame, CanaryError> {
        let units = self.unit_count() as u64;
        Ok(match &self.units {
            Units::Coins => CanaryGame::coins(units)?,
            Units::Sets { set_size, .. } => {
                CanaryGame::sets(units, u32::try_from(*set_size).unwrap_or(u32::MAX))?
            }
        })
    }

    /// Whether pairs were matched, as exactly half of the canaries were included.
    #[must_use]
    pub fn is_matching(&self) -> bool {
        matches!(self.units, Units::Sets { is_matching: true, .. })
    }

    /// The number of included canaries, if it may have been fixed.
    #[must_use]
    pub const fn fixed_size(&self) -> Option<FixedSize> {
        self.fixed_size
    }

    /// The draw that the number of included canaries suggests; none if it does not matter.
    pub(super) fn inferred_draw(&self) -> Option<InferredDraw> {
        let canaries = self.coins.len();
        let half = self.is_matching().then_some(InferredDraw::ExactlyHalf { canaries });
        let fixed = self.fixed_size.map(|size| {
            let (included, canaries) = (size.included(), size.canaries());
            InferredDraw::FixedSize { included, canaries }
        });
        half.or(fixed)
    }

    /// Whether exactly one canary of each set is included.
    #[must_use]
    pub fn is_sets(&self) -> bool {
        self.units != Units::Coins
    }

    /// Canaries whose score is NaN.
    #[must_use]
    pub fn nan_scores(&self) -> usize {
        self.scores.iter().filter(|score| score.is_nan()).count()
    }

    fn unit_count(&self) -> usize {
        match &self.units {
            Units::Coins => self.scores.len(),
            Units::Sets { members, set_size, .. } => members.len() / set_size,
        }
    }

    /// A guess for each unit, most confident first.
    ///
    /// Canaries: the largest score is guessed included, the smallest not, the second largest included,
    /// and so on. Sets: the largest score of each is guessed included, by falling distance to the second
    /// largest. Equal scores are ordered by `tie`, which must be fixed before the coins are drawn. NaN
    /// comes last, and its guess is wrong.
    #[must_use]
    pub fn ranking(&self, tie: impl Fn(u64) -> u64) -> Vec<RankedGuess> {
        match &self.units {
            Units::Coins => {
                let order = ordered(self.scores, &tie);
                let (mut first, mut end) = (0, order.len());
                let mut guesses = Vec::with_capacity(self.scores.len());
                while first < end {
                    let is_included = guesses.len() % 2 == 0;
                    let place = if is_included { first } else { end - 1 };
                    if is_included {
                        first += 1;
                    } else {
                        end -= 1;
                    }
                    guesses.push(self.guess(order[place], is_included));
                }
                guesses.extend(self.forced(guesses.len()));
                guesses
            }
            Units::Sets { members, set_size, .. } => self.ranked_sets(members, *set_size, &tie),
        }
    }

    /// The largest scores guessed included, the smallest not; none for sets.
    pub(super) fn sides(
        &self,
        included: usize,
        excluded: usize,
        tie: impl Fn(u64) -> u64,
    ) -> Vec<RankedGuess> {
        let order = ordered(self.scores, &tie);
        let included_known = included.min(order.len());
        let excluded_known = excluded.min(order.len() - included_known);
        let above = order.iter().take(included_known).map(|&canary| self.guess(canary, true));
        let below = order.iter().rev().take(excluded_known);
        let mut guesses: Vec<RankedGuess> =
            above.chain(below.map(|&canary| self.guess(canary, false))).collect();
        guesses.extend(self.forced(0).take(included + excluded - guesses.len()));
        guesses
    }

    fn guess(&self, canary: usize, is_included: bool) -> RankedGuess {
        RankedGuess { canary, is_included, is_correct: self.coins[canary] == is_included }
    }

    /// Wrong guesses on the canaries with NaN.
    fn forced(&self, before: usize) -> impl Iterator<Item = RankedGuess> {
        let unknown = (0..self.scores.len()).filter(|&canary| self.scores[canary].is_nan());
        unknown.enumerate().map(move |(place, canary)| RankedGuess {
            canary,
            is_included: (before + place).is_multiple_of(2),
            is_correct: false,
        })
    }

    fn ranked_sets(
        &self,
        members: &[usize],
        set_size: usize,
        tie: &impl Fn(u64) -> u64,
    ) -> Vec<RankedGuess> {
        let mut margins = Vec::with_capacity(members.len() / set_size);
        let mut guesses = Vec::with_capacity(members.len() / set_size);
        for set in members.chunks(set_size) {
            let scores: Vec<f64> = set.iter().map(|&canary| self.scores[canary]).collect();
            let by_member = |place: u64| tie(set[place as usize] as u64);
            let order = ordered(&scores, &by_member);
            let is_known = order.len() == set_size;
            margins.push(if is_known { scores[order[0]] - scores[order[1]] } else { f64::NAN });
            let guess = self.guess(set[order.first().copied().unwrap_or(0)], true);
            guesses.push(RankedGuess { is_correct: guess.is_correct && is_known, ..guess });
        }
        let mut order = ordered(&margins, tie);
        order.extend((0..margins.len()).filter(|&set| margins[set].is_nan()));
        order.into_iter().map(|set| guesses[set]).collect()
    }
}

/// The stream of random words of a matching.
const MATCHING: u64 = 2;
/// The stream of random words of pairs that are taken as independent.
const PAIRS: u64 = 3;

fn check_length(what: &'static str, found: usize, expected: usize) -> Result<(), CanaryError> {
    if found == expected { Ok(()) } else { Err(CanaryError::Length { what, found, expected }) }
}

/// Places of the numbers among `scores`, largest first; of equal ones, the smaller `tie` first.
fn ordered(scores: &[f64], tie: &impl Fn(u64) -> u64) -> Vec<usize> {
    let mut order = ascending_places(scores.iter().map(|score| -score));
    for equal in order.chunk_by_mut(|&a, &b| scores[a] == scores[b]) {
        if equal.len() > 1 {
            equal.sort_by_cached_key(|&place| (tie(place as u64), place));
        }
    }
    order
}

/// Places of the numbers among `values`, smallest first; of equal ones, the first place first.
///
/// Bits with the order of [`f64::total_cmp`] are sorted beside their places, which is faster than to look
/// values up in each comparison.
pub(super) fn ascending_places(values: impl Iterator<Item = f64>) -> Vec<usize> {
    let key = |value: f64| {
        // + 0.0 makes a negative zero equal to zero
        let bits = (value + 0.0).to_bits().cast_signed();
        bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()
    };
    let numbers = values.enumerate().filter(|(_, value)| !value.is_nan());
    let mut keyed: Vec<(i64, usize)> = numbers.map(|(place, value)| (key(value), place)).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, place)| place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_index(index: u64) -> u64 {
        index
    }

    #[test]
    fn guesses_alternate_between_both_ends() {
        let scores = [0.1, 0.9, f64::NAN, 0.5, 0.3, 0.7];
        let coins = [false, true, true, false, true, true];
        let mut padded = scores.to_vec();
        padded.extend((0..200).map(|i| 0.4 + f64::from(i) * 1e-6));
        let coins: Vec<bool> = coins.into_iter().chain((0..200).map(|i| i % 2 == 0)).collect();
        let found = CanaryScores::coins(&padded, &coins).unwrap();
        let ranking = found.ranking(by_index);
        let first: Vec<(usize, bool, bool)> =
            ranking[..4].iter().map(|g| (g.canary, g.is_included, g.is_correct)).collect();
        let expected = [(1, true, true), (0, false, true), (5, true, true), (4, false, false)];
        assert_eq!(first, expected);
        let last = ranking.last().unwrap();
        assert_eq!((last.canary, last.is_correct, ranking.len()), (2, false, 206));
        let sides = found.sides(2, 1, by_index);
        let sides: Vec<usize> = sides.iter().map(|guess| guess.canary).collect();
        assert_eq!(sides, [1, 5, 0]);
    }

    #[test]
    fn equal_scores_with_included_canaries_first_win_nothing() {
        // the fault: ties resolved by place, in a file that lists included canaries first
        let coins: Vec<bool> = (0..400).map(|i| i < 200).collect();
        let scores: Vec<f64> =
            (0..400).map(|i| if i == 0 || i == 399 { 1.0 } else { 0.5 }).collect();
        let found = CanaryScores::coins(&scores, &coins).unwrap();
        let correct = |tie: &dyn Fn(u64) -> u64| {
            found.ranking(tie).iter().take(100).filter(|guess| guess.is_correct).count()
        };
        let hashed = |index: u64| index.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31);
        assert!((30..70).contains(&correct(&hashed)), "{}", correct(&hashed));
        assert_eq!(correct(&by_index), 99, "the mutant");
    }

    #[test]
    fn sets_are_guessed_by_their_margin() {
        let scores = [0.0, 1.0, 5.0, 1.0, 0.0, 0.5, 2.0, 2.0, 0.0, 9.0];
        let coins = [false, true, true, false, true, false, true, false, false, true];
        let sets = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4];
        let found = CanaryScores::sets(&scores, &coins, &sets).unwrap();
        let guesses = found.ranking(by_index);
        let order: Vec<usize> = guesses.iter().map(|guess| guess.canary).collect();
        assert_eq!(order, [9, 2, 1, 5, 6]);
        let correct: Vec<bool> = guesses.iter().map(|guess| guess.is_correct).collect();
        assert_eq!(correct, [true, true, true, false, true]);
        let wrong = CanaryScores::sets(&scores, &[true; 10], &sets).unwrap_err();
        assert_eq!(wrong, CanaryError::Set { set: 0, included: 2 });
    }

    #[test]
    fn matched_pairs_have_one_included_canary_each() {
        let coins: Vec<bool> = (0..50).map(|i| i % 3 == 0 || i > 33).collect();
        let included = coins.iter().filter(|&&coin| coin).count();
        let coins: Vec<bool> =
            coins.into_iter().chain((0..2 * included - 50).map(|_| false)).collect();
        let scores: Vec<f64> = (0..coins.len()).map(|i| i as f64).collect();
        let found = CanaryScores::matched(&scores, &coins, 7).unwrap();
        let Units::Sets { members, .. } = &found.units else { unreachable!() };
        assert!(members.chunks(2).all(|pair| coins[pair[0]] != coins[pair[1]]));
        assert_eq!(found.game().unwrap().canaries() as usize, coins.len() / 2);
        let other = CanaryScores::matched(&scores, &coins, 8).unwrap();
        assert_ne!(found.units, other.units);
    }

    #[test]
    fn scores_that_order_nothing_are_rejected() {
        let coins = [true, false, true, false, true, false];
        let error =
            |scores: &[f64]| CanaryScores::coins(scores, &coins[..scores.len()]).unwrap_err();
        assert_eq!(error(&[1.0; 6]), CanaryError::Constant { canaries: 6 });
        assert_eq!(error(&[1.0, 2.0, 3.0]), CanaryError::TooFew { units: 3, is_sets: false });
        let infinite = [1.0, 2.0, f64::INFINITY, 3.0, 4.0, 5.0];
        assert_eq!(error(&infinite), CanaryError::Infinite { index: 2 });
        let nan = [1.0, f64::NAN, 2.0, 3.0, 4.0, 5.0];
        assert_eq!(error(&nan), CanaryError::NotANumber { count: 1, canaries: 6, first: 1 });
    }
}

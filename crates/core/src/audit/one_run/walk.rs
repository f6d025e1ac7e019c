//! A number of guesses that was not fixed beforehand: all sizes at once.

use super::{CanaryGame, Guesses, OneRunError, check_delta, check_epsilon, check_significance};
use crate::math;
use crate::special::{BetaDistribution, Tail, UnitPoint};

/// Distance of neighbouring values of ε that are tested.
const GRID: f64 = 0.005;
/// Values of ε up to 500 are tested.
const GRID_POINTS: u32 = 100_000;

/// 8, 16, 32, … and `canaries`: the numbers of guesses that a walk looks at.
#[must_use]
pub fn ranking_sizes(canaries: u64) -> Vec<u64> {
    let doubled = (3..63).map(|power| 1_u64 << power).take_while(|&size| size < canaries);
    doubled.chain([canaries]).collect()
}

/// Correct guesses along a ranking of canaries: v_k of the first k, for all k of a fixed list.
///
/// With F_k the tail of Bin(k, q), the statistic is s = min_k F_k(v_k), and
/// α = P\[F_k(W_k) ≤ s for some k\] for one path of independent guesses, correct with probability q.
/// p = α + mδ(1 − α) ln(1/q)/ln(1/α) ([`CanaryGame::monotone_p_value`]).
///
/// The order of the ranking may depend on the scores in any way, but not on the coins.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    game: CanaryGame,
    sizes: Vec<u64>,
    correct: Vec<u64>,
}

impl Ranking {
    /// `correct[i]` of the first `sizes[i]` guesses.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `sizes` | numbers of guesses, fixed beforehand ([`ranking_sizes`]) | rising, 1 … m |
    /// | `correct` | correct guesses among them | nested |
    ///
    /// # Errors
    /// [`OneRunError::Lengths`], [`OneRunError::Guesses`], [`OneRunError::Correct`],
    /// [`OneRunError::Ranking`].
    pub fn new(game: CanaryGame, sizes: Vec<u64>, correct: Vec<u64>) -> Result<Self, OneRunError> {
        check_ranking(game, &sizes, &correct)?;
        Ok(Self { game, sizes, correct })
    }

    /// s: the smallest tail probability of all sizes, at ε and δ = 0.
    ///
    /// # Errors
    /// [`OneRunError::Epsilon`].
    pub fn smallest_p_value(&self, epsilon: f64) -> Result<f64, OneRunError> {
        check_epsilon(epsilon)?;
        Ok(math::exp(self.ln_smallest(self.game.accuracy(epsilon))))
    }

    /// α: the probability of so small an s under independent guesses, at ε and δ = 0.
    ///
    /// # Errors
    /// [`OneRunError::Epsilon`].
    pub fn joint_p_value(&self, epsilon: f64) -> Result<f64, OneRunError> {
        check_epsilon(epsilon)?;
        let q = self.game.accuracy(epsilon);
        Ok(Boundary::at(self, q).crossing_probability())
    }

    /// The largest probability of such a ranking under (ε, δ)-DP.
    ///
    /// # Errors
    /// [`OneRunError::Epsilon`], [`OneRunError::Delta`].
    pub fn p_value(&self, epsilon: f64, delta: f64) -> Result<f64, OneRunError> {
        check_delta(delta)?;
        Ok(self.game.monotone_p(self.joint_p_value(epsilon)?, epsilon, delta))
    }

    /// Lower bound on ε: the largest of 0, 0.005, 0.010, … that is rejected together with all
    /// smaller ones; 0 if none is.
    ///
    /// The grid is part of the guarantee: p is not monotone in ε, so a search inside a cell would
    /// choose among tests that are not nested.
    ///
    /// # Guarantee
    /// If training is (ε, δ)-DP, the bound exceeds ε with probability at most `significance`, for
    /// one δ (`tests/coverage/one_run.rs::walks_cover`).
    ///
    /// # Errors
    /// [`OneRunError::Delta`], [`OneRunError::Significance`].
    pub fn epsilon_lower(&self, delta: f64, significance: f64) -> Result<f64, OneRunError> {
        check_delta(delta)?;
        check_significance(significance)?;
        let is_rejected = |epsilon: f64| {
            let boundary = Boundary::at(self, self.game.accuracy(epsilon));
            let rejects = |level: f64| self.game.monotone_p(level, epsilon, delta) < significance;
            rejects(boundary.sum()) || rejects(boundary.crossing_probability())
        };
        // a union over sizes: s rises with ε, and ln(1/q) is largest at ε = 0
        let is_rejected_by_union = |epsilon: f64| {
            let smallest = math::exp(self.ln_smallest(self.game.accuracy(epsilon)));
            let level = self.sizes.len() as f64 * smallest;
            self.game.monotone_p(level, 0.0, delta) < significance
        };
        Ok(largest_of_grid(is_rejected_by_union, is_rejected))
    }

    fn ln_smallest(&self, q: UnitPoint) -> f64 {
        let tails = self.sizes.iter().zip(&self.correct).map(|(&k, &v)| ln_reached(k, v, q));
        tails.fold(0.0, f64::min)
    }
}

/// The largest of 0, 0.005, 0.010, … that is rejected together with all smaller ones; 0 if none is.
///
/// `is_surely_rejected` implies `is_rejected`, and what it accepts it accepts at all larger ε, too: its
/// points are found by bisection.
pub(in crate::audit) fn largest_of_grid(
    is_surely_rejected: impl Fn(f64) -> bool,
    is_rejected: impl Fn(f64) -> bool,
) -> f64 {
    let at = |point: u32| f64::from(point) * GRID;
    let (mut rejected, mut other) = (0, GRID_POINTS);
    while rejected < other {
        let middle = rejected + (other - rejected) / 2;
        if is_surely_rejected(at(middle)) {
            rejected = middle + 1;
        } else {
            other = middle;
        }
    }
    let accepted = (rejected..GRID_POINTS).find(|&point| !is_rejected(at(point)));
    at(accepted.unwrap_or(GRID_POINTS).saturating_sub(1))
}

pub(super) fn check_ranking(
    game: CanaryGame,
    sizes: &[u64],
    correct: &[u64],
) -> Result<(), OneRunError> {
    if sizes.is_empty() || sizes.len() != correct.len() {
        return Err(OneRunError::Lengths { sizes: sizes.len(), counts: correct.len() });
    }
    let (mut guesses_before, mut before) = (0, 0);
    for (&guesses, &correct) in sizes.iter().zip(correct) {
        Guesses::new(game, guesses, correct)?;
        let is_nested = guesses > guesses_before
            && correct >= before
            && correct - before <= guesses - guesses_before;
        if !is_nested {
            return Err(OneRunError::Ranking { correct, guesses, before, guesses_before });
        }
        (guesses_before, before) = (guesses, correct);
    }
    Ok(())
}

/// ln P\[Bin(k, q) ≥ v\].
pub(super) fn ln_reached(guesses: u64, correct: u64, q: UnitPoint) -> f64 {
    if correct == 0 {
        return 0.0;
    }
    if correct > guesses {
        return f64::NEG_INFINITY;
    }
    let (k, v) = (guesses as f64, correct as f64);
    BetaDistribution::with_shapes(v, k - v + 1.0).ln_tail(Tail::Lower, q)
}

/// The smallest v with ln P\[Bin(k, q) ≥ v\] up to a limit; k + 1 if there is none.
pub(super) fn first_as_unlikely(guesses: u64, q: UnitPoint, ln_limit: f64) -> u64 {
    if ln_limit >= 0.0 {
        return 0;
    }
    let (mut below, mut reached) = (0, guesses + 1);
    while reached - below > 1 {
        let middle = below + (reached - below) / 2;
        if ln_reached(guesses, middle, q) <= ln_limit {
            reached = middle;
        } else {
            below = middle;
        }
    }
    reached
}

/// The smallest counts that are as unlikely as the observed ones.
struct Boundary<'a> {
    sizes: &'a [u64],
    q: UnitPoint,
    /// Smallest w with F_k(w) ≤ s; k + 1 if there is none.
    counts: Vec<u64>,
}

impl<'a> Boundary<'a> {
    fn at(ranking: &'a Ranking, q: UnitPoint) -> Self {
        // the deciding size must cross its own boundary, whatever the rounding
        let limit = ranking.ln_smallest(q) * (1.0 - 1e-13) + 1e-13;
        let counts = ranking.sizes.iter().map(|&k| first_as_unlikely(k, q, limit)).collect();
        Self { sizes: &ranking.sizes, q, counts }
    }

    /// Σ_k P\[W_k crosses\]: at least the crossing probability.
    fn sum(&self) -> f64 {
        let crossed = self.sizes.iter().zip(&self.counts).map(|(&k, &count)| {
            if count > k { 0.0 } else { math::exp(ln_reached(k, count, self.q)) }
        });
        crossed.sum()
    }

    /// P\[some W_k crosses\], a sum of positive terms; `sum` where a size always crosses.
    fn crossing_probability(&self) -> f64 {
        let sum = self.sum();
        if self.counts.contains(&0) || sum <= f64::MIN_POSITIVE {
            return sum.min(1.0);
        }
        // what windows leave out is this small against the crossing probability, at least sum/|K|
        let ln_loss = math::ln(sum.min(1.0)) - 36.0;
        let mut path = Path { start: 0, mass: vec![1.0] };
        let (mut crossed, mut size_before) = (0.0, 0);
        for (&size, &count) in self.sizes.iter().zip(&self.counts) {
            path = path.advanced(&Path::binomial(size - size_before, self.q, ln_loss));
            crossed += path.cut_at(count);
            size_before = size;
        }
        let lost = 2.0 * self.sizes.len() as f64 * math::exp(ln_loss);
        (crossed + lost).min(sum)
    }
}

/// Probabilities of consecutive counts.
struct Path {
    start: u64,
    mass: Vec<f64>,
}

impl Path {
    /// Bin(n, q) around its mean; beyond lies at most 2e^`ln_loss` (Bernstein's inequality).
    fn binomial(trials: u64, q: UnitPoint, ln_loss: f64) -> Self {
        let n = trials as f64;
        let mean = n * q.value();
        let variance = mean * q.complement();
        let third = -ln_loss / 3.0;
        let half = third + (third * third - 2.0 * variance * ln_loss).sqrt() + 1.0;
        let start = (mean - half).max(0.0) as u64;
        let end = ((mean + half) as u64).min(trials);
        let middle = (mean as u64).clamp(start, end);
        let ln_pmf = |count: u64| {
            let (k, missed) = (count as f64, (trials - count) as f64);
            let shapes = BetaDistribution::with_shapes(k + 1.0, missed + 1.0);
            // density of logit q at shapes k + 1, n − k + 1: (n + 1) q (1 − q) P[W = k]
            shapes.ln_logit_density(q) - math::ln((n + 1.0) * q.value()) - math::ln(q.complement())
        };
        let odds = q.value() / q.complement();
        let mut mass = vec![0.0; (end - start + 1) as usize];
        let at_middle = math::exp(ln_pmf(middle));
        let mut probability = at_middle;
        for count in middle..=end {
            mass[(count - start) as usize] = probability;
            probability *= (n - count as f64) / (count as f64 + 1.0) * odds;
        }
        probability = at_middle;
        for count in (start..middle).rev() {
            probability *= (count as f64 + 1.0) / ((n - count as f64) * odds);
            mass[(count - start) as usize] = probability;
        }
        Self { start, mass }
    }

    /// The sum of two independent counts.
    fn advanced(&self, step: &Path) -> Path {
        let mut mass = vec![0.0; self.mass.len() + step.mass.len() - 1];
        for (offset, &share) in self.mass.iter().enumerate() {
            let targets = &mut mass[offset..offset + step.mass.len()];
            for (target, probability) in targets.iter_mut().zip(&step.mass) {
                *target += share * probability;
            }
        }
        Path { start: self.start + step.start, mass }
    }

    /// Removes the counts from `count` on and returns their probability.
    fn cut_at(&mut self, count: u64) -> f64 {
        let survivors = (count.saturating_sub(self.start) as usize).min(self.mass.len());
        let crossed = self.mass[survivors..].iter().rev().sum();
        self.mass.truncate(survivors.max(1));
        if survivors == 0 {
            self.mass[0] = 0.0;
        }
        crossed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranking(canaries: u64, sizes: &[u64], correct: &[u64]) -> Ranking {
        let game = CanaryGame::coins(canaries).unwrap();
        Ranking::new(game, sizes.to_vec(), correct.to_vec()).unwrap()
    }

    #[test]
    fn sizes_double_up_to_all_canaries() {
        assert_eq!(ranking_sizes(1_000), [8, 16, 32, 64, 128, 256, 512, 1_000]);
        assert_eq!(ranking_sizes(16), [8, 16]);
        assert_eq!(ranking_sizes(5), [5]);
    }

    #[test]
    fn one_size_is_the_count_test() {
        let walk = ranking(100, &[64], &[60]);
        let count = Guesses::new(CanaryGame::coins(100).unwrap(), 64, 60).unwrap();
        for epsilon in [0.0, 1.0, 2.5] {
            let (joint, p) =
                (walk.joint_p_value(epsilon).unwrap(), count.p_value(epsilon, 0.0).unwrap());
            assert!((joint / p - 1.0).abs() < 1e-9, "{epsilon}: {joint} {p}");
        }
    }

    #[test]
    fn joint_p_values_equal_sums_over_all_paths() {
        let (sizes, correct) = ([2, 4, 7], [2, 3, 6]);
        let walk = ranking(7, &sizes, &correct);
        for epsilon in [0.0, 0.4, 1.5] {
            let q = 1.0 / (1.0 + math::exp(-epsilon));
            let smallest = walk.smallest_p_value(epsilon).unwrap();
            let mut joint = 0.0;
            for path in 0_u32..128 {
                let among = |size: u64| u64::from((path & ((1 << size) - 1)).count_ones());
                let crosses = sizes.iter().any(|&size| {
                    let tail: f64 = (among(size)..=size).map(|w| pmf(size, w, q)).sum();
                    tail <= smallest * (1.0 + 1e-12)
                });
                if crosses {
                    joint += math::powi(q, path.count_ones() as i32)
                        * math::powi(1.0 - q, 7 - path.count_ones() as i32);
                }
            }
            let seen = walk.joint_p_value(epsilon).unwrap();
            assert!((seen / joint - 1.0).abs() < 1e-9, "{epsilon}: {seen} {joint}");
        }
    }

    fn pmf(n: u64, k: u64, q: f64) -> f64 {
        math::exp(crate::special::ln_binomial_pmf(k, n, q).unwrap())
    }

    #[test]
    fn bounds_are_points_of_the_grid() {
        let bound = ranking(64, &[8, 16, 32, 64], &[8, 16, 31, 58]).epsilon_lower(1e-5, 0.05);
        let points = bound.unwrap() / GRID;
        assert!(points > 100.0 && (points - points.round()).abs() < 1e-9, "{points}");
        assert_eq!(ranking(64, &[8, 16], &[4, 8]).epsilon_lower(0.0, 0.05).unwrap(), 0.0);
    }

    #[test]
    fn counts_that_contradict_each_other_are_refused() {
        let game = CanaryGame::coins(64).unwrap();
        for (sizes, correct) in [
            (vec![], vec![]),
            (vec![8], vec![4, 5]),
            (vec![8, 8], vec![4, 4]),
            (vec![8, 16], vec![5, 4]),
            (vec![8, 16], vec![0, 9]),
            (vec![8, 65], vec![4, 30]),
        ] {
            assert!(Ranking::new(game, sizes.clone(), correct.clone()).is_err(), "{sizes:?}");
        }
    }
}

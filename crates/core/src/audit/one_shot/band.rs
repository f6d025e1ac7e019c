//! Simultaneous lower limits of order statistics.

use std::ops::{Range, RangeInclusive};

use super::{OneShotError, check_canaries, check_significance};
use crate::math;
use crate::special::arrival::{arrival_quantile, ln_poisson_pmf};
use crate::special::{ln_binomial_pmf, lower_quantiles};

/// Lower limits of several order statistics that hold together.
///
/// With probability 1 − `significance`, no order statistic of the listed ranks lies below its limit.
/// Every limit is the quantile at one local level γ of its own order statistic. γ is solved from the
/// probability that a Poisson process crosses the limits, by recursion over the ranks on the number
/// of points so far.
///
/// | constructor | order statistic | limit |
/// |---|---|---|
/// | [`CumulativeBand::of_arrivals`] | j-th arrival of a Poisson process of rate 1 | γ-quantile of Gamma(j) |
/// | [`CumulativeBand::of_uniforms`] | j-th smallest of k uniforms | γ-quantile of Beta(j, k + 1 − j) |
///
/// # Guarantee
/// The limits hold together with probability 1 − `significance`, not more than 1e-9 above
/// (`tests/coverage/one_shot.rs::bands_have_their_significance`).
///
/// # Numerics
/// States and increments with a probability below 1e-17 count as crossings, and 1e-13 is added for the
/// rounding of a probability of crossing: γ is not above the root, and below it by at most
/// 2e-8 + 1e-12/`significance`, relative (`tests/oracles/one_shot.rs::levels_lie_just_below_the_roots`).
/// Below a significance of 1e-8, γ is the significance divided by the number of ranks.
///
/// # Example
/// ```
/// use dpscope_core::audit::one_shot::CumulativeBand;
/// let band = CumulativeBand::of_arrivals(1_000.0, 0.049)?;
/// assert_eq!(format!("{:.7}", band.local_level()), "0.0042549");
/// # Ok::<(), dpscope_core::audit::one_shot::OneShotError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CumulativeBand {
    ranks: Vec<u64>,
    limits: Vec<f64>,
    local_level: f64,
}

/// Ranks above this add less than 0.01 to a bound on ε, and each would cost milliseconds.
const LARGEST_RANK: u64 = 65_536;
/// Up to this many uniforms, all ranks have a limit.
const ALL_RANKS: u64 = 4_096;

impl CumulativeBand {
    /// Limits of arrivals of a Poisson process of rate 1 at the ranks ⌊2^{i/2} + ½⌋ ≤ `mean`.
    ///
    /// # Errors
    /// [`OneShotError::Canaries`] if the mean lies outside [1, 10⁹], [`OneShotError::Significance`].
    pub fn of_arrivals(mean: f64, significance: f64) -> Result<Self, OneShotError> {
        check_canaries(mean)?;
        check_significance(significance)?;
        let ranks = geometric_ranks(mean.min(LARGEST_RANK as f64));
        let limits = |level: f64| {
            ranks.iter().map(|&rank| arrival_quantile(rank as f64, level)).collect::<Vec<f64>>()
        };
        Ok(Self::solve(&ranks, significance, limits, None))
    }

    /// Limits of order statistics of `count` uniforms, at all ranks up to 4,096 of them; above, at the
    /// ranks ⌊2^{i/2} + ½⌋ ≤ 8,192 from both ends.
    ///
    /// # Errors
    /// [`OneShotError::Canaries`] if `count` lies outside 1 … 10⁹, [`OneShotError::Significance`].
    pub fn of_uniforms(count: u64, significance: f64) -> Result<Self, OneShotError> {
        check_canaries(count as f64)?;
        check_significance(significance)?;
        let ranks: Vec<u64> = if count <= ALL_RANKS {
            (1..=count).collect()
        } else {
            let mut low = geometric_ranks((count as f64 / 2.0).min(8_192.0));
            let high: Vec<u64> = low.iter().rev().map(|rank| count + 1 - rank).collect();
            low.extend(high);
            low
        };
        Ok(Self::of_uniform_ranks(count, ranks, significance))
    }

    /// Limits of `count` uniforms at the ranks ⌊2^{i/2} + ½⌋ ≤ `largest`.
    pub(super) fn of_few_uniforms(count: u64, largest: f64, significance: f64) -> Self {
        Self::of_uniform_ranks(
            count,
            geometric_ranks(largest.min(count as f64).min(LARGEST_RANK as f64)),
            significance,
        )
    }

    fn of_uniform_ranks(count: u64, ranks: Vec<u64>, significance: f64) -> Self {
        let limits = |level: f64| {
            let shapes = ranks.iter().map(|&rank| (rank as f64, (count + 1 - rank) as f64));
            lower_quantiles(shapes, level)
        };
        Self::solve(&ranks, significance, limits, Some(count))
    }

    /// The level γ at which the limits are crossed with probability `significance`.
    fn solve(
        ranks: &[u64],
        significance: f64,
        limits_at: impl Fn(f64) -> Vec<f64>,
        total: Option<u64>,
    ) -> Self {
        let ranks = ranks.to_vec();
        let count = ranks.len() as f64;
        if count == 1.0 || significance < 1e-8 {
            let local_level = significance / count;
            return Self { limits: limits_at(local_level), ranks, local_level };
        }
        let crossing = |level: f64| {
            let limits = limits_at(level);
            (crossing_probability(&ranks, &limits, total), limits)
        };
        let guess = match total {
            Some(total) if total == ranks.len() as u64 => CrossingRate::of_all_ranks(total),
            _ => CrossingRate::of_distant_ranks(ranks.len() as u64),
        };
        let (local_level, limits) = last_level(significance, count, guess, crossing);
        Self { limits: limits.unwrap_or_else(|| limits_at(local_level)), ranks, local_level }
    }

    /// Ranks with a limit, rising.
    #[must_use]
    pub fn ranks(&self) -> &[u64] {
        &self.ranks
    }

    /// The limit of each rank.
    #[must_use]
    pub fn limits(&self) -> &[f64] {
        &self.limits
    }

    /// The level of every single limit: γ.
    #[must_use]
    pub const fn local_level(&self) -> f64 {
        self.local_level
    }
}

/// Distinct ⌊2^{i/2} + ½⌋ up to `largest`.
pub(super) fn geometric_ranks(largest: f64) -> Vec<u64> {
    let powers = (0..64).map(|half| (math::exp2(0.5 * f64::from(half)) + 0.5).floor());
    let mut ranks: Vec<u64> =
        powers.take_while(|&rank| rank <= largest).map(|rank| rank as u64).collect();
    ranks.dedup();
    ranks
}

/// How many independent limits are crossed as often as these: N in P\[crossing\] = 1 − e^{−γN}, as a
/// straight line of ln γ, which is nearly one: N = `number` + `slope`·(`ln_level` − ln γ).
#[derive(Debug, Clone, Copy)]
struct CrossingRate {
    ln_level: f64,
    number: f64,
    slope: f64,
}

impl CrossingRate {
    /// Rate of all ranks of `count` uniforms, fitted to solutions at significances of .01 to .1.
    fn of_all_ranks(count: u64) -> Self {
        let l = math::ln(count as f64);
        let (x, y) = (l - 4.605, l - 6.908);
        let slope = (2.85 + 1.546 * x + 0.0593 * x * y).max(0.1);
        let number = (3.72 - 1.993 * x - 0.3076 * x * y).clamp(-10.0, 4.0);
        CrossingRate { ln_level: 0.0, number, slope }
    }

    /// Rate of ranks that rise geometrically, which are nearly independent.
    fn of_distant_ranks(ranks: u64) -> Self {
        let number = 0.6 * ranks as f64 + 0.4;
        CrossingRate { ln_level: -6.0, number, slope: 0.09 * number }
    }

    fn at(&self, ln_level: f64) -> f64 {
        (self.number + self.slope * (self.ln_level - ln_level)).max(1.0)
    }

    /// The level with γN = `rate`.
    fn ln_level_of(&self, rate: f64) -> f64 {
        let ln_rate = math::ln(rate);
        let step = |ln_level: f64, _| {
            let number = self.at(ln_level);
            let excess = ln_level + math::ln(number) - ln_rate;
            ln_level - excess / (1.0 - self.slope / number).max(0.2)
        };
        (0..8).fold(ln_rate - math::ln(self.at(ln_rate)), step)
    }
}

/// More than the rounding of a probability of crossing: sums of positive terms, thousands in turn.
const ROUNDING: f64 = 1e-13;

/// The last level with a probability of crossing of at most `significance`, and what `crossing` yields
/// there; the level lies between `significance`/`count` and `significance`.
///
/// The secant method on [`CrossingRate`], from 4e-9 or twice the rounding of a probability to the left of
/// the root, so that the low end converges.
fn last_level<T>(
    significance: f64,
    count: f64,
    guess: CrossingRate,
    crossing: impl Fn(f64) -> (f64, T),
) -> (f64, Option<T>) {
    let beside = (2.0 * ROUNDING / significance).max(4e-9);
    let wanted = -math::ln_1p(-significance) * (1.0 - beside);
    let most = significance - ROUNDING;
    // γ ≤ P[crossing] ≤ nγ
    let (mut low, mut high) = (math::ln(significance / count), math::ln(significance));
    let (mut rate, mut last, mut found) = (guess, None, None);
    for _ in 0..60 {
        let next = rate.ln_level_of(wanted);
        let ln_level = if next > low && next < high { next } else { 0.5 * (low + high) };
        let level = math::exp(ln_level);
        let (probability, yielded) = crossing(level);
        if probability <= most {
            (low, found) = (ln_level, Some(yielded));
            if probability > significance * (1.0 - 2.5 * beside) {
                break;
            }
        } else {
            high = ln_level;
        }
        if high - low < 1e-12 {
            break;
        }
        let number = -math::ln_1p(-probability.min(1.0 - 1e-15)) / level;
        let slope = last.map_or(rate.slope, |(from, before)| (number - before) / (from - ln_level));
        last = Some((ln_level, number));
        rate = CrossingRate { ln_level, number, slope: slope.clamp(-number, number) };
    }
    (math::exp(low), found)
}

/// P\[some order statistic lies below its limit\].
///
/// `total` none: arrivals of a Poisson process of rate 1. `total` k: order statistics of k uniforms,
/// as arrivals before k given that there are k.
pub(super) fn crossing_probability(ranks: &[u64], limits: &[f64], total: Option<u64>) -> f64 {
    let scale = total.map_or(1.0, |count| count as f64);
    let mut counts = Counts { first: 0, mass: vec![1.0] };
    let mut now = 0.0;
    let mut least = 0;
    for (place, (&rank, &limit)) in ranks.iter().zip(limits).enumerate() {
        let time = scale * limit;
        // that of an earlier limit is right as well
        if let Some(count) = total.filter(|_| ranks.len() < 64 || place % 8 == 0) {
            least = likely_count(least, count, limit);
        }
        counts.advance(time - now, least..=rank - 1);
        now = time;
    }
    let below: f64 = match total {
        None => counts.mass.iter().sum(),
        Some(count) => {
            let left = scale - now;
            let ln_all = ln_poisson_pmf(scale, scale);
            let ends = (counts.first..).zip(&counts.mass).filter(|(n, _)| *n <= count);
            ends.map(|(n, mass)| {
                mass * math::exp(ln_poisson_pmf((count - n) as f64, left) - ln_all)
            })
            .sum()
        }
    };
    (1.0 - below).max(1e-300)
}

/// Smaller probabilities count as crossings.
const SMALLEST: f64 = 1e-17;

/// The least number of `count` uniforms below `limit` with a probability of at least 1e-17; it is not
/// smaller than `from`, which is that of a smaller limit.
fn likely_count(from: u64, count: u64, limit: f64) -> u64 {
    let mode = (count as f64 * limit).floor() as u64;
    let ln_smallest = math::ln(SMALLEST);
    let is_rare =
        |n| n < mode && ln_binomial_pmf(n, count, limit).is_ok_and(|ln_pmf| ln_pmf < ln_smallest);
    let (mut rare, mut step) = (from, 1);
    if !is_rare(rare) {
        return from;
    }
    while is_rare(rare + step) {
        rare += step;
        step *= 2;
    }
    while step > 1 {
        step /= 2;
        if is_rare(rare + step) {
            rare += step;
        }
    }
    rare + 1
}

/// Probabilities of the number of points so far, where no limit has been crossed.
struct Counts {
    first: u64,
    mass: Vec<f64>,
}

impl Counts {
    /// Lets `time` pass; numbers of points outside `wanted` are crossings.
    fn advance(&mut self, time: f64, wanted: RangeInclusive<u64>) {
        let (least, increments) = poisson_window(time, SMALLEST);
        let (start, most) = (self.first + least, *wanted.end());
        let from = start.max(*wanted.start());
        let full = (self.mass.len() + increments.len() - 1) as u64;
        let to = most.min(start + full - 1);
        if from > to {
            *self = Self { first: most, mass: vec![0.0] };
            return;
        }
        let places = (from - start) as usize..(to - start) as usize + 1;
        let mut next = convolved(&self.mass, &increments, places);
        let skipped = next.iter().take_while(|&&mass| mass < SMALLEST).count().min(next.len() - 1);
        next.drain(..skipped);
        *self = Self { first: from + skipped as u64, mass: next };
    }
}

/// The entries Σ_i a_i b_{n−i} at the places n.
pub(in crate::audit) fn convolved(a: &[f64], b: &[f64], places: Range<usize>) -> Vec<f64> {
    /// Sums at once, for vector instructions.
    const BLOCK: usize = 16;
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let reversed: Vec<f64> = short.iter().rev().copied().collect();
    let before = short.len() - 1;
    let mut padded = vec![0.0; before];
    padded.extend_from_slice(long);
    padded.resize(before + long.len() + before + BLOCK, 0.0);
    let mut sums = Vec::with_capacity(places.len() + BLOCK);
    for place in places.clone().step_by(BLOCK) {
        let mut block = [0.0; BLOCK];
        for (weight, terms) in reversed.iter().zip(padded[place..].windows(BLOCK)) {
            for (sum, term) in block.iter_mut().zip(terms) {
                *sum += weight * term;
            }
        }
        sums.extend_from_slice(&block);
    }
    sums.truncate(places.len());
    sums
}

/// Probabilities of a Poisson distribution that are at least `smallest`, and the first count.
fn poisson_window(mean: f64, smallest: f64) -> (u64, Vec<f64>) {
    let mode = mean.max(0.0).floor();
    let at_mode = math::exp(ln_poisson_pmf(mode, mean.max(0.0)));
    let (mut below, mut n, mut p) = (Vec::new(), mode, at_mode);
    while n > 0.0 {
        p *= n / mean;
        n -= 1.0;
        if p < smallest {
            break;
        }
        below.push(p);
    }
    let first = mode as u64 - below.len() as u64;
    below.reverse();
    let mut all = below;
    all.push(at_mode);
    (n, p) = (mode, at_mode);
    loop {
        n += 1.0;
        p *= mean / n;
        if !(p >= smallest) {
            return (first, all);
        }
        all.push(p);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_limit_is_a_quantile() {
        let band = CumulativeBand::of_arrivals(1.0, 0.05).unwrap();
        assert_eq!((band.ranks(), band.local_level()), (&[1][..], 0.05));
        let band = CumulativeBand::of_uniforms(1, 0.05).unwrap();
        assert!((band.limits()[0] - 0.05).abs() < 1e-15);
    }

    #[test]
    fn two_uniforms_have_a_closed_form() {
        // P[U₁ ≥ a and U₂ ≥ b] = (1 − a)² − (b − a)², a < b
        let crossing = crossing_probability(&[1, 2], &[0.1, 0.3], Some(2));
        assert!((crossing - (1.0 - 0.81 + 0.04)).abs() < 1e-13, "{crossing}");
        // Poisson: none until a, and at most one until b
        let crossing = crossing_probability(&[1, 2], &[0.1, 0.3], None);
        let exact = 1.0 - math::exp(-0.3) * 1.2;
        assert!((crossing - exact).abs() < 1e-13, "{crossing} {exact}");
    }

    #[test]
    fn many_uniforms_have_limits_at_both_ends() {
        let band = CumulativeBand::of_uniforms(100_000, 0.05).unwrap();
        assert_eq!(band.ranks().first(), Some(&1));
        assert_eq!(band.ranks().last(), Some(&100_000));
        assert!(band.limits().windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn the_smallest_significances_are_shared_equally() {
        let band = CumulativeBand::of_arrivals(5.0, 4e-9).unwrap();
        assert!((band.local_level() - 1e-9).abs() < 1e-20);
    }

    #[test]
    fn bad_arguments_are_refused() {
        for bad in [0.5, f64::NAN, f64::INFINITY] {
            assert!(CumulativeBand::of_arrivals(bad, 0.05).is_err());
        }
        assert!(CumulativeBand::of_uniforms(0, 0.05).is_err());
        for bad in [0.0, 1.0, f64::NAN] {
            assert!(CumulativeBand::of_arrivals(9.0, bad).is_err());
            assert!(CumulativeBand::of_uniforms(9, bad).is_err());
        }
    }
}

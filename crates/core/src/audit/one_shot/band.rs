//! Simultaneous lower limits of order statistics.

use super::arrival::{arrival_quantile, ln_poisson_pmf};
use super::{OneShotError, check_canaries, check_significance};
use crate::math;
use crate::special::{BetaDistribution, Tail};

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
/// States and increments with a probability below 1e-17 count as crossings. Relative error of γ
/// below 1e-8. Below a significance of 1e-8, γ is the
/// significance divided by the number of ranks.
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
        let limit = |rank: u64, level: f64| arrival_quantile(rank as f64, level);
        Ok(Self::solve(geometric_ranks(mean.min(LARGEST_RANK as f64)), significance, limit, None))
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
        let all = count as f64;
        let limit = |rank: u64, level: f64| {
            let rank = rank as f64;
            BetaDistribution::with_shapes(rank, all + 1.0 - rank)
                .quantile_at(Tail::Lower, level)
                .value()
        };
        Self::solve(ranks, significance, limit, Some(count))
    }

    /// The level γ at which the limits are crossed with probability `significance`.
    fn solve(
        ranks: Vec<u64>,
        significance: f64,
        limit: impl Fn(u64, f64) -> f64,
        total: Option<u64>,
    ) -> Self {
        let limits_at =
            |level: f64| -> Vec<f64> { ranks.iter().map(|&rank| limit(rank, level)).collect() };
        let count = ranks.len() as f64;
        let local_level = if count == 1.0 || significance < 1e-8 {
            significance / count
        } else {
            // γ ≤ P[crossing] ≤ nγ
            let ends = (math::ln(significance / count), math::ln(significance));
            last_at_most(ends, |ln_level| {
                let limits = limits_at(math::exp(ln_level));
                math::ln(crossing_probability(&ranks, &limits, total) / significance)
            })
        };
        let limits = limits_at(local_level);
        Self { ranks, limits, local_level }
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

/// e^x for the last x of the interval with f(x) ≤ 0, for a rising f that changes its sign there.
fn last_at_most(ends: (f64, f64), f: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (ends.0, ends.1);
    let mut value_low = f(low);
    let (mut weight_low, mut weight_high) = (value_low, f(high));
    for step in 0..60 {
        if high - low < 1e-12 || value_low > -1e-9 {
            break;
        }
        let guess = low - (high - low) * weight_low / (weight_high - weight_low);
        // a little to the left, so that the low end is the one that converges
        let inside = guess - 1e-10;
        let middle = 0.5 * (low + high);
        let x = if step % 6 == 5 || !(inside > low && inside < high) { middle } else { inside };
        let value = f(x);
        if value <= 0.0 {
            (low, value_low, weight_low) = (x, value, value);
            weight_high *= 0.5;
        } else {
            (high, weight_high) = (x, value);
            weight_low *= 0.5;
        }
    }
    math::exp(low)
}

/// P\[some order statistic lies below its limit\].
///
/// `total` none: arrivals of a Poisson process of rate 1. `total` k: order statistics of k uniforms,
/// as arrivals before k given that there are k.
fn crossing_probability(ranks: &[u64], limits: &[f64], total: Option<u64>) -> f64 {
    let scale = total.map_or(1.0, |count| count as f64);
    let mut counts = Counts { first: 0, mass: vec![1.0] };
    let mut now = 0.0;
    for (&rank, &limit) in ranks.iter().zip(limits) {
        let time = scale * limit;
        counts.advance(time - now, rank - 1);
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

/// Probabilities of the number of points so far, where no limit has been crossed.
struct Counts {
    first: u64,
    mass: Vec<f64>,
}

impl Counts {
    /// Lets `time` pass; more than `most` points are a crossing.
    fn advance(&mut self, time: f64, most: u64) {
        const SMALLEST: f64 = 1e-17;
        let (least, increments) = poisson_window(time, SMALLEST);
        let first = self.first + least;
        if first > most {
            *self = Self { first: most, mass: vec![0.0] };
            return;
        }
        let full = self.mass.len() + increments.len() - 1;
        let length = full.min((most - first + 1) as usize);
        let mut next = vec![0.0; length];
        for (start, &mass) in self.mass.iter().enumerate().take(length) {
            for (to, &increment) in next[start..].iter_mut().zip(&increments) {
                *to += mass * increment;
            }
        }
        let skipped = next.iter().take_while(|&&mass| mass < SMALLEST).count().min(length - 1);
        next.drain(..skipped);
        *self = Self { first: first + skipped as u64, mass: next };
    }
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

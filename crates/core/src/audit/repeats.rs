//! Values that recur more regularly than independent draws do.

use std::collections::BTreeMap;

use crate::math;

/// Chance of [`Repeats`] in independent values.
const LEVEL: f64 = 1e-5;

/// Fewer values never reach [`LEVEL`]: each adds at most ln 3 to ln E.
const LEAST: u64 = 16;

/// Beyond, some of the distinct values are examined, chosen by their bits.
const MOST: usize = 1 << 20;

/// x and y of the e-values.
const GRID: [f64; 19] = [
    0.984_375,
    0.968_75,
    0.937_5,
    0.875,
    0.75,
    0.5,
    0.25,
    0.125,
    0.062_5,
    0.031_25,
    0.015_625,
    7.812_5e-3,
    3.906_25e-3,
    1.953_125e-3,
    9.765_625e-4,
    4.882_812_5e-4,
    2.441_406_25e-4,
    1.220_703_125e-4,
    6.103_515_625e-5,
];

/// Values that occur equally often, and that are too many beside those that occur once less or more.
///
/// In n independent draws from one distribution, a value of probability p occurs about Poisson(np)
/// times. So among the values that occur k − 1, k or k + 1 times, those of k cannot prevail, whatever
/// the distribution: ties of discrete or rounded scores spread over neighbouring numbers, and values of a
/// continuous distribution occur once. Copied data occur twice, or 50 times, each of them.
///
/// With Φⱼ values that occur j times and x, y in (0, 1),
///
/// E = (1 − x)^Φₖ₋₁ (1 + 2√(xyk/(k + 1)))^Φₖ (1 − y)^Φₖ₊₁
///
/// has expectation at most 1 for Poisson counts: (1 − a)λ^(k−1)/(k − 1)! + (1 − b)λ^k/k! +
/// (1 − c)λ^(k+1)/(k + 1)! ≥ 0 for all λ ≥ 0. A fixed n costs the factor e√n ≥ 1/P\[Poisson(n) = n\], the
/// choice of x and y their number, and k the factor k(k + 1).
///
/// A sample drawn with replacement from few values is one of a discrete distribution, and is not
/// detected; neither are copies of a small part of the data.
///
/// # Guarantee
/// Independent values of any distribution have repeats with probability at most 10⁻⁵
/// (`unit::independent_values_of_any_distribution_have_no_repeats`); copies of 40 values have
/// (`unit::copies_are_repeats`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::audit) struct Repeats {
    /// Number of values that occur `times` times.
    pub(in crate::audit) values: u64,
    /// How often each of them occurs.
    pub(in crate::audit) times: u64,
    /// The largest probability of it.
    pub(in crate::audit) p_value: f64,
}

impl Repeats {
    /// Values that occur several times within `values`; those that are not finite are ignored.
    pub(in crate::audit) fn within(values: &[f64]) -> Option<Self> {
        let sorted = sorted(values, values.len());
        let mut tally = Tally::new();
        for group in sorted.chunk_by(|a, b| a.to_bits() == b.to_bits()) {
            *tally.entry(group.len() as u64).or_default() += 1;
        }
        Self::of(&tally, 2, values.len())
    }

    /// Values of `values`, each counted once, that occur in `others`, drawn independently of them.
    pub(in crate::audit) fn shared(values: &[f64], others: &[f64]) -> Option<Self> {
        let most = values.len().max(others.len());
        let (mut values, others_sorted) = (sorted(values, most), sorted(others, most));
        values.dedup_by(|a, b| a.to_bits() == b.to_bits());
        let mut rest = &others_sorted[..];
        let mut tally = Tally::new();
        for value in values {
            rest = &rest[rest.partition_point(|other| other.total_cmp(&value).is_lt())..];
            let times = rest.partition_point(|other| other.total_cmp(&value).is_le());
            *tally.entry(times as u64).or_default() += 1;
        }
        Self::of(&tally, 1, others.len())
    }

    /// The most significant number of times from `least` on.
    fn of(tally: &Tally, least: u64, draws: usize) -> Option<Self> {
        let count = |times: u64| tally.get(&times).copied().unwrap_or(0);
        let notable = tally.iter().filter(|&(&times, &values)| times >= least && values >= LEAST);
        let found = notable.map(|(&times, &values)| {
            let ln_e = ln_e_value(times as f64, [count(times - 1), values, count(times + 1)]);
            let ln_choices = math::ln((GRID.len() * GRID.len()) as f64);
            let ln_weight = math::ln(times as f64) + math::ln(times as f64 + 1.0);
            let ln_fixed = 1.0 + 0.5 * math::ln(draws as f64);
            let p_value = math::exp((ln_choices + ln_weight + ln_fixed - ln_e).min(0.0));
            Self { values, times, p_value }
        });
        let least =
            found.min_by(|a, b| a.p_value.total_cmp(&b.p_value).then(b.values.cmp(&a.values)));
        least.filter(|repeats| repeats.p_value < LEVEL)
    }
}

/// Numbers of values by how often they occur.
type Tally = BTreeMap<u64, u64>;

/// The finite values in order; of more than [`MOST`], those whose hash starts with zeros.
fn sorted(values: &[f64], count: usize) -> Vec<f64> {
    let zeros = (count / MOST).checked_ilog2().map_or(0, |bits| bits + 1);
    let is_chosen = |value: f64| {
        let hash = value.to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (hash ^ (hash >> 32)).wrapping_mul(0xff51_afd7_ed55_8ccd).leading_zeros() >= zeros
    };
    let chosen = values.iter().copied().filter(|value| value.is_finite() && is_chosen(*value));
    let mut chosen: Vec<f64> = chosen.collect();
    chosen.sort_unstable_by(f64::total_cmp);
    chosen
}

/// The largest ln E of the grid, from Φₖ₋₁, Φₖ and Φₖ₊₁.
fn ln_e_value(k: f64, counts: [u64; 3]) -> f64 {
    let [fewer, equal, more] = counts.map(|count| count as f64);
    let of = |x: f64, y: f64| {
        let gain = 2.0 * (x * y * k / (k + 1.0)).sqrt();
        fewer * math::ln_1p(-x) + equal * math::ln_1p(gain) + more * math::ln_1p(-y)
    };
    let pairs = GRID.iter().flat_map(|&x| GRID.iter().map(move |&y| (x, y)));
    pairs.map(|(x, y)| of(x, y)).fold(f64::NEG_INFINITY, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, WideNormals, Words};

    fn normals(seed: u64, count: usize) -> Vec<f64> {
        let mut draws = vec![0.0; count];
        WideNormals::new(seed, Purpose::Test, 77).fill(&mut draws);
        draws
    }

    /// Scores as attacks compute them: continuous, discrete, rounded, saturated.
    fn honest(seed: u64, count: usize) -> Vec<Vec<f64>> {
        let mut words = Words::new(seed, Purpose::Test, 78);
        let normals = normals(seed, count);
        let mapped = |score: &dyn Fn(f64) -> f64| normals.iter().map(|&z| score(z)).collect();
        let mut below = |most: u32| (0..count).map(|_| f64::from(words.below(most))).collect();
        vec![
            mapped(&|z| z),
            mapped(&|z| f64::from(u8::from(z > 0.3))),
            below(1_001),
            below(count as u32),
            below(count as u32 / 2 + 1),
            mapped(&|z| (100.0 * z).round() / 100.0),
            mapped(&|z| (1_000.0 * z).round() / 30.0),
            // the loss of a saturated model in f32, log(1 + e^−m) from a rounded sum
            mapped(&|z| f64::from((1.0 + math::exp(-12.0 - 3.0 * z) as f32) - 1.0)),
            mapped(&|z| f64::from(z as f32)),
            vec![0.5; count],
        ]
    }

    #[test]
    fn independent_values_of_any_distribution_have_no_repeats() {
        for count in [60, 400, 5_000] {
            for seed in 0..40 {
                let others = honest(seed + 1_000, 2 * count);
                for (place, values) in honest(seed, count).iter().enumerate() {
                    assert_eq!(Repeats::within(values), None, "{count} {seed} {place}");
                    let shared = Repeats::shared(values, &others[place]);
                    assert_eq!(shared, None, "{count} {seed} {place}");
                }
            }
        }
    }

    #[test]
    fn e_values_of_poisson_counts_have_a_mean_of_at_most_one() {
        // one value that occurs Poisson(λ) times; a gain of 3√(xyk/(k + 1)) is the mutant
        let mean = |lambda: f64, k: u32, gain: f64, (x, y): (f64, f64)| {
            let pmf = |j: u32| {
                let ln_factorial = math::lgamma(f64::from(j) + 1.0);
                math::exp(f64::from(j) * math::ln(lambda) - lambda - ln_factorial)
            };
            let gain = gain * (x * y * f64::from(k) / f64::from(k + 1)).sqrt();
            1.0 - x * pmf(k - 1) + gain * pmf(k) - y * pmf(k + 1)
        };
        let mut mutant = 0.0_f64;
        for step in 1..400_u32 {
            let lambda = f64::from(step) / 40.0;
            for k in [1, 2, 3, 7] {
                for pair in [(0.984_375, 0.984_375), (0.1, 0.9), (1e-4, 0.5)] {
                    assert!(mean(lambda, k, 2.0, pair) <= 1.0 + 1e-12, "{lambda} {k} {pair:?}");
                    mutant = mutant.max(mean(lambda, k, 3.0, pair));
                }
            }
        }
        assert!(mutant > 1.05, "{mutant}");
    }

    #[test]
    fn copies_are_repeats() {
        let within =
            |values: &[f64]| Repeats::within(values).map(|found| (found.values, found.times));
        for (count, times) in [(40, 2), (40, 50), (100, 50), (500, 100)] {
            assert_eq!(
                within(&normals(1, count).repeat(times)),
                Some((count as u64, times as u64))
            );
        }
        // nine in ten of 400 values occur twice
        let values = normals(2, 400);
        assert_eq!(within(&[&values[..], &values[..360]].concat()), Some((360, 2)));
        // two decimals, copied
        let rounded: Vec<f64> = values.iter().map(|z| (100.0 * z).round() / 100.0).collect();
        assert!(within(&rounded.repeat(20)).is_some());
    }

    #[test]
    fn shared_values_are_repeats() {
        let shared =
            |a: &[f64], b: &[f64]| Repeats::shared(a, b).map(|found| (found.values, found.times));
        let (values, others) = (normals(3, 400), normals(4, 400));
        assert_eq!(shared(&values, &others), None);
        let half = [&values[..200], &others[200..]].concat();
        assert_eq!(shared(&values, &half), Some((200, 1)));
        let mut turned = values.clone();
        turned.reverse();
        assert_eq!(
            shared(&values[..52], &[&turned[..], &normals(5, 50_000)].concat()),
            Some((52, 1))
        );
    }

    #[test]
    fn large_data_are_examined_by_parts_of_their_values() {
        let draws = normals(6, 1_500_000);
        assert_eq!(Repeats::within(&draws), None);
        let twice = draws.repeat(2);
        let found = Repeats::within(&twice).unwrap();
        assert!(found.times == 2 && (300_000..400_000).contains(&found.values), "{found:?}");
    }

    #[test]
    fn failed_runs_are_no_repeats() {
        let mut values = normals(7, 100);
        values.extend([f64::NAN; 50]);
        assert_eq!(Repeats::within(&values), None);
        assert_eq!(Repeats::within(&[]), None);
        assert_eq!(Repeats::shared(&[], &values), None);
    }
}

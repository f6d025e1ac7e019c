//! Exact probabilities of binomial counts, by a method of their own: nothing here uses the special
//! functions under test.

use dpscope_core::audit::trade_off::{ErrorCounts, Trials};

/// The distribution of the number of events in n independent trials.
#[derive(Debug, Clone)]
pub(crate) struct BinomialDistribution {
    terms: Vec<f64>,
}

impl BinomialDistribution {
    /// From the ratio of neighbouring terms, outward from the largest, then scaled to sum 1.
    pub(crate) fn new(trials: u64, rate: f64) -> Self {
        let n = trials as usize;
        let mut terms = vec![0.0; n + 1];
        let mode = (((n + 1) as f64 * rate) as usize).min(n);
        terms[mode] = 1.0;
        let odds = rate / (1.0 - rate);
        for k in mode..n {
            terms[k + 1] = terms[k] * odds * (n - k) as f64 / (k + 1) as f64;
        }
        for k in (0..mode).rev() {
            terms[k] = terms[k + 1] / odds * (k + 1) as f64 / (n - k) as f64;
        }
        let total: f64 = terms.iter().sum();
        terms.iter_mut().for_each(|term| *term /= total);
        BinomialDistribution { terms }
    }

    pub(crate) fn trials(&self) -> u64 {
        self.terms.len() as u64 - 1
    }

    pub(crate) fn terms(&self) -> &[f64] {
        &self.terms
    }

    /// P[K ≤ k], smallest terms first.
    pub(crate) fn at_most(&self, k: u64) -> f64 {
        let end = (k as usize + 1).min(self.terms.len());
        ascending(&self.terms[..end])
    }

    /// Probability of k or more events, P[K ≥ k].
    pub(crate) fn at_least(&self, k: u64) -> f64 {
        let start = (k as usize).min(self.terms.len());
        ascending(&self.terms[start..])
    }
}

fn ascending(terms: &[f64]) -> f64 {
    let mut terms = terms.to_vec();
    terms.sort_unstable_by(f64::total_cmp);
    terms.iter().sum()
}

/// The two error rates of a pair of worlds at one cut, and the observations in each world.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CutDistribution {
    pub(crate) fpr: f64,
    pub(crate) fnr: f64,
    pub(crate) trials: Trials,
}

impl CutDistribution {
    /// Pr[bound > truth] over both counts, for a bound that falls in each of them.
    ///
    /// The pairs of counts that exceed the truth form a staircase, so R + R steps find all R²
    /// pairs.
    pub(crate) fn chance_above(&self, truth: f64, bound: impl Fn(ErrorCounts) -> f64) -> f64 {
        let fp = BinomialDistribution::new(self.trials.zero_out, self.fpr);
        let fn_ = BinomialDistribution::new(self.trials.target, self.fnr);
        let below = cumulative(fn_.terms());
        let mut exceeding = below.len() - 1; // FN counts 0..exceeding lie above the truth
        let mut chance = 0.0;
        for (k, &term) in fp.terms().iter().enumerate() {
            let above = |false_negatives: usize| {
                let false_negatives = false_negatives as u64;
                bound(ErrorCounts { false_positives: k as u64, false_negatives }) > truth
            };
            while exceeding > 0 && !above(exceeding - 1) {
                exceeding -= 1;
            }
            chance += term * below[exceeding];
        }
        chance
    }

    /// As [`chance_above`](Self::chance_above), pair by pair: for bounds that need not fall.
    pub(crate) fn chance_above_by_pairs(
        &self,
        truth: f64,
        bound: impl Fn(ErrorCounts) -> f64,
    ) -> f64 {
        let fp = BinomialDistribution::new(self.trials.zero_out, self.fpr);
        let fn_ = BinomialDistribution::new(self.trials.target, self.fnr);
        let mut chance = 0.0;
        for (i, p) in fp.terms().iter().enumerate() {
            for (j, q) in fn_.terms().iter().enumerate() {
                let errors = ErrorCounts { false_positives: i as u64, false_negatives: j as u64 };
                if bound(errors) > truth {
                    chance += p * q;
                }
            }
        }
        chance
    }
}

/// Sums of the first 0, 1, 2, … terms.
fn cumulative(terms: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0];
    let mut sum = 0.0;
    for term in terms {
        sum += term;
        sums.push(sum);
    }
    sums
}

/// Probability that the numbers of n scores above each of several rising thresholds are all
/// allowed.
///
/// | argument | meaning |
/// |---|---|
/// | `above` | P[score > τ] at each threshold, falling |
/// | `allowed` | for each threshold, whether each count 0 … n is |
///
/// The count at a threshold is binomial given the one before: a chain, walked exactly.
pub(crate) fn chance_all_allowed(trials: u64, above: &[f64], allowed: &[Vec<bool>]) -> f64 {
    let n = trials as usize;
    let mut chances = vec![0.0; n + 1];
    chances[n] = 1.0;
    let mut before = 1.0;
    for (&rate, allowed) in above.iter().zip(allowed) {
        let mut next = vec![0.0; n + 1];
        for (count, &chance) in chances.iter().enumerate().filter(|&(_, &chance)| chance > 0.0) {
            let distribution = BinomialDistribution::new(count as u64, rate / before);
            for (sum, term) in next.iter_mut().zip(distribution.terms()) {
                *sum += chance * term;
            }
        }
        for (chance, &allowed) in next.iter_mut().zip(allowed) {
            if !allowed {
                *chance = 0.0;
            }
        }
        (chances, before) = (next, rate);
    }
    chances.iter().sum()
}

#[test]
fn binomial_probabilities_match_their_definition() {
    let distribution = BinomialDistribution::new(5, 0.3);
    let expected = [0.16807, 0.36015, 0.3087, 0.1323, 0.02835, 0.00243];
    for (term, expected) in distribution.terms().iter().zip(expected) {
        assert!((term / expected - 1.0).abs() < 1e-14);
    }
    assert!(
        (distribution.at_most(1) - 0.52822).abs() < 1e-15
            && (distribution.at_least(4) - 0.03078).abs() < 1e-15
    );
    for rate in [0.0, 1e-300, 1.0] {
        let distribution = BinomialDistribution::new(3, rate);
        assert_eq!(distribution.terms()[if rate == 1.0 { 3 } else { 0 }], 1.0, "{rate}");
    }
    assert_eq!(distribution.trials(), 5);
}

#[test]
fn the_staircase_finds_the_same_pairs() {
    let trials = Trials { target: 23, zero_out: 40 };
    let distribution = CutDistribution { fpr: 0.2, fnr: 0.3, trials };
    let bound = |e: ErrorCounts| -((3 * e.false_positives + 5 * e.false_negatives) as f64);
    for truth in [-1e9, -90.0, -61.0, -30.0, -0.5, 0.0] {
        let (fast, slow) = (
            distribution.chance_above(truth, bound),
            distribution.chance_above_by_pairs(truth, bound),
        );
        assert!((fast - slow).abs() < 1e-13, "{truth}: {fast} {slow}");
    }
}

#[test]
fn counts_at_several_thresholds_are_enumerated() {
    // Two scores, thirds of the line: P[one above 1/3 and none above 2/3] = 2 · 1/3 · 1/3.
    let above = [2.0 / 3.0, 1.0 / 3.0];
    let allowed = [vec![false, true, false], vec![true, false, false]];
    assert!((chance_all_allowed(2, &above, &allowed) - 2.0 / 9.0).abs() < 1e-15);
    let anything = [vec![true; 3], vec![true; 3]];
    assert!((chance_all_allowed(2, &above, &anything) - 1.0).abs() < 1e-15);
}

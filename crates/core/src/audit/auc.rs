//! Area under the receiver operating characteristic, with a finite-sample interval.

use super::bound::BoundError;
use super::trade_off::{ErrorCounts, TradeOff, Trials};
use crate::math::ln;

/// The chance that an observation of D has a higher score than one of D′, ties counted half.
///
/// AUC = P(S > S′) + P(S = S′)/2 for independent scores S of D and S′ of D′. 1/2 without any leak;
/// below 1/2 the scores are reversed.
///
/// # Guarantee
/// For independent observations, `lower` exceeds the AUC with probability at most `significance`/2,
/// and so does the AUC `upper`, at any number of observations and for any distribution of the
/// scores (`unit::the_interval_covers_by_enumeration_and_its_twin_does_not`). A failed run counts
/// against the attack. Ties within a bin of a histogram widen the interval.
///
/// # Numerics
/// The value is a ratio of integers. Limits are rounded outward by 1e-12.
///
/// # Reference
/// W. Hoeffding, "Probability inequalities for sums of bounded random variables", 1963: theorem 1,
/// for two-sample U-statistics by section 5b, with m = min(n, n′) independent pairs:
/// P(Â ≥ a) ≤ exp(−m·KL(a‖A)).
///
/// # Example
/// ```
/// use dpscope_core::audit::Auc;
/// use dpscope_core::audit::trade_off::TradeOff;
/// let scores = |shift: f64| (0..500).map(|i| shift + f64::from(i)).collect::<Vec<_>>();
/// let auc = Auc::of(&TradeOff::from_scores(scores(100.0), scores(0.0))?, 0.05)?;
/// let shown = format!("{:.3} ({:.3} to {:.3})", auc.value, auc.lower, auc.upper);
/// assert_eq!(shown, "0.680 (0.622 to 0.735)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Auc {
    /// Share of the pairs in which the observation of D has the higher score, ties counted half.
    pub value: f64,
    /// Lower confidence limit.
    pub lower: f64,
    /// Upper confidence limit.
    pub upper: f64,
}

impl Auc {
    /// The area under the curve of a trade-off, and its interval.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `significance` | chance that the interval misses the AUC | (0, 1) |
    ///
    /// # Errors
    /// [`BoundError::Significance`] outside its domain.
    pub fn of(trade_off: &TradeOff, significance: f64) -> Result<Self, BoundError> {
        if !(significance > 0.0 && significance < 1.0) {
            return Err(BoundError::Significance { significance });
        }
        let pairs = trade_off.ordered_pairs();
        let trials = trade_off.trials();
        let fewest = trials.target.min(trials.zero_out);
        let (resolved, unknown) = (2 * pairs.above + pairs.tied, pairs.unresolved);
        let share = |halves: u128| halves as f64 / (2 * pairs.all) as f64;
        let value = share(resolved + unknown);
        let extremes = [share(resolved), share(resolved + 2 * unknown)];
        let [lower, upper] = limits(extremes, fewest, significance / 2.0);
        Ok(Auc { value, lower, upper })
    }

    /// That of decisions for or against the target.
    ///
    /// # Errors
    /// [`BoundError::Significance`] outside its domain.
    pub fn of_errors(
        errors: ErrorCounts,
        trials: Trials,
        significance: f64,
    ) -> Result<Self, BoundError> {
        if !(significance > 0.0 && significance < 1.0) {
            return Err(BoundError::Significance { significance });
        }
        let rate = |errors: u64, trials: u64| errors as f64 / trials as f64;
        let fpr = rate(errors.false_positives, trials.zero_out);
        let fnr = rate(errors.false_negatives, trials.target);
        let value = 1.0 - f64::midpoint(fpr, fnr);
        let fewest = trials.target.min(trials.zero_out);
        let [lower, upper] = limits([value; 2], fewest, significance / 2.0);
        Ok(Auc { value, lower, upper })
    }

    /// Whether scores of D are lower than those of D′, by the interval.
    #[must_use]
    pub fn is_reversed(&self) -> bool {
        self.upper < 0.5
    }
}

/// The A below the first share and above the second with KL(share‖A) = ln(1/tail)/m.
fn limits([low, high]: [f64; 2], fewest: u64, tail: f64) -> [f64; 2] {
    let distance = -ln(tail) / fewest as f64;
    let lower = |share: f64| {
        // KL(share‖A) falls as A rises to the share
        let (mut outside, mut inside) = (0.0, share);
        for _ in 0..60 {
            let middle = (outside + inside) / 2.0;
            if divergence(share, middle) > distance {
                outside = middle;
            } else {
                inside = middle;
            }
        }
        (outside - 1e-12).max(0.0)
    };
    [lower(low), 1.0 - lower(1.0 - high)]
}

/// KL(a‖p) between Bernoulli distributions, nats.
fn divergence(a: f64, p: f64) -> f64 {
    let term = |a: f64, p: f64| if a > 0.0 { a * ln(a / p) } else { 0.0 };
    term(a, p) + term(1.0 - a, 1.0 - p)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::exp;
    use crate::special::ln_binomial_pmf;

    fn binomial_pmf(events: u64, trials: u64, probability: f64) -> f64 {
        exp(ln_binomial_pmf(events, trials, probability).unwrap())
    }

    /// P(the interval misses the AUC) for Bernoulli scores, `fewest` observations as counted by it.
    fn missed(runs: [u64; 2], rates: [f64; 2], fewest: u64, significance: f64) -> f64 {
        let auc = f64::midpoint(1.0, rates[0] - rates[1]);
        let mut missed = 0.0;
        for ones in 0..=runs[0] {
            for ones_zero_out in 0..=runs[1] {
                let shares = [ones as f64 / runs[0] as f64, ones_zero_out as f64 / runs[1] as f64];
                let value = f64::midpoint(1.0, shares[0] - shares[1]);
                let [lower, upper] = limits([value, value], fewest, significance / 2.0);
                if auc < lower || auc > upper {
                    missed += binomial_pmf(ones, runs[0], rates[0])
                        * binomial_pmf(ones_zero_out, runs[1], rates[1]);
                }
            }
        }
        missed
    }

    #[test]
    fn the_interval_covers_by_enumeration_and_its_twin_does_not() {
        let mut twin_fails = false;
        for runs in [[6, 60], [60, 6], [20, 20]] {
            for rates in [[0.5, 0.0], [0.9, 0.5], [1.0, 0.3], [0.05, 0.0], [0.5, 0.5]] {
                let fewest = runs[0].min(runs[1]);
                assert!(missed(runs, rates, fewest, 0.1) <= 0.1, "{runs:?} {rates:?}");
                // the pairs are not independent: there are no n + n' of them
                twin_fails |= missed(runs, rates, runs[0] + runs[1], 0.1) > 0.1;
            }
        }
        assert!(twin_fails);
    }

    #[test]
    fn extreme_areas_keep_a_width() {
        let of = |target: &[f64], zero_out: &[f64]| {
            Auc::of(&TradeOff::from_scores(target, zero_out).unwrap(), 0.05).unwrap()
        };
        let apart = of(&[2.0; 100], &[1.0; 100]);
        // KL(1‖A) = −ln A: A = (0.025)^(1/100)
        assert!((apart.lower - crate::math::powf(0.025, 0.01)).abs() < 1e-9, "{apart:?}");
        assert_eq!((apart.value, apart.upper), (1.0, 1.0));
        let reversed = of(&[1.0; 100], &[2.0; 100]);
        assert_eq!((reversed.value, reversed.lower), (0.0, 0.0));
        assert!(reversed.is_reversed() && !apart.is_reversed());
        let equal = of(&[1.0; 100], &[1.0; 100]);
        assert!(equal.value == 0.5 && !equal.is_reversed());
        assert!(of(&[f64::NAN; 9], &[1.0; 9]).value < 0.5, "failed runs count against the attack");
    }

    #[test]
    fn a_significance_outside_its_domain_is_rejected() {
        let trade_off = TradeOff::from_scores([1.0], [0.0]).unwrap();
        for significance in [0.0, 1.0, -0.1, f64::NAN] {
            assert!(Auc::of(&trade_off, significance).is_err());
        }
    }
}

//! Thresholds for the simultaneous rule, chosen on a pilot.

use crate::adjacency::World;
use crate::audit::bound::epsilon_from_rates;
use crate::audit::trade_off::{TradeOff, Trials};
use crate::interval::clopper_pearson_upper;
use crate::math::exp;

use super::BoundError;

/// A threshold and the error rates predicted by a pilot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PredictedErrors {
    /// Threshold τ.
    pub threshold: f64,
    /// Predicted false positive rate.
    pub fpr: f64,
    /// Predicted false negative rate.
    pub fnr: f64,
}

impl PredictedErrors {
    /// Predictions from likelihood ratios: the pooled scores of both worlds predict both rates.
    ///
    /// FPR(τ) = E[2/(1 + e^L); L > τ] and FNR(τ) = E[2/(1 + e^{−L}); L ≤ τ] over the even mixture
    /// of the worlds, where L is the log-likelihood ratio in nats, each divided by its value
    /// without the restriction. Thousands of scores suffice to predict a rate of 1e-6, or its
    /// complement.
    ///
    /// | argument | meaning | shape |
    /// |---|---|---|
    /// | `pilot` | sorted scores, about as many of each world | – |
    /// | `thresholds` | rising | (k,) |
    #[must_use]
    pub fn from_likelihood_ratios(pilot: &TradeOff, thresholds: &[f64]) -> Vec<PredictedErrors> {
        let pooled = pilot.pooled_scores();
        // Normalised by the sums, not by the count: the noise 1/√n of the sums would exceed small
        // values of 1 − FPR and 1 − FNR, and move every threshold to the wrong end.
        let sum = |part: fn(f64) -> f64| pooled.iter().map(|&l| part(l)).sum::<f64>();
        let share = |part| 1.0 / sum(part).max(f64::MIN_POSITIVE);
        let (d, d_prime) = (share(in_target), share(in_zero_out));
        let below = |l: &f64| d * in_target(*l);
        let above = |l: &f64| d_prime * in_zero_out(*l);

        let mut found: Vec<PredictedErrors> = Vec::with_capacity(thresholds.len());
        let (mut next, mut fnr) = (0, 0.0);
        for &threshold in thresholds {
            while next < pooled.len() && pooled[next] <= threshold {
                fnr += below(&pooled[next]);
                next += 1;
            }
            found.push(PredictedErrors { threshold, fpr: 0.0, fnr: fnr.min(1.0) });
        }
        let (mut next, mut fpr) = (pooled.len(), 0.0);
        for item in found.iter_mut().rev() {
            while next > 0 && pooled[next - 1] > item.threshold {
                next -= 1;
                fpr += above(&pooled[next]);
            }
            item.fpr = fpr.min(1.0);
        }
        found
    }

    /// Predictions from a pilot's own error counts: for scores of unknown scale.
    ///
    /// Thresholds are the scores of both worlds. A threshold that is dominated in the pilot may be
    /// optimal in the run: a long run has few false positives at thresholds beyond the highest
    /// pilot score of D′.
    #[must_use]
    pub fn from_counts(pilot: &TradeOff) -> Vec<PredictedErrors> {
        let Trials { target, zero_out } = pilot.trials();
        let rate = |events: u64, trials: u64| (events as f64 + 0.5) / (trials as f64 + 1.0);
        let predict = |cut: crate::audit::trade_off::Cut| PredictedErrors {
            threshold: cut.threshold,
            fpr: rate(cut.errors.false_positives, zero_out),
            fnr: rate(cut.errors.false_negatives, target),
        };
        let mut scores = pilot.pooled_scores();
        if scores.is_empty() {
            return pilot.cuts().map(predict).collect();
        }
        scores.dedup();
        let thresholds = std::iter::once(f64::NEG_INFINITY).chain(scores);
        thresholds.map(|threshold| predict(pilot.at_threshold(threshold))).collect()
    }

    fn rate(&self, world: World) -> f64 {
        match world {
            World::Target => self.fnr,
            World::ZeroOut => self.fpr,
        }
    }
}

/// D's part of the even mixture's density where the log-likelihood ratio is `l`.
fn in_target(l: f64) -> f64 {
    1.0 / (1.0 + exp(-l))
}

/// The part of D′ there.
fn in_zero_out(l: f64) -> f64 {
    1.0 / (1.0 + exp(l))
}

/// At most `m` thresholds for the simultaneous rule, rising.
///
/// Candidates are the thresholds whose predicted counts of FP, FN, TP or TN form a geometric
/// sequence (ratio √2, from 1 to the number of observations); those with the largest predicted
/// bound at tail significance/(2m) are selected. The thresholds depend on the pilot alone, so the
/// Bonferroni correction is over m.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `predicted` | thresholds with predicted rates, rising | ≥ 1 |
/// | `trials` | observations that will be evaluated | ≥ 1 each |
/// | `delta`, `significance` | as for the rule | – |
/// | `m` | most thresholds | ≥ 1 |
///
/// # Errors
/// No candidates, or an argument outside its domain.
pub fn choose_cuts(
    predicted: &[PredictedErrors],
    trials: Trials,
    delta: f64,
    significance: f64,
    m: usize,
) -> Result<Vec<f64>, BoundError> {
    super::check(delta, significance)?;
    let tail = significance / (2.0 * m.max(1) as f64);
    let mut ladder: Vec<usize> = Vec::new();
    for (world, observations) in [(World::Target, trials.target), (World::ZeroOut, trials.zero_out)]
    {
        let mut count = 1.0;
        while count < observations as f64 {
            let share = count / observations as f64;
            for wanted in [share, 1.0 - share] {
                let index = match world {
                    World::Target => predicted.partition_point(|p| p.rate(world) < wanted),
                    World::ZeroOut => predicted.partition_point(|p| p.rate(world) > wanted),
                };
                ladder.push(index.min(predicted.len().saturating_sub(1)));
            }
            count *= std::f64::consts::SQRT_2;
        }
    }
    ladder.extend([0, predicted.len() / 2, predicted.len().saturating_sub(1)]);
    ladder.sort_unstable();
    ladder.dedup();

    let mut ranked: Vec<(f64, f64)> = Vec::with_capacity(ladder.len());
    for &p in ladder.iter().filter_map(|&index| predicted.get(index)) {
        let upper = |rate: f64, n: u64| {
            let events = (rate * n as f64).round() as u64;
            clopper_pearson_upper(events.min(n), n, tail)
        };
        let (fpr, fnr) = (upper(p.fpr, trials.zero_out)?, upper(p.fnr, trials.target)?);
        ranked.push((epsilon_from_rates(fpr, fnr, delta).epsilon, p.threshold));
    }
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    ranked.truncate(m.max(1));
    let mut thresholds: Vec<f64> = ranked.into_iter().map(|(_, threshold)| threshold).collect();
    thresholds.sort_unstable_by(f64::total_cmp);
    thresholds.dedup();
    if thresholds.is_empty() { Err(BoundError::NoCuts) } else { Ok(thresholds) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::ln;
    use crate::special::{normal_cdf, normal_quantile};

    /// A quantile grid of the Gaussian pair N(±μ/2·μ, μ²), whose scores are likelihood ratios.
    fn gaussian_pair(mu: f64, n: usize) -> TradeOff {
        let quantile = |p: f64| normal_quantile(p).unwrap();
        let grid = |mean: f64| {
            (0..n).map(|i| mean + mu * quantile((i as f64 + 0.5) / n as f64)).collect::<Vec<_>>()
        };
        TradeOff::from_scores(grid(mu * mu / 2.0), grid(-mu * mu / 2.0)).unwrap()
    }

    #[test]
    fn pooled_prediction_is_accurate_in_both_tails() {
        let mu = 3.0;
        let pilot = gaussian_pair(mu, 4000);
        let thresholds: Vec<f64> = (-20..=20).map(|t| f64::from(t) * 0.5).collect();
        let predicted = PredictedErrors::from_likelihood_ratios(&pilot, &thresholds);
        for p in predicted {
            let fpr = normal_cdf(-(p.threshold + mu * mu / 2.0) / mu);
            let fnr = normal_cdf((p.threshold - mu * mu / 2.0) / mu);
            assert!((p.fpr / fpr - 1.0).abs() < 0.15, "{p:?} {fpr:e}");
            assert!((p.fnr / fnr - 1.0).abs() < 0.15, "{p:?} {fnr:e}");
        }
    }

    #[test]
    fn ratios_of_small_rates_are_predicted() {
        // Scores at random, not on a grid: the mixture's weights then do not add up to 1.
        let mut state = 3_u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((state >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
        };
        let (mu, n) = (0.3, 20_000);
        let mut scores = |mean: f64| -> Vec<f64> {
            (0..n).map(|_| mean + mu * normal_quantile(uniform()).unwrap()).collect()
        };
        let pilot = TradeOff::from_scores(scores(mu * mu / 2.0), scores(-mu * mu / 2.0)).unwrap();
        let thresholds: Vec<f64> = (-11..=11).map(|t| f64::from(t) * 0.09).collect();
        let near = |seen: f64, truth: f64| (ln(seen) - ln(truth)).abs() < 0.1;
        for p in PredictedErrors::from_likelihood_ratios(&pilot, &thresholds) {
            let up = (p.threshold + mu * mu / 2.0) / mu;
            let down = (p.threshold - mu * mu / 2.0) / mu;
            let remove = normal_cdf(-down) / normal_cdf(-up);
            let add = normal_cdf(up) / normal_cdf(down);
            assert!(near((1.0 - p.fnr) / p.fpr, remove), "{p:?} {remove}");
            assert!(near((1.0 - p.fpr) / p.fnr, add), "{p:?} {add}");
        }
    }

    #[test]
    fn chosen_thresholds_surround_the_best_one() {
        let mu = 2.0;
        let pilot = gaussian_pair(mu, 4000);
        let thresholds: Vec<f64> = (-1000..=1000).map(|t| f64::from(t) * 0.01).collect();
        let predicted = PredictedErrors::from_likelihood_ratios(&pilot, &thresholds);
        let trials = Trials { target: 1_000_000, zero_out: 1_000_000 };
        let cuts = choose_cuts(&predicted, trials, 1e-5, 0.05, 16).unwrap();
        assert!(cuts.len() <= 16 && cuts.is_sorted());
        let tail = 0.05 / 32.0;
        let value = |t: f64| {
            let count = |z: f64| (normal_cdf(z) * 1e6).round() as u64;
            let fpr = clopper_pearson_upper(count(-(t + 2.0) / mu), 1_000_000, tail).unwrap();
            let fnr = clopper_pearson_upper(count((t - 2.0) / mu), 1_000_000, tail).unwrap();
            epsilon_from_rates(fpr, fnr, 1e-5).epsilon
        };
        let best = |ts: &[f64]| ts.iter().map(|&t| value(t)).fold(0.0, f64::max);
        assert!(best(&cuts) > 0.99 * best(&thresholds), "{cuts:?}");
    }

    #[test]
    fn rare_events_are_found_without_false_positives_in_the_pilot() {
        // D = 0.98 N(0, 1) + 0.02 N(4, 1): the best cut has a true positive rate of 1 %.
        let quantiles = |mean: f64, n: usize| -> Vec<f64> {
            let at = |i: usize| mean + normal_quantile((i as f64 + 0.5) / n as f64).unwrap();
            (0..n).map(at).collect()
        };
        let d = [quantiles(0.0, 588), quantiles(4.0, 12)].concat();
        let pilot = TradeOff::from_scores(d, quantiles(0.0, 600)).unwrap();
        let trials = Trials { target: 10_000, zero_out: 10_000 };
        let predicted = PredictedErrors::from_counts(&pilot);
        let cuts = choose_cuts(&predicted, trials, 1e-5, 0.05, 16).unwrap();
        let value = |t: f64| {
            let upper = |rate: f64| {
                clopper_pearson_upper((rate * 1e4).round() as u64, 10_000, 0.05 / 32.0).unwrap()
            };
            let fnr = 0.98 * normal_cdf(t) + 0.02 * normal_cdf(t - 4.0);
            epsilon_from_rates(upper(normal_cdf(-t)), upper(fnr), 1e-5).epsilon
        };
        let best = |ts: &[f64]| ts.iter().map(|&t| value(t)).fold(0.0, f64::max);
        let everywhere: Vec<f64> = (0..600).map(|t| f64::from(t) * 0.01).collect();
        assert!(best(&cuts) > 0.95 * best(&everywhere), "{cuts:?}");
    }

    #[test]
    fn no_candidates_is_an_error() {
        let trials = Trials { target: 10, zero_out: 10 };
        assert_eq!(choose_cuts(&[], trials, 0.0, 0.05, 16), Err(BoundError::NoCuts));
    }
}

//! Stable forms of the log-likelihood ratio of one epoch or one step.

use crate::math;

/// Score of an epoch in which the target is in exactly one slot.
///
/// With x_t = o_t − `mean_target`, g = `gap`, s = `variance`, m = max x and p = softmax of
/// ln w_t + (g − 1)·x_t/s:
///
/// score = (m + ½)/s + ln(1 + Σ p_t·expm1((x_t − m)/s))
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `gap` | a − b | ≥ 1 |
/// | `variance` | σ² | > 0 |
/// | `weights` | distribution of the slot; uniform if `None` | one per output, each > 0 |
/// | `outputs` | the outputs of an epoch | finite, not empty |
/// | `mean_target` | a, the mean of the target's batch in D | finite |
///
/// # Numerics
/// No exponent is positive, so nothing overflows, and the largest output bounds both sums away from
/// zero. Near 0 (large σ) log1p of a sum of expm1 limits the error to a few units in the last place
/// of (|m| + ½)/s. One exponential per entry for g = 1 and g = 2.
pub(super) fn one_slot(
    gap: f64,
    variance: f64,
    weights: Option<&[f64]>,
    outputs: &[f64],
    mean_target: f64,
) -> f64 {
    let top = outputs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let tilt = gap - 1.0;
    let mut sums = TiltedSums::default();
    for (index, &output) in outputs.iter().enumerate() {
        let weight = weights.map_or(1.0, |all| all.get(index).copied().unwrap_or(0.0));
        let exponent = (output - top) / variance;
        let (ratio, change) = exp_and_change(exponent);
        let tilted = if tilt == 0.0 {
            weight
        } else if tilt - 1.0 == 0.0 {
            weight * ratio
        } else {
            weight * math::exp(tilt * exponent)
        };
        sums.total += tilted;
        sums.ratio += tilted * ratio;
        sums.change += tilted * change;
    }
    (top - mean_target + 0.5) / variance + sums.ln_mean_ratio()
}

/// Σ v, Σ v·y and Σ v·(y − 1), for weights v and likelihood ratios y.
#[derive(Debug, Default)]
struct TiltedSums {
    total: f64,
    ratio: f64,
    change: f64,
}

impl TiltedSums {
    /// ln(Σ v·y / Σ v), from the sum that does not cancel.
    fn ln_mean_ratio(&self) -> f64 {
        let change = self.change / self.total;
        if change > -0.5 { math::ln_1p(change) } else { math::ln(self.ratio / self.total) }
    }
}

/// eᶻ and eᶻ − 1 for z ≤ 0, both to full relative precision.
fn exp_and_change(z: f64) -> (f64, f64) {
    if z > -0.5 {
        let change = math::exp_m1(z);
        (1.0 + change, change)
    } else {
        let ratio = math::exp(z);
        (ratio, ratio - 1.0)
    }
}

/// Score of a step that contains the target with probability q: ln(1 − q + q·eᶻ).
///
/// # Numerics
/// log1p(q·expm1(z)) while q·expm1(z) > −½ and eᶻ is small; z + ln(q + (1 − q)·e^{−z}) for z > 30,
/// which never overflows.
pub(crate) fn poisson_step(sampling_rate: f64, exponent: f64) -> f64 {
    let without = 1.0 - sampling_rate;
    if without == 0.0 {
        return exponent;
    }
    if exponent > 30.0 {
        return exponent + math::ln(sampling_rate + without * math::exp(-exponent));
    }
    let change = sampling_rate * math::exp_m1(exponent);
    if change > -0.5 {
        math::ln_1p(change)
    } else {
        math::ln(without + sampling_rate * math::exp(exponent))
    }
}

/// Score of a step with batches of fixed size, whose output is `centred` + 2 above that of a batch
/// without the target: N(2, σ²) against N(1, σ²) with probability q, N(0, σ²) in both otherwise.
pub(super) fn fixed_size_step(sampling_rate: f64, variance: f64, centred: f64) -> f64 {
    let with_target = 2.0 * (centred + 1.0) / variance;
    let with_zero = (centred + 1.5) / variance;
    if sampling_rate == 1.0 {
        return (centred + 0.5) / variance;
    }
    poisson_step(sampling_rate, with_target) - poisson_step(sampling_rate, with_zero)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_entry_is_the_gaussian_log_ratio() {
        // N(2, σ²) against N(1, σ²) at o = 3, and at any gap: (2o − 3)/(2σ²).
        for gap in [1.0, 2.0, 7.0, 2e4] {
            assert_eq!(one_slot(gap, 4.0, None, &[3.0], 2.0), 0.375);
        }
    }

    #[test]
    fn two_entries_by_hand() {
        // gap 1, x = (ln 3, 0), s = 1: ½ + ln((3 + 1)/2).
        let score = one_slot(1.0, 1.0, None, &[math::ln(3.0), 0.0], 0.0);
        assert!((score - (0.5 + math::ln(2.0))).abs() < 1e-15);
        // gap 2: ½ + ln((9 + 1)/(3 + 1)).
        let score = one_slot(2.0, 1.0, None, &[math::ln(3.0), 0.0], 0.0);
        assert!((score - (0.5 + math::ln(2.5))).abs() < 1e-15);
        // weights ¾ and ¼, gap 1: ½ + ln(¾·3 + ¼).
        let score = one_slot(1.0, 1.0, Some(&[0.75, 0.25]), &[math::ln(3.0), 0.0], 0.0);
        assert!((score - (0.5 + math::ln(2.5))).abs() < 1e-15);
    }

    #[test]
    fn extreme_outputs_stay_finite() {
        for gap in [1.0, 2.0, 2e4] {
            for outputs in [[1e6, -1e6], [-1e6, -1e6], [0.0, -1e300]] {
                let score = one_slot(gap, 4e-5, None, &outputs, 0.0);
                assert!(score.is_finite(), "{score} at gap {gap}");
            }
        }
    }

    #[test]
    fn far_entries_with_tiny_weights_are_accurate() {
        // ½ + ln(w·1 + (1 − w)·e^{−40}), w = 10⁻¹².
        let score = one_slot(1.0, 1.0, Some(&[1e-12, 1.0]), &[0.0, -40.0], 0.0);
        let expected = 0.5 + math::ln((1e-12 + math::exp(-40.0)) / (1.0 + 1e-12));
        assert!((score - expected).abs() < 1e-13, "{score} for {expected}");
    }

    #[test]
    fn poisson_step_at_its_ends() {
        assert_eq!(poisson_step(1.0, -800.0), -800.0);
        assert_eq!(poisson_step(0.01, 0.0), 0.0);
        assert!((poisson_step(0.01, 1e4) - (1e4 + math::ln(0.01))).abs() < 1e-11);
        assert!((poisson_step(0.25, -1e4) - math::ln(0.75)).abs() < 1e-15);
        assert!((poisson_step(1.0 - 1e-9, -1e4) - math::ln(1e-9)).abs() < 1e-6);
        assert!((poisson_step(1e-5, 1e-8) / 1e-13 - 1.0).abs() < 1e-7);
    }

    #[test]
    fn poisson_forms_meet() {
        for q in [1e-5, 0.3, 0.999] {
            let (below, above) = (poisson_step(q, 30.0), poisson_step(q, 30.0 + 4e-15));
            assert!((above - below).abs() < 2e-14, "{below} {above}");
        }
    }
}

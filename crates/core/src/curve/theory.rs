//! Curves of a claim, an accountant or a known attack.

use super::tangents::{ProfilePoint, curve_below};
use super::{TradeOffCurve, TradeOffPoint};
use crate::accounting::shuffle::maximum::Maximum;
use crate::accounting::{
    AccountingError, Given, PrivacyLossDistribution, Rounding, Training, deterministic, poisson,
};
use crate::math::exp;
use crate::special::normal::quantile_from_ln;

/// Approximate number of pieces: each profile is evaluated at that many ε.
const PIECES: u32 = 256;

/// Smallest rates of a curve, about.
const LEAST_RATE: f64 = 1e-12;

/// Largest ε that is evaluated: e^ε is still finite.
const STEEPEST: f64 = 700.0;

/// The least fnr that (ε, δ)-indistinguishable worlds allow.
///
/// fnr ≥ max(0, 1 − δ − e^ε fpr, e^{−ε}(1 − δ − fpr))
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `epsilon` | ε, nats | [0, ∞) |
/// | `delta` | δ | [0, 1) |
///
/// # Guarantee
/// Exact, and equal to itself with the worlds exchanged (`unit::a_claim_has_three_lines`).
///
/// # Errors
/// [`AccountingError::Argument`] outside the domain.
///
/// # Reference
/// L. Wasserman and S. Zhou (2010); P. Kairouz, S. Oh and P. Viswanath (2015) for the region.
pub fn claim_curve(epsilon: f64, delta: f64) -> Result<TradeOffCurve, AccountingError> {
    let refused = |name, value, allowed: &'static str| {
        Err(AccountingError::Argument { name, value, allowed: allowed.into() })
    };
    if !(0.0..f64::INFINITY).contains(&epsilon) {
        return refused("epsilon", epsilon, "0 or more, and finite");
    }
    if !(0.0..1.0).contains(&delta) {
        return refused("delta", delta, "0 or more, and below 1");
    }
    let line = [ProfilePoint { epsilon: epsilon.min(STEEPEST), delta }];
    Ok(curve_below(&line, &line, 0.0))
}

/// The curve of deterministic batches, a lower bound for every shuffle.
///
/// fnr = Φ(Φ⁻¹(1 − fpr) − μ), μ = √E/σ
///
/// # Guarantee
/// Nowhere above the truth, and at most 1e-3 below it for μ ≤ 7: the curve is made of tangents
/// (`unit::the_gaussian_curve_is_just_below_the_formula`).
///
/// # Errors
/// [`AccountingError::Argument`] outside the domain of σ and E.
///
/// # Reference
/// J. Dong, A. Roth and W. Su (2022), definition 2.6.
pub fn deterministic_curve(training: &Training) -> Result<TradeOffCurve, AccountingError> {
    let end = deterministic::upper(training, Given::Delta(LEAST_RATE))?.epsilon;
    let profile = epsilons_from(end)
        .map(|epsilon| {
            let delta = deterministic::upper(training, Given::Epsilon(epsilon))?.delta;
            Ok(ProfilePoint { epsilon, delta })
        })
        .collect::<Result<Vec<_>, AccountingError>>()?;
    Ok(curve_below(&profile, &profile, 1e-12))
}

/// The curve of Poisson sampled batches with the target's world as P; the other direction is
/// [`TradeOffCurve::exchanged`].
///
/// # Guarantee
/// Nowhere above the truth, and at most its numeric error and 1e-3 below it: tangents of the
/// distribution that is rounded pessimistically (`unit::one_poisson_step_is_just_above_its_curve`).
///
/// # Errors
/// [`AccountingError`] outside the domain of the fields, or where the distribution would need too
/// much memory.
///
/// # Numerics
/// The numeric error is the largest distance between the profiles rounded up and down.
///
/// # Reference
/// J. Dong, A. Roth and W. Su (2022), proposition 2.12, for the curve as the dual of δ(ε).
pub fn poisson_curve(training: &Training) -> Result<TradeOffCurve, AccountingError> {
    let losses = |rounding| poisson::loss_distributions(training, 1e-9, 5e-6, rounding);
    let above = losses(Rounding::Pessimistic)?;
    let below = losses(Rounding::Optimistic)?;
    let mut numeric_error = 0.0_f64;
    let mut profile = |index: usize| -> Result<Vec<ProfilePoint>, AccountingError> {
        let end = reach(&above[index])?;
        let [deltas, low] =
            [&above, &below].map(|losses| losses[index].deltas_at(epsilons_from(end)));
        for (delta, low) in deltas.iter().zip(low) {
            numeric_error = numeric_error.max(delta - low);
        }
        let points = epsilons_from(end).zip(deltas);
        Ok(points.map(|(epsilon, delta)| ProfilePoint { epsilon, delta }).collect())
    };
    let (remove, add) = (profile(0)?, profile(1)?);
    Ok(curve_below(&remove, &add, numeric_error))
}

/// ε at the smallest δ that the distribution resolves.
fn reach(losses: &PrivacyLossDistribution) -> Result<f64, AccountingError> {
    for delta in [LEAST_RATE, 1e-10, 1e-8, 1e-6, 1e-3] {
        let end = losses.epsilon_at(delta)?;
        if end.is_finite() {
            return Ok(end);
        }
    }
    Ok(STEEPEST)
}

/// `end` to 0 in falling steps: the smaller ε, the more of the curve bends there.
fn epsilons_from(end: f64) -> impl Iterator<Item = f64> {
    let end = end.min(STEEPEST);
    let share = |i: u32| f64::from(i) / f64::from(PIECES);
    (0..=PIECES).rev().map(move |i| end * share(i) * share(i))
}

/// Rates of the attack on one shuffled epoch that decides for the target if an output exceeds C.
///
/// fpr = 1 − F₁(C), fnr = F₂(C), F_m(C) = Φ((C − m)/σ) Φ(C/σ)^{T−1}
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `training` | σ, T; E is 1 | as for [`Shuffle`](crate::accounting::Shuffle) |
///
/// # Guarantee
/// The attack has these rates, so the mechanism leaks at least as much
/// (`tests/agreement/curves.rs::the_closed_form_attack_has_the_rates_that_are_counted`).
///
/// # Errors
/// [`AccountingError::Argument`] outside the domain, and for more than one epoch.
///
/// # Numerics
/// Relative error of both rates about 1e-12.
///
/// # Reference
/// L. Chua et al. (ICML 2024), the sets of theorem 4.2.
pub fn max_slice_curve(training: &Training) -> Result<TradeOffCurve, AccountingError> {
    training.check_shuffle()?;
    if training.epochs != 1 {
        return Err(AccountingError::Argument {
            name: "epochs",
            value: training.epochs as f64,
            allowed: "1: the attack's rates have no closed form in more".into(),
        });
    }
    let largest = Maximum::new(*training);
    let s = training.noise_multiplier;
    let tail = |ln_rate: f64| -s * quantile_from_ln(ln_rate);
    let ln_least = crate::math::ln(LEAST_RATE);
    let others = crate::math::ln(training.steps_per_epoch as f64);
    let highest = (1.0 + tail(ln_least)).max(tail(ln_least - others));
    let mut low = 1.0 - tail(ln_least);
    let mut high = highest;
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if largest.ln_below(middle, 1.0) < ln_least { low = middle } else { high = middle }
    }
    let mut points = vec![TradeOffPoint { fpr: 0.0, fnr: 1.0 }];
    for i in 0..=PIECES {
        let cut = highest + (low - highest) * f64::from(i) / f64::from(PIECES);
        let fpr = exp(largest.ln_above(cut, 1.0).value).min(1.0);
        points.push(TradeOffPoint { fpr, fnr: exp(largest.ln_below(cut, 2.0)).min(1.0) });
    }
    points.push(TradeOffPoint { fpr: 1.0, fnr: 0.0 });
    Ok(TradeOffCurve { points, numeric_error: 1e-12 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::{normal_cdf, normal_survival};

    fn run(noise_multiplier: f64, steps_per_epoch: u64, epochs: u64) -> Training {
        Training { noise_multiplier, steps_per_epoch, epochs, sampling_rate: None }
    }

    fn is_monotone(curve: &TradeOffCurve) -> bool {
        let points = curve.points();
        let ends = (points[0].fpr, points[points.len() - 1]);
        ends == (0.0, TradeOffPoint { fpr: 1.0, fnr: 0.0 })
            && points.is_sorted_by(|a, b| a.fpr <= b.fpr && a.fnr >= b.fnr)
    }

    #[test]
    fn a_claim_has_three_lines() {
        let (epsilon, delta) = (1.5, 1e-3);
        let curve = claim_curve(epsilon, delta).unwrap();
        assert!(is_monotone(&curve));
        let corner = (1.0 - delta) / (1.0 + exp(epsilon));
        let expected = [(0.0, 1.0 - delta), (corner, corner), (1.0 - delta, 0.0), (1.0, 0.0)];
        for (point, (fpr, fnr)) in curve.points().iter().zip(expected) {
            assert!(
                (point.fpr - fpr).abs() < 1e-15 && (point.fnr - fnr).abs() < 1e-15,
                "{point:?}"
            );
        }
        assert_eq!(curve.points().len(), 4);
        let exchanged = curve.exchanged();
        for fpr in [0.0, 0.01, 0.3, 0.9] {
            assert!((curve.fnr_at(fpr) - exchanged.fnr_at(fpr)).abs() < 1e-15 || fpr == 0.0);
        }
        assert!((curve.delta_at(epsilon) - delta).abs() < 1e-15);
        let huge = claim_curve(1e6, 1e-5).unwrap();
        assert!(huge.fnr_at(1e-9) < 1e-9);
        for (epsilon, delta) in [(-1.0, 0.1), (f64::NAN, 0.1), (1.0, 1.0), (1.0, f64::NAN)] {
            assert!(claim_curve(epsilon, delta).is_err());
        }
    }

    /// Largest distance of a curve below the exact one, which it must not exceed.
    fn distance_below(curve: &TradeOffCurve, truth: impl Fn(f64) -> (f64, f64)) -> f64 {
        let mut most = 0.0_f64;
        for i in -900..=900 {
            let (fpr, fnr) = truth(f64::from(i) * 0.01);
            let below = fnr - curve.fnr_at(fpr);
            assert!(below > -1e-13, "{fpr:e} {fnr}: {below:e}");
            most = most.max(below);
        }
        most
    }

    #[test]
    fn the_gaussian_curve_is_just_below_the_formula() {
        for (noise_multiplier, epochs) in [(1.0, 1), (5.0, 1), (0.5, 10), (0.2, 1), (20.0, 1)] {
            let training = run(noise_multiplier, 1, epochs);
            let gdp_mu = deterministic::gdp_mu(&training).unwrap();
            let curve = deterministic_curve(&training).unwrap();
            assert!(is_monotone(&curve) && curve.points().len() < 600);
            let formula = |t: f64| (normal_survival(t), normal_cdf(t - gdp_mu));
            let distance = distance_below(&curve, formula);
            assert!(distance < 1e-3, "{gdp_mu}: {distance:e}");
            let weaker = |t: f64| (normal_survival(t), normal_cdf(t - gdp_mu * 1.02));
            let seen = (-300..300).any(|i| {
                let (fpr, fnr) = weaker(f64::from(i) * 0.01);
                fnr < curve.fnr_at(fpr)
            });
            assert!(seen, "{gdp_mu}: a curve above the truth passes");
        }
        let curve = deterministic_curve(&run(0.01, 1, 1000)).unwrap();
        assert!(is_monotone(&curve) && curve.fnr_at(1e-6) < 1e-9);
    }

    #[test]
    fn one_poisson_step_is_just_above_its_curve() {
        for (noise_multiplier, sampling_rate) in [(1.0, 0.01), (0.5, 0.2), (2.0, 1.0), (0.4, 0.5)] {
            let training =
                Training { sampling_rate: Some(sampling_rate), ..run(noise_multiplier, 1, 1) };
            let curve = poisson_curve(&training).unwrap();
            assert!(is_monotone(&curve));
            let (s, q) = (noise_multiplier, sampling_rate);
            let truth = |t: f64| {
                let with = normal_cdf(t - 1.0 / s);
                (normal_survival(t), (1.0 - q) * normal_cdf(t) + q * with)
            };
            let distance = distance_below(&curve, truth);
            let stated = curve.numeric_error() + 1e-3;
            assert!(distance <= stated, "{s} {q}: {distance:e} {stated:e}");
            assert!(curve.numeric_error() < 2e-3, "{s} {q}: {:e}", curve.numeric_error());
            // The other direction is another curve, except for q = 1.
            let exchanged = curve.exchanged();
            let apart = curve.points().iter().map(|p| (exchanged.fnr_at(p.fpr) - p.fnr).abs());
            let apart = apart.fold(0.0, f64::max);
            assert_eq!(q == 1.0, apart < 1e-3, "{s} {q}: {apart:e}");
        }
    }

    #[test]
    fn the_closed_form_attack_is_above_every_proven_curve() {
        for (noise_multiplier, steps_per_epoch) in [(0.5, 100), (1.0, 1), (1.0, 100), (5.0, 100)] {
            let training = run(noise_multiplier, steps_per_epoch, 1);
            let attack = max_slice_curve(&training).unwrap();
            assert!(is_monotone(&attack));
            let proven = deterministic_curve(&training).unwrap();
            for point in attack.points() {
                assert!(point.fnr - proven.fnr_at(point.fpr) > -1e-12, "{training:?} {point:?}");
            }
        }
        assert!(max_slice_curve(&run(1.0, 9, 2)).is_err());
    }
}

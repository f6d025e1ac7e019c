//! How many canaries a plan needs.

use super::band::crossing_probability;
use super::{
    AnyMechanism, CanaryDesign, OneShotError, SimultaneousRule, check_delta, check_significance,
};
use crate::math;
use crate::special::normal;

/// A leak whose canaries have independent normal scores N(μ, 1), for planning.
///
/// One Gaussian sum of dimension d with noise multiplier σ has μ ≈ 1/√(σ² + (k − 1 + ‖X‖²)/d), X the
/// sum of all other updates in units of the clipping norm: other clients and canaries only hide.
///
/// # Example
/// ```
/// use dpscope_core::audit::one_shot::GaussianLeak;
/// let leak = GaussianLeak::new(1.0)?;
/// assert_eq!(leak.canaries_to_refute(0.8, 0.05, 0.8)?, 155);
/// # Ok::<(), dpscope_core::audit::one_shot::OneShotError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GaussianLeak {
    mu: f64,
}

impl GaussianLeak {
    /// Scores N(μ, 1).
    ///
    /// # Errors
    /// [`OneShotError::Mu`] outside [0, 100].
    pub fn new(mu: f64) -> Result<Self, OneShotError> {
        check_mu(mu)?;
        Ok(Self { mu })
    }

    /// Canaries with which [`super::Gdp::mu_lower`] exceeds `refuted_mu` with probability `power`:
    /// ⌈((Φ⁻¹(1 − α) + Φ⁻¹(power))/(μ − μ₀))²⌉.
    ///
    /// # Errors
    /// [`OneShotError::Mu`] unless 0 ≤ μ₀ < μ, [`OneShotError::Significance`], [`OneShotError::Power`].
    pub fn canaries_to_refute(
        &self,
        refuted_mu: f64,
        significance: f64,
        power: f64,
    ) -> Result<u64, OneShotError> {
        check_mu(refuted_mu)?;
        check_significance(significance)?;
        check_power(power)?;
        if refuted_mu >= self.mu {
            return Err(OneShotError::Mu { mu: refuted_mu });
        }
        let distance = normal::quantile(power) - normal::quantile(significance);
        let root = distance.max(0.0) / (self.mu - refuted_mu);
        Ok((root * root).ceil().max(1.0) as u64)
    }

    /// The probability that [`AnyMechanism::epsilon_lower`] with a Poisson number of mean k̄ is at least
    /// `epsilon`.
    ///
    /// # Guarantee
    /// `tests/coverage/planning.rs::medians_are_those_of_simulated_canaries`.
    ///
    /// # Errors
    /// [`OneShotError::Canaries`], [`OneShotError::Epsilon`], [`OneShotError::Delta`],
    /// [`OneShotError::Significance`].
    pub fn power(
        &self,
        mean: f64,
        epsilon: f64,
        delta: f64,
        significance: f64,
    ) -> Result<f64, OneShotError> {
        check_epsilon(epsilon)?;
        let canaries = AnyMechanism::new(CanaryDesign::Poisson { mean })?;
        Ok(self.power_of(&canaries.simultaneous_rule(delta, significance)?, mean, epsilon))
    }

    /// The largest ε that about `mean` canaries show by a rule with probability `power` at least, to
    /// 10⁻⁴; 0 if none is. Each score is the largest over `server_rounds` rounds.
    ///
    /// # Errors
    /// [`OneShotError::Power`].
    pub fn epsilon_shown(
        &self,
        rule: &SimultaneousRule,
        mean: f64,
        power: f64,
        server_rounds: u64,
    ) -> Result<f64, OneShotError> {
        check_power(power)?;
        let ln_rounds = math::ln(server_rounds.max(1) as f64);
        let power_of = |epsilon: f64| self.power_with(rule, mean, epsilon, |ln_p| ln_p - ln_rounds);
        let (mut low, mut high) = (0.0, 1.0);
        while power_of(high) >= power && high < 1e6 {
            (low, high) = (high, 2.0 * high);
        }
        while high - low > 1e-4 {
            let middle = 0.5 * (low + high);
            if power_of(middle) >= power {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    /// As [`GaussianLeak::power`], for a rule and about `mean` canaries.
    pub(super) fn power_of(&self, rule: &SimultaneousRule, mean: f64, epsilon: f64) -> f64 {
        self.power_with(rule, mean, epsilon, |ln_p| ln_p)
    }

    /// As [`Self::power_of`] if p-values are only limits: a score needs the tail `ln_tail` for one.
    pub(super) fn power_with(
        &self,
        rule: &SimultaneousRule,
        mean: f64,
        epsilon: f64,
        ln_tail: impl Fn(f64) -> f64,
    ) -> f64 {
        // the j-th p-value is small enough if j canaries are; numbers of canaries up to one limit after
        // another are a Poisson process, whose j-th arrival is then early enough
        let (mut ranks, mut times) = (Vec::new(), Vec::new());
        for (rank, ln_p) in rule.ln_p_needed(epsilon) {
            let tpr = if ln_p < 0.0 {
                let ln_tail = ln_tail(ln_p);
                if ln_tail == f64::NEG_INFINITY {
                    continue;
                }
                normal::normal_cdf(self.mu + normal::quantile_from_ln(ln_tail))
            } else {
                1.0
            };
            // a later rank with no more time is never the first
            if mean * tpr > times.last().copied().unwrap_or(0.0) {
                ranks.push(rank);
                times.push(mean * tpr);
            }
        }
        if ranks.is_empty() { 0.0 } else { crossing_probability(&ranks, &times, None) }
    }

    /// The least k̄, to 1 %, with which ε ≥ `epsilon` is shown with probability `power`; `None` if none up
    /// to 10⁷ suffices or δ is too large.
    ///
    /// # Errors
    /// As [`GaussianLeak::power`], and [`OneShotError::Power`].
    pub fn canaries_to_show(
        &self,
        epsilon: f64,
        delta: f64,
        significance: f64,
        power: f64,
    ) -> Result<Option<u64>, OneShotError> {
        check_power(power)?;
        let suffices = |mean: u64| -> Result<bool, OneShotError> {
            Ok(self.power(mean as f64, epsilon, delta, significance)? >= power)
        };
        let (mut low, mut high) = (0, 8);
        while !suffices(high)? {
            (low, high) = (high, 2 * high);
            if high > 10_000_000 {
                return Ok(None);
            }
        }
        while high - low > (low / 100).max(1) {
            let middle = low + (high - low) / 2;
            if suffices(middle)? {
                high = middle;
            } else {
                low = middle;
            }
        }
        Ok(Some(high))
    }
}

/// The largest mean number of canaries for which δ costs no canary: k̄δ = α/5; above, bounds fall fast.
///
/// # Errors
/// [`OneShotError::Delta`], [`OneShotError::Significance`].
pub fn most_canaries(delta: f64, significance: f64) -> Result<f64, OneShotError> {
    check_delta(delta)?;
    check_significance(significance)?;
    Ok(significance / (5.0 * delta))
}

fn check_mu(mu: f64) -> Result<(), OneShotError> {
    if (0.0..=100.0).contains(&mu) { Ok(()) } else { Err(OneShotError::Mu { mu }) }
}

fn check_epsilon(epsilon: f64) -> Result<(), OneShotError> {
    if (0.0..f64::INFINITY).contains(&epsilon) {
        Ok(())
    } else {
        Err(OneShotError::Epsilon { epsilon })
    }
}

fn check_power(power: f64) -> Result<(), OneShotError> {
    if power > 0.0 && power < 1.0 { Ok(()) } else { Err(OneShotError::Power { power }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_canaries_and_larger_leaks_have_more_power() {
        let power = |mu: f64, mean: f64| {
            GaussianLeak::new(mu).unwrap().power(mean, 2.0, 1e-6, 0.05).unwrap()
        };
        assert!(power(2.0, 100.0) < power(2.0, 1_000.0));
        assert!(power(1.0, 1_000.0) < power(2.0, 1_000.0));
        assert!(power(0.0, 1_000.0) < 0.05 && power(6.0, 1_000.0) > 0.999);
    }

    #[test]
    fn the_least_number_suffices_and_no_other_bound_is_needed() {
        let leak = GaussianLeak::new(1.5).unwrap();
        let least = leak.canaries_to_show(2.0, 1e-6, 0.05, 0.8).unwrap().unwrap();
        assert!(leak.power(least as f64, 2.0, 1e-6, 0.05).unwrap() >= 0.8);
        assert!(leak.power(0.9 * least as f64, 2.0, 1e-6, 0.05).unwrap() < 0.8);
        assert_eq!(leak.canaries_to_show(2.0, 0.1, 0.05, 0.8).unwrap(), None);
        assert_eq!(
            GaussianLeak::new(0.0).unwrap().canaries_to_show(2.0, 1e-6, 0.05, 0.8),
            Ok(None)
        );
    }

    #[test]
    fn the_shown_epsilon_has_its_power() {
        let leak = GaussianLeak::new(2.0).unwrap();
        let any = AnyMechanism::new(CanaryDesign::Poisson { mean: 200.0 }).unwrap();
        let rule = any.simultaneous_rule(1e-6, 0.05).unwrap();
        let shown = leak.epsilon_shown(&rule, 200.0, 0.5, 1).unwrap();
        assert!(shown > 1.0, "{shown}");
        assert!((leak.power(200.0, shown, 1e-6, 0.05).unwrap() - 0.5).abs() < 1e-3);
        let nothing = GaussianLeak::new(0.0).unwrap();
        let of_maxima = leak.epsilon_shown(&rule, 200.0, 0.5, 100).unwrap();
        assert!(of_maxima > 0.0 && of_maxima < shown - 3.0, "{of_maxima} {shown}");
        assert_eq!(nothing.epsilon_shown(&rule, 200.0, 0.5, 1), Ok(0.0));
        assert!(leak.epsilon_shown(&rule, 200.0, 1.0, 1).is_err());
    }

    #[test]
    fn delta_limits_the_number() {
        assert!((most_canaries(1e-5, 0.05).unwrap() / 1_000.0 - 1.0).abs() < 1e-12);
        assert_eq!(most_canaries(0.0, 0.05).unwrap(), f64::INFINITY);
    }

    #[test]
    fn bad_arguments_are_refused() {
        let leak = GaussianLeak::new(1.0).unwrap();
        for bad in [-0.1, f64::NAN, f64::INFINITY] {
            assert!(GaussianLeak::new(bad).is_err());
            assert!(leak.canaries_to_refute(bad, 0.05, 0.8).is_err());
            assert!(leak.canaries_to_refute(0.5, 0.05, bad).is_err());
            assert!(leak.canaries_to_show(bad, 0.0, 0.05, 0.8).is_err());
            assert!(leak.canaries_to_show(1.0, 0.0, 0.05, bad).is_err());
        }
        assert!(leak.canaries_to_refute(1.0, 0.05, 0.8).is_err());
        assert!(most_canaries(1.0, 0.05).is_err());
    }
}

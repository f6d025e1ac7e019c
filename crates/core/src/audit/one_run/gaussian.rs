//! Lower bounds on μ for trainings whose trade-off curve is Gaussian.

use super::tails::rounded_down;
use super::{Guesses, KnownSides, OneRunError, check_significance};
use crate::gdp;
use crate::math;
use crate::special::normal;

/// [`Guesses`] for a statement about mechanisms with a Gaussian trade-off curve.
///
/// A bound on μ holds for every training that is μ-GDP. An ε read off it assumes that the curve of
/// the training is Gaussian: it never refutes an (ε, δ) claim.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GaussianGuesses(Guesses);

/// Above this μ, δ is 1 in f64 at every ε of interest.
const LARGEST_MU: f64 = 100.0;

impl GaussianGuesses {
    /// The guesses, whose number was fixed before the coins were drawn.
    #[must_use]
    pub const fn new(guesses: Guesses) -> Self {
        Self(guesses)
    }

    /// Lower bound on μ: the larger of the two below, which reject at counts of one statistic.
    ///
    /// # Guarantee
    /// If training is μ-GDP, the bound exceeds μ with probability at most `significance`
    /// (`tests/coverage/one_run.rs::exact_sizes_do_not_exceed_the_significance`).
    ///
    /// # Errors
    /// [`OneRunError::Significance`].
    pub fn mu_lower(&self, significance: f64) -> Result<f64, OneRunError> {
        let recursion = match self.0.has_fair_coins() {
            true => self.mu_lower_by_recursion(significance)?,
            false => 0.0, // it is proven for fair coins alone
        };
        Ok(recursion.max(self.mu_lower_by_count(significance)?))
    }

    /// The bound of a recursion over the count.
    ///
    /// With g(y) = Φ(Φ⁻¹(y) − μ), P\[v or more correct\] = τ forces r_v = τv/m, h_v = τ(k − v)/m and,
    /// for i = v − 1 … 0, h_i = max(h_{i+1}, (s − 1) g(r_{i+1})),
    /// r_i = r_{i+1} + i/(k − i) (h_i − h_{i+1}); μ is rejected if r_0 + h_0 > k/m.
    ///
    /// # Errors
    /// [`OneRunError::Significance`].
    ///
    /// # Reference
    /// S. Mahloujifar, L. Melis and K. Chaudhuri (2025), arXiv:2410.22235, algorithm 3. Deviation:
    /// the maximum, which keeps probabilities from becoming negative.
    pub fn mu_lower_by_recursion(&self, significance: f64) -> Result<f64, OneRunError> {
        check_significance(significance)?;
        let is_rejected = |mu: f64| {
            let inverse = |y: f64| {
                if y <= 0.0 { 0.0 } else { normal::normal_cdf(normal::quantile(y) - mu) }
            };
            exceeds(&self.0, significance, inverse)
        };
        Ok(last_rejected(is_rejected))
    }

    /// The bound of the exact count test along the Gaussian curve: μ is rejected if some ε has
    /// p(ε, δ_μ(ε)) < `significance`.
    ///
    /// # Errors
    /// [`OneRunError::Significance`].
    pub fn mu_lower_by_count(&self, significance: f64) -> Result<f64, OneRunError> {
        check_significance(significance)?;
        Ok(last_rejected(|mu| self.is_rejected_by_count(mu, significance)))
    }

    /// Whether p(ε, δ_μ(ε)) < `significance` at an ε of a golden-section search; any ε is valid.
    fn is_rejected_by_count(&self, mu: f64, significance: f64) -> bool {
        const RATIO: f64 = 0.618_033_988_749_894_9;
        let p = |epsilon: f64| {
            let delta = gdp::gdp_delta(mu, epsilon).unwrap_or(1.0);
            if delta < 1.0 { self.0.p(epsilon, delta) } else { 1.0 }
        };
        let (mut low, mut high) = (0.0, mu * (0.5 * mu + 9.0) + 1e-3);
        let mut inner = [high - RATIO * (high - low), low + RATIO * (high - low)];
        let mut values = inner.map(p);
        let is_rejecting = |value: &f64| *value < significance;
        if values.iter().any(is_rejecting) || is_rejecting(&p(0.0)) {
            return true;
        }
        for _ in 0..40 {
            if values[0] <= values[1] {
                high = inner[1];
                inner = [high - RATIO * (high - low), inner[0]];
                values = [p(inner[0]), values[0]];
            } else {
                low = inner[0];
                inner = [inner[1], low + RATIO * (high - low)];
                values = [values[1], p(inner[1])];
            }
            if values.iter().any(is_rejecting) {
                return true;
            }
        }
        false
    }
}

impl Guesses {
    /// The recursion of [`GaussianGuesses::mu_lower_by_recursion`] with the curve of (ε, δ)-DP: a
    /// valid bound, equal to [`Guesses::epsilon_lower`] if all guesses are correct or coins are not
    /// fair, and never above it; for comparison with published figures.
    ///
    /// # Errors
    /// [`OneRunError::Delta`], [`OneRunError::Significance`].
    pub fn epsilon_lower_by_recursion(
        &self,
        delta: f64,
        significance: f64,
    ) -> Result<f64, OneRunError> {
        super::check_delta(delta)?;
        check_significance(significance)?;
        if !self.has_fair_coins() {
            return self.epsilon_lower(delta, significance);
        }
        if self.correct() == self.guesses() {
            return self.with_sides(KnownSides::Both).epsilon_lower(delta, significance);
        }
        let is_rejected = |epsilon: f64| {
            let (shrunk, grown) = (math::exp(-epsilon), math::exp(epsilon));
            let inverse =
                |y: f64| (shrunk * (y - delta)).max(1.0 - delta - grown * (1.0 - y)).max(0.0);
            exceeds(self, significance, inverse)
        };
        Ok(last_rejected(is_rejected))
    }
}

/// Whether `significance` is too large a probability of v or more correct guesses under the curve
/// with g(y) = `inverse`(y).
fn exceeds(guesses: &Guesses, significance: f64, inverse: impl Fn(f64) -> f64) -> bool {
    let canaries = guesses.game().canaries() as f64;
    let (k, v) = (guesses.guesses() as f64, guesses.correct() as f64);
    let others = f64::from(guesses.game().set_size() - 1);
    let (mut right, mut wrong) = (significance * v / canaries, significance * (k - v) / canaries);
    let all = k / canaries;
    let mut left = v;
    while left >= 1.0 {
        left -= 1.0;
        let next = wrong.max(others * inverse(right.min(1.0)));
        if next <= wrong {
            break; // nothing moves from here on
        }
        right += left / (k - left) * (next - wrong);
        wrong = next;
        if right + wrong > all {
            return true;
        }
    }
    right + wrong > all
}

/// The end of the rejected values from 0 on, by bisection, rounded down; 0 if 0 is not rejected.
fn last_rejected(is_rejected: impl Fn(f64) -> bool) -> f64 {
    if !is_rejected(0.0) {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    while is_rejected(high) {
        low = high;
        high *= 2.0;
        if high > LARGEST_MU {
            return low;
        }
    }
    while high - low > 1e-13 * (1.0 + high) {
        let middle = 0.5 * (low + high);
        if is_rejected(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    rounded_down(low)
}

//! An upper bound on what a run leaks: what it leaks if the steps that draw the target are known, too.

use super::answer::Basis;
use super::deterministic::delta_above;
use super::error::is_of_the_grid;
use super::proven::{Computed, Proven, tightest};
use super::{Accounted, AccountingError, AccountingResult, Given, Kind, Method, Query, Training};
use crate::adjacency::Scope;
use crate::math;
use crate::special::{BetaDistribution, Tail, UnitPoint};

/// A run that draws the target in each step with the same probability, independently.
///
/// Let K ~ Bin(n, q) be the number of steps that draw the target. The set of these steps has the same
/// distribution in both worlds, and H_α(P‖Q) is jointly convex, so it is at most its mean given the set.
/// Given the set, the other steps are the same in both worlds, and the K steps are adaptively composed
/// Gaussian mechanisms with μ each: δ(ε) ≤ E δ_{μ√K}(ε), in both directions.
///
/// This bound exceeds the exact value by about ln(1/q) nats per draw, little compared with μ²/2 if there
/// is little noise.
#[derive(Debug, Clone, Copy)]
pub(super) struct KnownDraws {
    /// Number of steps, n.
    pub(super) steps: u64,
    /// Probability that a step draws the target, q.
    pub(super) sampling_rate: f64,
    /// GDP parameter of a step that draws the target, μ, rounded up.
    pub(super) gdp_mu: f64,
}

/// Most groups of draw counts; each group counts as its largest member.
const MOST_GROUPS: u64 = 1_024;

/// Bound on the relative error of a binomial tail, see
/// [`Overflow`](crate::mechanism::truncation::Overflow).
const RELATIVE: f64 = 1e-9;

/// Bisection steps for ε.
const HALVINGS: u32 = 60;

/// Noise multiplier below which grids may be too large, or looser than this bound.
pub(super) const LITTLE_NOISE: f64 = 0.2;

impl KnownDraws {
    /// Steps with this probability to draw the target, which then moves the sum by up to `distance`.
    pub(super) fn new(training: &Training, sampling_rate: f64, distance: f64) -> Self {
        let gdp_mu = distance / training.noise_multiplier * (1.0 + 4.0 * f64::EPSILON);
        KnownDraws { steps: training.steps(), sampling_rate, gdp_mu }
    }

    /// The tighter of an answer and this upper value.
    pub(super) fn or_tighter(&self, query: &Query, found: AccountingResult) -> AccountingResult {
        let is_too_large = found.as_ref().is_err_and(is_of_the_grid);
        let is_little = query.training.noise_multiplier < LITTLE_NOISE && found.is_ok();
        if query.kind != Kind::Upper || !(is_too_large || is_little) {
            return found;
        }
        let known = self.upper(query.given).and_then(|value| {
            let (scope, directions) = (Scope::Mechanism, query.directions);
            let (method, numeric_error) = (Method::Analytic, RELATIVE * value);
            let basis = Basis { scope, directions, method, numeric_error };
            Accounted::new(Kind::Upper, query.given, value, basis).checked(query)
        });
        tightest(query, [found, known])
    }

    /// The tighter upper value, with a lower one: `noisier` if the grid is too large.
    pub(super) fn or_tighter_proven(
        &self,
        query: &Query,
        found: Result<Proven, AccountingError>,
        noisier: impl FnOnce() -> Computed,
    ) -> Result<Proven, AccountingError> {
        if !(query.training.noise_multiplier < LITTLE_NOISE) {
            return found;
        }
        let known = || {
            let value = self.upper(query.given)?;
            Ok(Computed { value, numeric_error: RELATIVE * value })
        };
        match found {
            Ok(found) => Ok(Proven { upper: found.upper.or_smaller(known()?), ..found }),
            Err(reason) if is_of_the_grid(&reason) => {
                Ok(Proven { lower: noisier(), upper: known()? })
            }
            Err(reason) => Err(reason),
        }
    }

    /// The upper value of ε or δ.
    pub(super) fn upper(&self, given: Given) -> Result<f64, AccountingError> {
        match given {
            Given::Epsilon(epsilon) => self.delta_at(&self.groups(1e-24), epsilon),
            Given::Delta(delta) => self.epsilon_at(delta),
        }
    }

    fn epsilon_at(&self, delta: f64) -> Result<f64, AccountingError> {
        let groups = self.groups(delta);
        let (mut low, mut high) = (0.0, 1.0);
        while self.delta_at(&groups, high)? > delta {
            (low, high) = (high, 2.0 * high);
            if !(high < 1e12) {
                return Err(AccountingError::Infinite { delta });
            }
        }
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            let is_above = self.delta_at(&groups, middle)? > delta;
            (low, high) = if is_above { (middle, high) } else { (low, middle) };
        }
        Ok(high)
    }

    /// δ(ε) ≤ Σ_i P(K > k_i)·(δ_{i + 1} − δ_i), where δ_i is that of k_i draws. Since the δ_i increase,
    /// they and the probabilities may be rounded up.
    fn delta_at(&self, groups: &[(u64, f64)], epsilon: f64) -> Result<f64, AccountingError> {
        let (mut delta, mut before, mut chance) = (0.0, 0.0, 1.0);
        for &(draws, above) in groups {
            let here = match draws {
                0 => 0.0,
                _ => delta_above(self.gdp_mu * (draws as f64).sqrt(), epsilon)?.0.max(before),
            };
            delta += chance * (here - before);
            (before, chance) = (here, above);
        }
        delta += chance * (1.0 - before);
        Ok((delta * (1.0 + 1e-12)).min(1.0))
    }

    /// Increasing numbers of draws k with P(K > k); the last probability is a small part of δ.
    fn groups(&self, delta: f64) -> Vec<(u64, f64)> {
        let above = |draws: u64| {
            if draws >= self.steps {
                return 0.0;
            }
            let tail =
                BetaDistribution::with_shapes(draws as f64 + 1.0, (self.steps - draws) as f64);
            let ln = tail.ln_tail(Tail::Lower, UnitPoint::from_value(self.sampling_rate));
            (math::exp(ln) * (1.0 + (1.0 - ln.max(-700.0)) * RELATIVE))
                .clamp(f64::MIN_POSITIVE, 1.0)
        };
        let mean = self.steps as f64 * self.sampling_rate;
        let spread = (mean * (1.0 - self.sampling_rate)).sqrt();
        let first = (mean - 6.0 * spread).max(0.0) as u64;
        let (mut low, mut high) = (first, (mean + 6.0 * spread) as u64 + 1);
        while above(high) > 1e-6 * delta {
            (low, high) = (high, high.saturating_mul(2).min(self.steps));
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            (low, high) = if above(middle) > 1e-6 * delta { (middle, high) } else { (low, middle) };
        }
        let width = ((high - first) / MOST_GROUPS).max(1) as usize;
        let draws = (first..high).step_by(width).chain([high]);
        draws.map(|draws| (draws, above(draws))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::ln_binomial_pmf;

    /// The mean E δ_{μ√K}(ε), term by term.
    fn mean(run: KnownDraws, epsilon: f64) -> f64 {
        let term = |draws: u64| {
            let chance = math::exp(ln_binomial_pmf(draws, run.steps, run.sampling_rate).unwrap());
            chance * crate::gdp::gdp_delta(run.gdp_mu * (draws as f64).sqrt(), epsilon).unwrap()
        };
        (1..=run.steps).map(term).sum()
    }

    #[test]
    fn values_are_means_over_the_number_of_draws() {
        for (steps, sampling_rate, gdp_mu) in [(1, 0.3, 2.0), (50, 0.1, 20.0), (4_000, 0.5, 8.0)] {
            let run = KnownDraws { steps, sampling_rate, gdp_mu };
            let epsilon = run.upper(Given::Delta(1e-5)).unwrap();
            let exact = mean(run, epsilon);
            assert!(exact <= 1e-5, "{run:?}: {exact}");
            let lower = mean(run, epsilon * (1.0 - 1e-3));
            assert!(lower > 1e-5, "{run:?}: {lower}");
            let delta = run.upper(Given::Epsilon(epsilon)).unwrap();
            assert!(delta >= exact && delta < 1.2e-5, "{run:?}: {delta}");
            // one step fewer is noticed
            let fewer = KnownDraws { steps: steps - 1, ..run };
            assert!(steps == 1 || fewer.upper(Given::Delta(1e-5)).unwrap() < epsilon);
        }
    }
}
